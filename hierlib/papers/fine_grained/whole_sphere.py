"""Powers of one linear function on all points of the sphere at once: no sample of inputs can cost more.

For inputs x_1, ..., x_n of the sphere in R^d and labels y_i = g(x_i), y' H_inf^-1 y is the square norm of the shortest
function in the space of the kernel that agrees with g on them. Every further input can only raise it, and its least upper
bound over all n and all inputs is the square norm of g itself, a sum over spherical harmonics (`harmonics`). Arora et al.
2019 bound it for powers of linear functions (theorem 6.1, corollary 6.2); here it is exact, d >= 3.
"""

import math
from collections.abc import Sequence

from hierlib.papers.fine_grained.harmonics import multiplicity, relu_eigenvalue


def power_coefficient(p: int, k: int, d: int) -> float:
    """E[t^p P_k(t)] for one coordinate t of a uniform point on the sphere in R^d; zero unless k <= p and p - k is even.

    By Rodrigues' formula it is p! / ((p-k)! 2^k) Gamma((p-k+1)/2) Gamma(d/2) / (Gamma(1/2) Gamma((p+k+d)/2)). It is also
    the eigenvalue of the kernel <x, z>^p on the harmonics of degree k.
    """
    if k > p or (p - k) % 2:
        return 0.0
    logs = math.lgamma(p + 1) - math.lgamma(p - k + 1) - k * math.log(2)
    logs += math.lgamma((p - k + 1) / 2) + math.lgamma(d / 2) - math.lgamma(0.5) - math.lgamma((p + k + d) / 2)
    return math.exp(logs)


def largest_square(powers: Sequence[int], alphas: Sequence[float], d: int) -> float:
    """The least upper bound of y' H_inf^-1 y over all n and all inputs in R^d, y_i = sum_j alpha_j <e, x_i>^p_j, |e| = 1.

    The sum over k of N_k a_k^2 / mu_k, with N_k harmonics of degree k, eigenvalue mu_k of H_inf and coefficient a_k of the
    function. Infinite as soon as an odd degree above one is in it: there mu_k = 0.
    """
    total = 0.0
    for k in range(max(powers) + 1):
        a = math.fsum(float(alpha) * power_coefficient(p, k, d) for p, alpha in zip(powers, alphas, strict=True))
        if a == 0:
            continue
        mu = relu_eigenvalue(k, d)
        if mu == 0:
            return math.inf
        total += multiplicity(k, d) * a**2 / mu
    return total


def smallest_share(p: int, d: int) -> float:
    """The largest c with H_inf >= c K^p (entrywise power of K = X X^T) for all n and all inputs in R^d; zero for odd p > 1.

    Both sides are kernels on the sphere, so the order can be read off degree by degree: c is the least mu_k over the
    eigenvalue of <x, z>^p, for k = p, p - 2, ... (Arora et al. 2019, appendix E, has 1/4 and 1 / (2 pi (p-1)^2).)
    """
    return min(relu_eigenvalue(k, d) / power_coefficient(p, k, d) for k in range(p % 2, p + 1, 2))
