"""Which widths allow the parameters of the proof: Table 1 of Allen-Zhu and Li 2019.

With sigma_w = m^(-1/8) and sigma_v = 1/tau_v^2 the proof asks for

    1 <= tau_w < sqrt(m) sigma_w,   sigma_v (k/m)^(3/8) <= tau_v <= sigma_v / polylog(m),   tau_v <= 1/polylog(m).

polylog(m) is read as log(m)^power. Widths are astronomical, so everything is in terms of log m.
"""

import math
from typing import NamedTuple


class Conditions(NamedTuple):
    """The conditions of Table 1 as differences of logarithms: each holds where it is not negative."""

    first_radius: float  # sqrt(m) sigma_w over tau_w
    second_radius: float  # tau_v over sigma_v (k/m)^(3/8)
    small_movement: float  # sigma_v / polylog(m) over tau_v
    small_signal: float  # 1 / polylog(m) over tau_v


def conditions(log_m: float, tau_w: float, tau_v: float, k: int, power: float) -> Conditions:
    """How far each condition is from failing, at the width exp(log_m)."""
    sigma_w, sigma_v = -log_m / 8, -2 * math.log(tau_v)
    polylog = power * math.log(log_m)
    return Conditions(
        log_m / 2 + sigma_w - math.log(tau_w),
        math.log(tau_v) - sigma_v - 3 / 8 * (math.log(k) - log_m),
        sigma_v - polylog - math.log(tau_v),
        -polylog - math.log(tau_v),
    )


def width_window(tau_w: float, tau_v: float, k: int, power: float) -> tuple[float, float]:
    """log of the smallest and of the largest width that Table 1 allows; empty where the first exceeds the second.

    tau_w < m^(3/8) and tau_v^3 >= (k/m)^(3/8) bound m from below, log(m)^power <= 1/tau_v (for tau_v < 1) from above.
    """
    low = max(8 / 3 * math.log(tau_w), math.log(k) - 8 * math.log(tau_v))
    return low, tau_v ** (-1 / power)
