"""How long the signal that flows backward through time survives (Wang et al. 2021, Remark 4.2, Claims F.2, F.3, Lemma 20).

The backward part of the kernel is a product of gates k0(z_l). Its part that does not depend on the tokens has z_l at t = 0,
and z_l is drawn to one: with e = 1 - z, e_(l+1) = 1 - k1(1 - e_l) plus what the input adds. Tell two sequences apart:

    the pure iteration   e_l -> 9 pi^2 / (2 l^2) from any start below one, and prod_{l <= L} k0 = Theta(L^-3)   (eq. 107)
    the network          starts at e_0 = 0, as h_0 is the same for all inputs; its product tends to a constant for s2 = L^-3

The laws of the network are ours: the paper proves L^-b, b close to 3, as a lower bound.
"""

import math

import torch
from scipy.integrate import quad, solve_ivp
from torch import Tensor

from hierlib.papers.rnn.token_series import defect_of, open_share

PURE_LIMIT = 9 * math.pi**2 / 2  # of e_l l^2 in the pure iteration
DRIFT = 2 * math.sqrt(2) / (3 * math.pi)  # 1 - k1(1 - u) = u - DRIFT u^(3/2) + ...


def pure_iteration(start: float, steps: int) -> Tensor:
    """e_1, ..., e_steps of e_(l+1) = 1 - k1(1 - e_l) with e_1 = `start`: (steps,)."""
    found = [start]
    while len(found) < steps:
        found.append(defect_of(found[-1]))
    return torch.tensor(found, dtype=torch.float64)


def network_distances(L: int, s2: float, square: float = 1.0, gain: float = 1.0) -> Tensor:
    """u_1, ..., u_L = 1 - z_l of the network at orthogonal tokens of squared norm `square`: (L,)."""
    found, q, v = [], 1.0, 0.0
    for _ in range(L):
        before, q = q, gain * q + s2 * square
        found.append((s2 * square + gain * before * v) / q)
        v = defect_of(found[-1])
    return torch.tensor(found, dtype=torch.float64)


def gates_product(distances: Tensor) -> float:
    """prod_l k0(1 - e_l), by logarithms."""
    return open_share(distances).log().sum().exp().item()


def one_line_bound(L: int, s2: float, square: float = 1.0) -> float:
    """A lower bound for the network's product: k1(z) >= z gives 1 - z_l <= 1 - 1 / q_l, q_l = 1 + s2 square l. (Ours.)"""
    l = torch.arange(1, L + 1, dtype=torch.float64)  # noqa: E741
    return gates_product(1 - 1 / (1 + s2 * square * l))


def limit_product(square: float = 1.0) -> float:
    """The network's product for s2 = L^-3 and L to infinity: exp(-0.2916) for tokens of norm one. (Ours.)

    With 1 - z = E(l/L) / L^2 the recursion becomes E' = square - DRIFT E^(3/2), E(0) = 0, and the logarithm of the product
    - sqrt(2)/pi times the integral of sqrt(E) over [0, 1].
    """
    path = solve_ivp(lambda _, E: square - DRIFT * E**1.5, (0, 1), [0.0], rtol=1e-10, atol=1e-12, dense_output=True)
    total, _ = quad(lambda x: math.sqrt(max(path.sol(x)[0], 0.0)), 0, 1, limit=200)
    return math.exp(-math.sqrt(2) / math.pi * total)


def memory_rate(s2: float) -> float:
    """Loss per step, - log k0, where what the input adds balances the drift, DRIFT e^(3/2) = s2. (Ours.)

    For tokens of norm one, s2 L^3 large and s2 L small; the product then is exp(-rate L), rate = 0.672 s2^(1/3).
    """
    return math.sqrt(2) / math.pi * (s2 / DRIFT) ** (1 / 3)


def horizon(s2: float) -> float:
    """Steps in which the backward signal falls by a factor e: 1 / rate = 1.49 s2^(-1/3). (Ours.)"""
    return 1 / memory_rate(s2)
