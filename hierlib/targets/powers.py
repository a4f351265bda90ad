"""Powers of linear functions and their sums, finite or infinite: what smooth targets are made of.

In Arora et al. 2019 (section 6) a series is a pair (powers, alphas), in the order in which `power_sum` takes them. In
Allen-Zhu and Li 2019 it is a row of Taylor coefficients c_0, ..., c_q, see `series_value`.
"""

import math
from collections.abc import Sequence

import torch
from scipy.special import jv
from torch import Tensor


def series_value(coefficients: Tensor, z: Tensor) -> Tensor:
    """sum_j c_j z^j by Horner's rule: coefficients (..., q + 1) and z (n, ...) -> (n, ...)."""
    value = torch.zeros_like(z)
    for c in reversed(coefficients.unbind(-1)):
        value = value * z + c
    return value


def series_slope(coefficients: Tensor, z: Tensor) -> Tensor:
    """sum_j j c_j z^(j-1), the derivative of `series_value`: coefficients (..., q + 1) and z (n, ...) -> (n, ...)."""
    degree = torch.arange(coefficients.shape[-1], dtype=coefficients.dtype)
    return series_value((degree * coefficients)[..., 1:], z)


def monomial(X: Tensor, beta: Tensor, p: int, alpha: float = 1.0) -> Tensor:
    """y_i = alpha <beta, x_i>^p (Arora et al. 2019, theorem 6.1): X (n, d), beta (d,) -> (n,)."""
    return alpha * (X @ beta) ** p


def power_sum(X: Tensor, powers: Sequence[int], alphas: Tensor, betas: Tensor) -> Tensor:
    """y_i = sum_j alpha_j <beta_j, x_i>^p_j (Arora et al. 2019, eq. 12): X (n, d), alphas (J,), betas (J, d) -> (n,)."""
    return ((X @ betas.T) ** torch.tensor(powers)) @ alphas


def quadratic(X: Tensor, A: Tensor) -> Tensor:
    """y_i = x_i' A x_i (example 6.2): X (n, d), A (d, d) -> (n,)."""
    return ((X @ A) * X).sum(dim=1)


def cosine(X: Tensor, beta: Tensor) -> Tensor:
    """y_i = cos <beta, x_i> - 1 (example 6.3): X (n, d), beta (d,) -> (n,)."""
    # -2 sin^2(z/2), because cos z - 1 loses all its digits when z is small
    return -2 * (X @ beta / 2).sin() ** 2


def arctangent(X: Tensor, beta: Tensor) -> Tensor:
    """y_i = z_i arctan(z_i / 2) with z_i = <beta, x_i> (example 6.4): X (n, d), beta (d,) -> (n,)."""
    z = X @ beta
    return z * (z / 2).arctan()


def cosine_series(terms: int) -> tuple[list[int], Tensor]:
    """cos z - 1 = sum_j (-1)^j z^2j / (2j)! (example 6.3), for every z: powers and coefficients (terms,)."""
    powers = [2 * j for j in range(1, terms + 1)]
    return powers, torch.tensor([(-1) ** (p // 2) / math.factorial(p) for p in powers], dtype=torch.float64)


def arctangent_series(terms: int) -> tuple[list[int], Tensor]:
    """z arctan(z/2) = sum_j (-1)^(j-1) 2^(1-2j) / (2j-1) z^2j (example 6.4), for |z| <= 2: powers and coefficients."""
    powers = [2 * j for j in range(1, terms + 1)]
    return powers, torch.tensor([(-1) ** (p // 2 - 1) * 2.0 ** (1 - p) / (p - 1) for p in powers], dtype=torch.float64)


def cosine_harmonics(size: float, d: int, last: int) -> Tensor:
    """Coefficients of cos <beta, x> - 1 with |beta| = size on the sphere in R^d, for the degrees 0, 2, ..., last.

    a_k = E[(cos(size t) - 1) P_k(t)] for one coordinate t of a uniform point and the Legendre polynomial P_k of
    dimension d, P_k(1) = 1. The expansion of a plane wave gives (-1)^(k/2) Gamma(d/2) (2/size)^nu J_(k+nu)(size) with
    nu = d/2 - 1. The Bessel functions J keep their relative accuracy where a quadrature would leave rounding errors;
    they underflow beyond d of about 200.
    """
    nu = d / 2 - 1
    scale = math.exp(math.lgamma(d / 2) + nu * math.log(2 / size))
    coefficients = [(-1) ** (k // 2) * scale * jv(k + nu, size) for k in range(0, last + 1, 2)]
    coefficients[0] -= 1
    return torch.tensor(coefficients, dtype=torch.float64)
