import numpy as np
import pytest

from hierlib.measures.fits import loglog_slope
from hierlib.measures.repeated_fits import slope_by_repeat

X = np.array([2.0, 3.0, 5.0])


def test_exact_laws_with_different_constants_have_no_spread():
    fit = slope_by_repeat(X, 3 * X[:, None] ** 2 * np.array([1.0, 5.0, 0.2]))
    assert fit.slope == pytest.approx(2)
    assert fit.interval == pytest.approx((2, 2))


def test_the_mean_is_that_of_all_points_and_the_interval_that_of_the_slopes():
    y = np.exp(np.random.default_rng(0).normal(size=(3, 4)))
    fit = slope_by_repeat(X, y)
    assert fit.slope == pytest.approx(loglog_slope(X, y).slope)
    by_hand = [np.polyfit(np.log(X), np.log(column), 1)[0] for column in y.T]
    assert fit.slopes == pytest.approx(by_hand)
    assert fit.interval[1] - fit.slope == pytest.approx(3.182446 * np.std(by_hand, ddof=1) / 2, rel=1e-6)
    low, high = slope_by_repeat(X, y, confidence=0.99).interval
    assert high - low == pytest.approx(5.840909 * np.std(by_hand, ddof=1), rel=1e-6)


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        slopes, constants = 2 + 0.1 * generator.normal(size=4), np.exp(generator.normal(size=4))
        low, high = slope_by_repeat(X, constants * X[:, None] ** slopes).interval
        covered += low <= 2 <= high
    assert abs(covered / 1000 - 0.95) < 5 * (0.95 * 0.05 / 1000) ** 0.5


def test_what_was_not_reached_makes_no_slope():
    assert np.isnan(slope_by_repeat(X, [[1, 1], [2, 2], [3, np.nan]]).slope)


def test_one_repetition_has_no_interval():
    with pytest.raises(ValueError, match="at least two repeats"):
        slope_by_repeat(X, X[:, None])
