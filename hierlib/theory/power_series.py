"""How complex a smooth function is, by its Taylor coefficients (Allen-Zhu and Li 2019, section 4).

    C_eps(phi) = sum_i (C*^i + (C* sqrt(log(1/eps) / i))^i) |c_i|,      C_s(phi) = C* sum_i (i + 1) |c_i|

C_s sets the number of samples, C_eps the width. The constant C* is large (the paper suggests 10^4), so C_eps is computed
as a logarithm, from log |c_i|, and log(1/eps) is the variable: eps itself would underflow. For i = 0 the second term is 1.
"""

import math

import numpy as np
import torch
from scipy.special import zeta
from torch import Tensor


def complexity_s(coefficients: Tensor, C_star: float) -> Tensor:
    """C_s of Taylor coefficients (..., q + 1) -> (...)."""
    i = torch.arange(coefficients.shape[-1], dtype=torch.float64)
    return C_star * ((i + 1) * coefficients.abs()).sum(-1)


def lipschitz_bound(a: Tensor, coefficients: Tensor, C_star: float) -> float:
    """sqrt(k) p C_s(F), the bound on the slope of F in Fact B.3, for a (k, p) and coefficients (k, p, q + 1)."""
    return a.shape[1] * len(a) ** 0.5 * complexity_s(coefficients, C_star).max().item()


def complexity_eps(coefficients: Tensor, eps: float, C_star: float) -> Tensor:
    """C_eps of Taylor coefficients (..., q + 1) -> (...)."""
    return log_complexity_eps(coefficients.abs().log(), math.log(1 / eps), C_star).exp()


def log_complexity_eps(log_coefficients: Tensor, log_inverse_eps: float, C_star: float) -> Tensor:
    """log C_eps from log |c_i| (..., q + 1) and log(1/eps) -> (...)."""
    i = torch.arange(log_coefficients.shape[-1], dtype=torch.float64)
    first = i * math.log(C_star)
    second = first + i / 2 * (math.log(log_inverse_eps) - i.clamp(min=1).log())
    return torch.logsumexp(torch.logaddexp(first, second) + log_coefficients, dim=-1)


def lowering_cost(C_star: float) -> float:
    """The largest C_eps(z^(i-1)) / C_eps(z^i) over even i up to 40 and over eps from 0.9 down to 1e-300.

    In Lemma B.2 an even power makes way for the odd one below it. Both are sums over coefficients, so this ratio bounds
    the change of C_eps for every function. It is at most one from C* = 2 on.
    """
    powers = torch.eye(41, dtype=torch.float64)
    even, lowered = powers[2::2], powers[1:-1:2]
    grid = (0.9, 0.7, 0.5, 0.37, 0.2, 0.1, 1e-2, 1e-3, 1e-5, 1e-10, 1e-20, 1e-30, 1e-100, 1e-300)
    return max((complexity_eps(lowered, e, C_star) / complexity_eps(even, e, C_star)).max().item() for e in grid)


def log_taylor(name: str, degree: int, c: float = 1.0) -> Tensor:
    """log |c_i| of phi(c z) for i = 0, ..., degree, -inf where the coefficient is zero: (degree + 1,).

    The functions of Example 4.1: `exp` (e^z - 1), `sin`, `cos`, `tanh`, `sigmoid`; and `root`, sqrt(1 - z), which is
    continuous on [-1, 1] but not smooth at the end.
    """
    i = torch.arange(degree + 1, dtype=torch.float64)
    if name in ("exp", "sin", "cos"):
        kept = {"exp": i >= 1, "sin": i % 2 == 1, "cos": i % 2 == 0}[name]
        size = -torch.lgamma(i + 1)
    elif name in ("tanh", "sigmoid"):
        # tan z = sum over odd i of 2 (2/pi)^(i+1) lambda(i+1) z^i, lambda(s) = (1 - 2^-s) zeta(s) = 1 + 3^-s + 5^-s + ...
        s = np.arange(1.0, degree + 2)
        s[0] = 2.0  # lambda(1) is infinite; the constant term is set below
        ones = np.log1p(-(2.0**-s)) + np.log1p(zeta(s, 2))  # zeta(s, 2) = zeta(s) - 1 keeps the digits of large s
        kept = i % 2 == 1
        size = math.log(2) + (i + 1) * math.log(2 / math.pi) + torch.from_numpy(ones)
        if name == "sigmoid":  # 1/2 + tanh(z / 2) / 2
            size = size - (i + 1) * math.log(2)
            size[0], kept[0] = math.log(0.5), True
    elif name == "root":
        kept = i >= 0
        size = torch.lgamma((i - 0.5).abs()) - torch.lgamma(i + 1) - math.log(2 * math.sqrt(math.pi))
        size[0] = 0.0
    else:
        raise ValueError(f"no Taylor series for {name!r}")
    return torch.where(kept, size + i * math.log(c), -math.inf)


def closed_form_s(name: str, c: float = 1.0) -> float:
    """C_s(phi) / C* of phi(c z) for the functions of Example 4.1: the sum of (i + 1)|c_i|, infinite if it diverges.

    With Phi(z) = sum_i |c_i| z^i it is Phi(1) + Phi'(1): the signs of sin, cos and tanh turn into sinh, cosh and tan.
    """
    if name == "exp":
        return (1 + c) * math.exp(c) - 1
    if name == "sin":
        return math.sinh(c) + c * math.cosh(c)
    if name == "cos":
        return math.cosh(c) + c * math.sinh(c)
    if name == "tanh":
        return math.tan(c) + c / math.cos(c) ** 2 if c < math.pi / 2 else math.inf
    if name == "sigmoid":
        return 0.5 + closed_form_s("tanh", c / 2) / 2
    raise ValueError(f"no closed form for {name!r}")


def entire_growth(log_inverse_eps: float, C_star: float, parity: bool) -> float:
    """log C_eps of e^z - 1 (of sin z or cos z with `parity`) for small eps: 3/2 (C*^2 L / e)^(1/3) and a constant.

    The term of degree i is exp(i log(C* sqrt(L)) - (i/2) log i) / i!, largest at i = (C*^2 L / e)^(1/3). Stirling and the
    width of the peak leave the factor sqrt(2/3), or half of it if every other term is absent; the first sum of C_eps
    adds a constant. For phi(c z) put c C* in place of C*.
    """
    peak = (C_star**2 * log_inverse_eps / math.e) ** (1 / 3)
    second = 1.5 * peak - 0.5 * math.log(1.5) - (math.log(2) if parity else 0.0)
    first = C_star - (math.log(2) if parity else 0.0)
    return float(np.logaddexp(first, second))


def truncation_degree(log_coefficients: Tensor, log_inverse_eps: float) -> int:
    """The smallest degree N with sum_{i > N} |c_i| <= eps: the series cut at N is eps-close to phi on [-1, 1]."""
    tails = torch.logcumsumexp(log_coefficients.flip(0), dim=0).flip(0)  # tails[i] = log of the sum from i on
    beyond = torch.nonzero(tails > -log_inverse_eps)
    return int(beyond[-1]) if len(beyond) else 0


def truncated_power(radius: float, C_star: float) -> float:
    """The power of 1/eps in C_eps of a function with |c_i| about radius^-i, radius > 1, cut at `truncation_degree`.

    The degree is kappa L with kappa = 1 / log(radius), L = log(1/eps). With rho = C*/radius the term of degree s L is
    exp(L s log(rho)) in the first sum, exp(L (s log(rho) - (s/2) log s)) in the second, largest at s = rho^2/e.
    """
    kappa, rho = 1 / math.log(radius), C_star / radius
    s = min(kappa, rho**2 / math.e)
    return max(0.0, kappa * math.log(rho), s * math.log(rho) - s / 2 * math.log(s))
