"""How much of a product of gates is in the kernel of the recurrent network (Wang et al. 2021, App. G, before Claim G.1).

For tokens of norm one H and P = prod_n k0(z^(l_n)) are power series in the inner products t_l, with coefficients that are
not negative. Two bounds for the largest c with H >= c P, whatever the samples and the dimension:

    from below   H >= 1/2 prod_l k0(z^l), the term of H that goes through all gates, and every gate that is not in P is at
                 least its constant term: c >= 1/2 prod_{l not in P} k0(z^l at t = 0)                    (for gain 1)
    from above   c is at most any quotient of coefficients (Schoenberg); here those of 1 and of t_1, ..., t_L
"""

from collections.abc import Callable, Collection

import torch
from torch import Tensor

from hierlib.papers.rnn.token_series import defect, kernel_of_products, open_share


def gates(t: Tensor, s2: float, gain: float = 1.0) -> Tensor:
    """k0(z^1), ..., k0(z^L) at inner products t (..., L) of unit tokens: (..., L)."""
    q, v, found = 1.0, torch.zeros_like(t[..., 0]), []
    for product in t.unbind(-1):
        before, q = q, gain * q + s2
        u = (s2 * (1 - product) + gain * before * v) / q
        found.append(open_share(u))
        v = defect(u)
    return torch.stack(found, -1)


def share_from_below(L: int, positions: Collection[int], s2: float) -> float:
    """A share of the product of the gates at `positions` (1 to L) that the kernel has for sure."""
    at_zero = gates(torch.zeros(L, dtype=torch.float64), s2)
    others = [position for position in range(L) if position + 1 not in positions]
    return 0.5 * at_zero[others].prod().item()


def share_from_above(L: int, positions: Collection[int], s2: float, gain: float = 1.0) -> float:
    """A share that it cannot exceed: the smallest quotient of the coefficients of degree zero and one."""
    chosen = [position - 1 for position in positions]
    whole, part = (
        _first_order(f, L) for f in (lambda t: kernel_of_products(t, s2, gain), lambda t: gates(t, s2, gain)[chosen].prod())
    )
    there = part > 0  # P does not know the tokens after its last gate
    return (whole[there] / part[there]).min().item()


def _first_order(f: Callable[[Tensor], Tensor], L: int) -> Tensor:
    """f and its first derivatives at t = 0: (L + 1,)."""
    t = torch.zeros(L, dtype=torch.float64, requires_grad=True)
    value = f(t)
    (slopes,) = torch.autograd.grad(value, t)
    return torch.cat([value.detach()[None], slopes])
