"""What a teacher is said to cost: the complexities of Wang et al. 2021, Section 2, with every constant that is printed.

    C(psi, R)   = 1 + sum_i i |c_i| R^i                                                      (eq. 6)
    C_N(psi, R) = 1 + sum_i L^(1.5 N) C_1^N sqrt(C_(N,i)) (i / N)^N |c_i| R^i                (eq. 7)

C_(N,i) is the largest multinomial coefficient i! / (n_1! ... n_N!) over n_j > 0 with sum i; for i < N, where the paper has
none, over n_j >= 0. Both are computed as logarithms from log |c_i|, because they leave the range of numbers soon, and both
are partial sums: whether the rest of a series is small, or infinite, is for the caller to know.
"""

import math

import torch
from torch import Tensor

C_1 = 100.0  # "larger than 100" in the paper


def log_complexity(log_coefficients: Tensor, R: float) -> float:
    """log C(psi, R) from log |c_i|, i = 0, 1, ...; the constant c_0 does not enter, as printed."""
    i = torch.arange(1, len(log_coefficients), dtype=torch.float64)
    terms = i.log() + log_coefficients[1:] + i * math.log(R)
    return torch.logaddexp(torch.zeros((), dtype=torch.float64), torch.logsumexp(terms, 0)).item()


def log_complexity_n(log_coefficients: Tensor, R: float, N: int, L: int) -> float:
    """log C_N(psi, R) from log |c_i|, i = 0, 1, ..."""
    i = torch.arange(1, len(log_coefficients), dtype=torch.float64)
    multinomials = torch.tensor([log_largest_multinomial(N, int(k)) for k in i], dtype=torch.float64)
    factor = N * (1.5 * math.log(L) + math.log(C_1))
    terms = factor + multinomials / 2 + N * (i / N).log() + log_coefficients[1:] + i * math.log(R)
    return torch.logaddexp(torch.zeros((), dtype=torch.float64), torch.logsumexp(terms, 0)).item()


def log_largest_multinomial(N: int, i: int) -> float:
    """log C_(N,i): the parts as equal as possible."""
    share, rest = divmod(i, N)
    parts = [share + 1] * rest + [share] * (N - rest)
    return math.lgamma(i + 1) - sum(math.lgamma(part + 1) for part in parts)


def log_additive(log_coefficients: Tensor, L: int, C_0: float = 1.0) -> float:
    """log of L^3.5 C(psi, C_0 sqrt(L)), the complexity of one term of the additive class (eq. 10)."""
    return 3.5 * math.log(L) + log_complexity(log_coefficients, C_0 * math.sqrt(L))


def log_n_variables(log_coefficients: Tensor, L: int, N: int, distance: int, C_0: float = 1.0) -> tuple[float, float]:
    """Logarithms of the two complexities of one term of the N-variables class, of which (12) takes the smaller one."""
    by_number = 2 * math.log(L) + log_complexity_n(log_coefficients, C_0 * math.sqrt(L), N, L)
    by_distance = 3.5 * math.log(L) + log_complexity(log_coefficients, 2.0**distance * C_0 * math.sqrt(L))
    return by_number, by_distance


def log_arctan_half(degree: int) -> Tensor:
    """log |c_i| of arctan(z / 2) (eq. 8) for i = 0, ..., degree: 2^-i / i at odd i. It converges for |z| < 2."""
    i = torch.arange(degree + 1, dtype=torch.float64)
    return torch.where(i % 2 == 1, -i * math.log(2) - i.clamp(min=1).log(), -math.inf)
