"""The widths that Table 1 allows, against a scan of its conditions as they are printed."""

import math

import numpy as np
import pytest

from hierlib.papers.resnet_kernels.width_window import conditions, width_window

CASES = [(5.0, 0.01, 4, 1.0), (5.0, 0.03, 4, 1.0), (1e9, 0.03, 4, 1.0), (5.0, 0.2, 4, 1.0), (2.0, 0.001, 2, 1.5)]


@pytest.mark.parametrize(("tau_w", "tau_v", "k", "power"), CASES)
def test_conditions_are_the_printed_inequalities(tau_w: float, tau_v: float, k: int, power: float) -> None:
    for m in (1e2, 1e5, 1e40):
        sigma_w, sigma_v, polylog = m ** (-1 / 8), tau_v**-2, math.log(m) ** power
        printed = (
            tau_w <= m**0.5 * sigma_w,
            sigma_v * (k / m) ** (3 / 8) <= tau_v,
            tau_v <= sigma_v / polylog,
            tau_v <= 1 / polylog,
        )
        assert tuple(room >= 0 for room in conditions(math.log(m), tau_w, tau_v, k, power)) == printed


@pytest.mark.parametrize(("tau_w", "tau_v", "k", "power"), CASES)
def test_the_window_is_where_all_conditions_hold(tau_w: float, tau_v: float, k: int, power: float) -> None:
    low, high = width_window(tau_w, tau_v, k, power)
    for log_m in np.geomspace(1.5, 2e3, 400):
        assert (min(conditions(log_m, tau_w, tau_v, k, power)) >= 0) == (low <= log_m <= high)
