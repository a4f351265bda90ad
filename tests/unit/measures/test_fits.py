import numpy as np
import pytest

from hierlib.measures.fits import loglog_slope

X = np.array([10.0, 20.0, 50.0, 100.0, 300.0])


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 2.0])
def test_an_exact_power_law_gives_back_its_exponent_with_a_narrow_interval(exponent):
    fit = loglog_slope(X, 3 * X**exponent)
    assert fit.slope == pytest.approx(exponent, abs=1e-12)
    assert fit.interval == pytest.approx((exponent, exponent), abs=1e-6)
    assert fit.intercept == pytest.approx(np.log(3))


def test_a_fit_can_be_evaluated_as_a_curve():
    fit = loglog_slope(X, 3 * X**-0.5)
    assert fit([1, 4, 100]) == pytest.approx([3, 1.5, 0.3])


def noisy_fits(fits: int = 1000, repeats: int = 2):
    generator = np.random.default_rng(0)
    for _ in range(fits):
        noise = generator.normal(scale=0.3, size=(len(X), repeats))
        yield loglog_slope(X, 2 * X[:, None] ** -0.5 * np.exp(noise))


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says():
    covered = np.mean([low <= -0.5 <= high for _, (low, high), _ in noisy_fits()])
    assert abs(covered - 0.95) < 5 * (0.95 * 0.05 / 1000) ** 0.5


def test_repetitions_are_points_of_their_own():
    y = np.random.default_rng(0).uniform(1, 2, size=(len(X), 3))
    one_by_one = loglog_slope([x for x in X for _ in range(3)], y.ravel().tolist())
    assert loglog_slope(X, y) == one_by_one
    assert one_by_one.slope == pytest.approx(np.polyfit(np.log(np.repeat(X, 3)), np.log(y.ravel()), 1)[0])


def test_two_points_fix_a_line_and_say_nothing_about_its_error():
    fit = loglog_slope([1, 10], [5, 50])
    assert fit.slope == pytest.approx(1) and fit.interval == (-np.inf, np.inf)


@pytest.mark.parametrize(("x", "y"), [([1, 2, 3], [1, 0, 2]), ([1, 2, 3], [1, -1, 2]), ([0, 1, 2], [1, 1, 1])])
def test_values_that_have_no_logarithm_are_refused(x, y):
    with pytest.raises(ValueError, match=r"^a power law needs positive x and y$"):
        loglog_slope(x, y)


def test_a_value_that_was_not_reached_enters_no_fit():
    fit = loglog_slope([1, 2, 3], [1, np.nan, 2])
    assert np.isnan([fit.slope, *fit.interval, fit.intercept]).all()
