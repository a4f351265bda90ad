"""Rademacher complexity of networks near their initial weights: what it is, and what Arora et al. 2019 say it is at most.

The class holds all f_W with |w_r - w_r(0)| <= R for every neuron and |W - W(0)|_F <= B. Its complexity on inputs X is

    R_S = 1/n E_eps sup_W sum_i eps_i f_W(x_i),   eps_i = +-1 at random      (definition B.1),

and it lies between what projected ascent finds (`ascent`) and what the proof computes (`certificate`). Signs eps come as
rows of an array (q, n); every function of them returns one value per row, to be averaged.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.two_layer import TwoLayer, active, near_kink
from hierlib.streams import signs


class Terms(NamedTuple):
    """The three terms of the bound of Lemma 5.4."""

    linear: float  # B/sqrt(2n) (1 + (2 log(2/delta) / m)^(1/4)): the class made linear at W(0)
    switching: float  # 2 R^2 sqrt(m) / kappa: neurons expected within R of their kink
    deviation: float  # R sqrt(2 log(2/delta)): the same number, if chance makes it larger


def lemma_bound(B: float, R: float, n: int, m: int, kappa: float, delta: float) -> Terms:
    """Right-hand side of Lemma 5.4, which holds for every B at once with probability 1 - delta over W(0) and a."""
    log = math.log(2 / delta)
    linear = B / math.sqrt(2 * n) * (1 + (2 * log / m) ** 0.25)
    return Terms(linear, 2 * R**2 * math.sqrt(m) / kappa, R * math.sqrt(2 * log))


def generalisation_bound(complexity: Tensor, rho: float, c: float, n: int, delta: float) -> Tensor:
    """2 rho R_S + 3 c sqrt(log(2/delta) / 2n), for a rho-Lipschitz loss in [0, c] (Arora et al. 2019, theorem B.1)."""
    return 2 * rho * complexity + 3 * c * math.sqrt(math.log(2 / delta) / (2 * n))


def sign_pairs(pairs: int, n: int, seed: int, name: str = "Rademacher signs") -> Tensor:
    """Random signs in opposite pairs (2 pairs, n): whatever is odd in eps, as f_W(0) is, cancels in the average."""
    half = signs((pairs, n), seed, name)
    return torch.cat([half, -half])


def linear_supremum(H: Tensor, eps: Tensor, B: float) -> Tensor:
    """sup over |W - W(0)|_F <= B of sum_i eps_i <Z_i, W> / n = B/n sqrt(eps' H eps), with H = Z'Z: eps (q, n) -> (q,)."""
    return B / len(H) * ((eps @ H) * eps).sum(1).sqrt()


def largest_linear_gap(H: Tensor, y: Tensor, sample: Tensor, B: float) -> Tensor:
    """sup over |theta| <= B of E_D[-y f] - E_S[-y f] for f = <theta, z>: B |E_S[y z] - E_D[y z]|, a scalar.

    This is the left-hand side of Theorem B.1 for the loss -y f, up to constants. D is uniform on points with Gram matrix
    H (N, N) of their features z and labels y (N,); `sample` (n,) holds the indices that were drawn, repetitions included.
    """
    weights = (-y / len(y)).index_add(0, sample, y[sample] / len(sample))
    return B * (weights @ H @ weights).sqrt()


def certificate(net: TwoLayer, X: Tensor, R: float, B: float) -> float:
    """B/n |Z(0)|_F + 2R/(n sqrt(m)) #{(r, i): |<w_r(0), x_i>| <= R}: no smaller than R_S, by the proof of Lemma 5.4.

    The proof (appendix D.2) prints 1{w'x_i} for 1{<w_r, x_i> >= 0}: |Z|_F^2 is the share of active pairs times n.
    Unit inputs are assumed.
    """
    n, m = len(X), len(net.a)
    frobenius = (active(net, X).double().sum() / m).sqrt()
    return (B / n * frobenius + 2 * R / (n * m**0.5) * near_kink(net, X, R).sum()).item()


def ascent(net: TwoLayer, X: Tensor, eps: Tensor, R: float, B: float, steps: int) -> Tensor:
    """Largest sum_i eps_i (f_W - f_W(0))(x_i) / n found in the class: eps (q, n) -> (q,), a lower estimate of the sup.

    All signs climb together, as one array (q, m, d) in float32. A step of length B along the gradient is drawn back row
    by row into the balls of radius R and then as a whole into that of radius B (infinite radii are allowed), which keeps
    both constraints. The subtracted f_W(0) has mean zero over eps; without it, it would be most of the noise.
    """
    a, W, inputs, eps = (tensor.float() for tensor in (net.a / len(net.a) ** 0.5, net.W, X, eps))
    start = W @ inputs.T
    before = eps @ (a @ torch.relu(start))
    length = B if math.isfinite(B) else R * len(a) ** 0.5
    moved, best = torch.zeros(len(eps), *W.shape), torch.zeros(len(eps))
    for step in range(steps + 1):
        gates = torch.matmul(moved, inputs.T).add_(start) >= 0
        gradient = torch.matmul(gates * eps[:, None, :], inputs) * a[:, None]
        # f is homogeneous of degree one in W, so that the objective is the inner product of W with its own gradient
        value = ((W + moved) * gradient).sum((1, 2)) - before
        best = torch.maximum(best, value)
        if step < steps:
            moved += length * gradient / gradient.norm(dim=(1, 2), keepdim=True)
            moved *= R / moved.norm(dim=2, keepdim=True).clamp(min=R) if math.isfinite(R) else 1.0
            moved *= B / moved.norm(dim=(1, 2), keepdim=True).clamp(min=B) if math.isfinite(B) else 1.0
    return best.double() / len(X)


def plane_supremum(net: TwoLayer, X: Tensor, eps: Tensor, R: float, angles: int = 720) -> Tensor:
    """sup of sum_i eps_i (f_W - f_W(0))(x_i) / n over all |w_r - w_r(0)| <= R, for inputs in the plane: eps (q, n) -> (q,).

    Without a bound on the total, or with B >= R sqrt(m), every neuron is on its own. Its objective is linear between kinks,
    so that the best place is on the circle of radius R (or where it started); the circle is searched at `angles` points.
    """
    turn = torch.arange(angles, dtype=X.dtype) * (2 * math.pi / angles)
    circle = net.W[:, None, :] + R * torch.stack([turn.cos(), turn.sin()], dim=1)
    start = torch.relu(net.W @ X.T) @ eps.T * net.a[:, None]
    ends = (torch.relu(circle @ X.T) @ eps.T * net.a[:, None, None]).amax(dim=1)
    return (ends - start).clamp(min=0).sum(0) / (len(net.a) ** 0.5 * len(X))
