import math

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.papers.fine_grained.bounds import (
    dealt_anew,
    failure_rate,
    judged,
    ladders,
    printed_start,
    printed_steps,
    weakest_passing,
)
from hierlib.papers.fine_grained.label_complexity import complexity, second_term

N, DELTA = 40, 0.05
X, NEW = unit_sphere(N, 6, seed=0), unit_sphere(9, 6, seed=1)
Y, ANSWERS = X[:, :2], NEW[:, :2]
AT = judged(X, Y, NEW, ANSWERS, DELTA, share=0.5, seed=0, name="a", swing=3.0)


def test_measure_and_bound_are_those_of_the_labels_alone():
    H = relu_gram(X)
    assert torch.allclose(AT.measure, complexity(H, Y))
    smallest = torch.linalg.eigvalsh(H)[0].item()
    assert AT.smallest == pytest.approx(smallest, rel=0.02)
    assert torch.allclose(AT.bound, complexity(H, Y) + second_term(N, smallest, DELTA), rtol=1e-3)


def test_the_three_fits_go_through_the_labels_they_were_given():
    again = judged(X, Y, X, Y, DELTA, share=0.5, seed=0, name="a", swing=3.0)  # asked at the samples themselves
    assert torch.allclose(again.limit, Y, atol=1e-6)
    assert torch.allclose(again.dealt, dealt_anew(Y, 0.5, 0, "a"), atol=1e-6)
    # The start at a new point is drawn afresh, also where it is a sample: the same sign, or twice the swing away.
    away = (again.wild - Y).abs()
    assert torch.minimum(away, (away - 6).abs()).max() < 1e-5


def test_the_wild_fit_leaves_zero_start_behind():
    assert (AT.wild - AT.limit).abs().mean() > 1 and (AT.dealt - AT.limit).abs().mean() > 0.01


def test_the_nearest_neighbour_of_a_sample_is_itself():
    assert torch.equal(AT._replace(new=X).neighbour, Y)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_dealing_anew_moves_the_share_that_was_asked_for_and_keeps_all_labels(share):
    y = torch.arange(1000).double()
    anew = dealt_anew(y, share, seed=3, name="x")
    assert torch.equal(anew.sort().values, y)
    assert (anew != y).double().mean().item() == pytest.approx(share, abs=0.01)
    assert torch.equal(anew, dealt_anew(y, share, seed=3, name="x"))


def test_a_larger_share_deals_out_more_of_the_same_samples():
    y = torch.arange(100).double()
    few, many = (dealt_anew(y, share, seed=3, name="x") != y for share in (0.3, 1.0))
    assert few.sum() <= 30 and many.sum() > 90


def test_start_and_steps_are_those_of_the_theorem():
    start = printed_start(AT, 4000, DELTA, seed=0)
    assert start.W.std().item() == pytest.approx(AT.smallest * DELTA / N, rel=0.02)
    assert printed_start(AT, 4000, DELTA, seed=0, kappa=0.5).W.std().item() == pytest.approx(0.5, rel=0.02)
    assert printed_steps(AT, DELTA) == pytest.approx(AT.largest / AT.smallest * math.log(N / DELTA), rel=1e-6)


def test_no_failure_in_sixty_draws_is_just_enough_for_one_in_twenty():
    share, upper = failure_rate([0.5] * 60)
    assert share == 0 and upper == pytest.approx(1 - 0.05 ** (1 / 60), rel=1e-9) and upper < 0.05
    assert failure_rate([0.5] * 58)[1] > 0.05
    assert failure_rate([2.0, 0.5, 1.0, 0.1])[0] == 0.25
    assert failure_rate([2.0, 2.0]) == (1.0, 1.0)


def test_the_weakest_passing_rung_is_the_one_before_the_first_failure():
    assert weakest_passing({0.0: 0.1, 0.2: 0.9, 0.4: 1.1, 0.6: 0.8}) == 0.2
    assert weakest_passing({100: 0.1, 10: 1.0}) == 10
    assert math.isnan(weakest_passing({100: 1.1, 10: 0.9}))
    assert math.isnan(weakest_passing({100: math.nan}))


def test_the_ladders_take_away_one_thing_at_a_time():
    seen = []
    y = torch.arange(N).double()

    def learner(at, labels, k):
        assert torch.equal(at.bound, AT.bound) and len(at.X) == len(labels) and torch.equal(at.X, X[: len(at.X)])
        seen.append((len(at.X), (labels != y[: len(labels)]).double().mean().item(), k))
        return at.largest

    found = ladders(AT, y, {"labels": (0.0, 1.0), "samples": (20, 1), "steps": (5,)}, learner, seed=0)
    assert [(n, k) for n, _, k in seen] == [(N, None), (N, None), (20, None), (1, None), (N, 5)]
    assert [moved > 0 for _, moved, _ in seen] == [False, True, False, False, False]
    assert found["labels"].keys() == {0.0, 1.0} and found["samples"][1] == pytest.approx(0.5)  # H of one input
    assert found["steps"][5] == AT.largest
