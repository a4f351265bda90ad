r"""How well small networks fit random signs: the Rademacher complexity in appendix A.1 of Allen-Zhu and Li 2019, exactly.

The class holds all f(x) = sum_r a_r relu(<w_r, x>) with a_r = +-1/sqrt(m), half of each sign, and |W|_F <= B. Let M_+ and
M_- be the largest values of +-(1/N) sum_i eps_i relu(<u, x_i>) over |u| <= 1, so at least 0. Rows where a is positive do
best along the maximiser of M_+, the others along that of M_-, and by Cauchy and Schwarz

    sup_f (1/N) sum_i eps_i f(x_i) = B sqrt((M_+^2 + M_-^2) / 2),

whatever m is. Its mean over the signs eps is the complexity. Both maxima are over d numbers only, and are found by ascent.
"""

import torch
from torch import Tensor

from hierlib.data.spheres import unit_sphere


def largest_fits(X: Tensor, signs: Tensor, seed: int, restarts: int = 12, steps: int = 60) -> tuple[Tensor, Tensor]:
    """M_+ and M_- for each row of signs (q, N), found by ascent from random directions: X (N, d) -> (q,), (q,).

    The functions are homogeneous and piecewise linear in u. A step goes to the direction of the gradient, mixed with the
    present one, less of it as time goes by; the best value that was seen counts.
    """
    weighted = signs.to(X) / len(X)
    both = torch.cat([weighted, -weighted])
    U = unit_sphere(restarts, X.shape[1], seed, "directions for signs").to(X).repeat(len(both), 1, 1)
    best = torch.zeros(len(both), dtype=X.dtype)
    for step in range(steps):
        active = (U @ X.mT > 0).to(X.dtype) * both[:, None]
        gradient = active @ X
        best = torch.maximum(best, (gradient * U).sum(-1).max(1).values)
        pace = 0.5 * (1 - step / steps)
        U = U + pace * gradient / gradient.norm(dim=-1, keepdim=True).clamp_min(1e-300)
        U = U / U.norm(dim=-1, keepdim=True)
    return best[: len(signs)], best[len(signs) :]


def unit_complexity(X: Tensor, signs: Tensor, seed: int, **options: int) -> Tensor:
    """sup of (1/N) sum_i eps_i f(x_i) over the class with B = 1, one for each row of signs (q, N): (q,)."""
    up, down = largest_fits(X, signs, seed, **options)
    return ((up.square() + down.square()) / 2).sqrt()
