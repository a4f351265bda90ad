"""A choice is made on validation data only, and reported on other seeds."""

import pytest
import torch

from hierlib.papers.resnet_kernels import choose
from hierlib.papers.resnet_kernels.choose import search
from hierlib.papers.resnet_kernels.methods import Task, judge
from hierlib.targets.hierarchy import paired_parities
from hierlib.train.grid import Schedule

TASK = Task(10, lambda X: paired_parities(X, 4))
PLAN = Schedule(3, 2)


def test_the_choice_is_made_on_validation_points_and_reported_on_other_seeds(monkeypatch):
    """With false errors on the validation points the choice must follow them."""
    calls, points = [], []

    def false_judge(settings, results, X, task):
        found = judge(settings, results, X, task)
        calls.append([s.seed for s in settings])
        points.append(X)
        return found._replace(error=torch.arange(len(settings), 0, -1.0)) if len(calls) == 1 else found

    monkeypatch.setattr(choose, "judge", false_judge)
    found = search("3resnet", [4, 6], 20, [0.1, 0.2], [0.0, 0.1], [0], [7, 8, 9], TASK, PLAN, points=50)
    assert [(s.m, s.rate, s.decay) for s in found.chosen] == [(4, 0.2, 0.1), (6, 0.2, 0.1)], "the last has the least error"
    assert calls[2] == [7, 8, 9, 7, 8, 9] and found.fresh.error.shape == (2, 3) and found.tested.error.shape == (2, 4)
    assert found.validation.tolist() == [5, 1] and found.setting.m == 6, "of the two widths, the one with the smaller error"
    assert torch.equal(found.again.error, found.fresh.error[1])
    assert found.best_of_grid == found.tested.error.min() and found.least == min(found.best_of_grid, found.fresh.error.min())
    assert not torch.equal(points[0], points[1]) and torch.equal(points[1], points[2]), "validation is not test"


def test_a_seed_that_chose_cannot_be_fresh():
    with pytest.raises(ValueError, match=r"^seed 0 chooses the setting, so it cannot be one of the fresh seeds$"):
        search("3resnet", [4], 20, [0.1], [0.0], [0], [0, 1], TASK, PLAN)


def test_of_several_seeds_the_median_counts(monkeypatch):
    """A setting with one lucky run among bad ones is not chosen."""
    errors = iter([torch.tensor([0.1, 9.0, 8.0, 1.0, 2.0, 3.0])])

    def false_judge(settings, results, X, task):
        found = judge(settings, results, X, task)
        return found._replace(error=next(errors, found.error))

    monkeypatch.setattr(choose, "judge", false_judge)
    found = search("3resnet", [4], 20, [0.1], [0.0, 0.1], [0, 1, 2], [7], TASK, PLAN, points=50)
    assert found.setting.decay == 0.1 and found.validation.tolist() == [2.0] and found.tested.error.shape == (1, 6)
