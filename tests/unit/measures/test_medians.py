import math

import pytest

from hierlib.measures.medians import median_interval


def coverage(low: int, high: int, n: int) -> float:
    """Chance that the median lies between the values of rank low and high out of n: a sum over all outcomes."""
    return sum(math.comb(n, below) for below in range(low, high)) / 2**n


@pytest.mark.parametrize("n", [6, 7, 12, 15, 16, 25])
def test_the_pair_is_the_innermost_one_that_covers_the_median(n):
    low, high = median_interval(range(n, 0, -1))
    assert low + high == n + 1, "as many values below as above"
    assert coverage(int(low), int(high), n) >= 0.95 > coverage(int(low) + 1, int(high) - 1, n)


def test_too_few_values_and_missing_ones_settle_nothing():
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) == (-math.inf, math.inf)
    assert all(math.isnan(end) for end in median_interval([1.0, math.nan] * 4))
