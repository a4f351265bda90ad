"""The ReLU Gram matrix on infinitely many points: its eigenvalues on the sphere, degree by degree.

On uniform points of the sphere in R^d, H_inf / n tends to an integral operator. Rotations commute with it, so its
eigenfunctions are the spherical harmonics, and all harmonics of degree k share the eigenvalue mu_k = E[h(t) P_k(t)]
(Funk and Hecke), where h(t) = t (pi - arccos t) / 2 pi, t is one coordinate of a uniform point, and P_k is the Legendre
polynomial of dimension d with P_k(1) = 1.
"""

import math

import torch
from torch import Tensor


def multiplicity(k: int, d: int) -> int:
    """How many independent spherical harmonics of degree k there are in R^d."""
    return math.comb(k + d - 1, d - 1) - (math.comb(k + d - 3, d - 1) if k > 1 else 0)


def step_coefficient(k: int, d: int) -> float:
    """E[1{t >= 0} P_k(t)] for one coordinate t of a uniform point on the sphere in R^d, d >= 3.

    For odd k it is P_(k-1)(0) of dimension d + 2, over (d - 1) B((d-1)/2, 1/2); for even k > 0 it is zero.
    """
    if k % 2 == 0:
        return 0.5 if k == 0 else 0.0
    at_zero = math.prod(-(2 * i + 1) / (d + 1 + 2 * i) for i in range(k // 2))
    log_beta = math.lgamma((d - 1) / 2) + math.lgamma(0.5) - math.lgamma(d / 2)
    return at_zero / (d - 1) / math.exp(log_beta)


def relu_eigenvalue(k: int, d: int) -> float:
    """mu_k of H_inf (Arora et al. 2019, eq. 3) on the sphere in R^d, d >= 3; zero for odd k > 1.

    The kernel E_w[1{<w,x> >= 0} 1{<w,z> >= 0}] has the eigenvalues step_coefficient(k)^2. The factor <x, z> mixes
    neighbouring degrees: (2k + d - 2) t P_k = (k + d - 2) P_(k+1) + k P_(k-1).
    """
    above = (k + d - 2) * step_coefficient(k + 1, d) ** 2
    below = k * step_coefficient(k - 1, d) ** 2 if k > 0 else 0.0
    return (above + below) / (2 * k + d - 2)


def limiting_square(coefficients: Tensor, d: int) -> float:
    """The limit of y' H_inf^-1 y for n -> infinity, y_i = f(<x_i, e>) with f even, over the whole sphere in R^d.

    coefficients (K,): E[f(t) P_k(t)] for k = 0, 2, 4, ... The square norm of f in the space of the kernel is the sum
    of multiplicity a_k^2 / mu_k; it bounds y' H_inf^-1 y for every finite set of points, and more points only raise it.
    """
    degrees = range(0, 2 * len(coefficients), 2)
    weights = torch.tensor([multiplicity(k, d) / relu_eigenvalue(k, d) for k in degrees], dtype=torch.float64)
    return float((weights * coefficients**2).sum())
