import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from hierlib.measures.two_samples import rank_sum_counts, ratio_interval
from hierlib.streams import normals


def test_the_counts_are_those_of_all_orders():
    for n, m in ((1, 1), (2, 3), (4, 2), (5, 5)):
        slow = np.zeros(n * m + 1)
        for places in combinations(range(n + m), n):
            slow[sum(place - i for i, place in enumerate(places))] += 1
        assert rank_sum_counts(n, m).tolist() == slow.tolist()


def test_the_interval_is_where_the_rank_sum_test_changes_its_mind():
    a, b = np.exp(normals((9,), 0, "a").numpy()), np.exp(normals((7,), 0, "b").numpy() + 1)
    middle, (low, high) = ratio_interval(a, b)
    assert low < middle < high

    def test(c):
        return stats.mannwhitneyu(a, c * b, method="exact").pvalue

    assert test(low * 1.0001) > 0.05 > test(low * 0.9999)
    assert test(high * 0.9999) > 0.05 > test(high * 1.0001)


def test_too_few_values_give_no_interval_and_scale_goes_through():
    assert ratio_interval([1, 2], [3])[1] == (0.0, math.inf)
    a, b = np.exp(normals((8,), 1, "a").numpy()), np.exp(normals((6,), 1, "b").numpy())
    once, twice = ratio_interval(a, b), ratio_interval(2 * a, b)
    assert twice[0] == pytest.approx(2 * once[0]) and twice[1] == pytest.approx((2 * once[1][0], 2 * once[1][1]))
    assert math.isnan(ratio_interval([math.nan, 1], [1])[0])
