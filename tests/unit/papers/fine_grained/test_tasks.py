import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.papers.fine_grained.tasks import TASKS, cap, ladder


def test_each_column_is_the_task_of_that_name():
    X = torch.tensor([[0.5, 9.0], [-2.0, 9.0]])
    columns = dict(zip(TASKS, ladder(X, torch.tensor([1.0, 0.0]), seed=0, name="coins").T.tolist(), strict=True))
    assert columns["linear"] == [0.5, -2]
    assert columns["quadratic"] == [0.25, 4]
    assert columns["cubic"] == [0.125, -8]
    assert columns["sign"] == [1, -1]


def test_the_coins_are_fair_and_depend_on_their_name_and_seed_only():
    X, Z = unit_sphere(10_000, 3, seed=0), unit_sphere(10_000, 3, seed=1)
    coins = ladder(X, X[0], seed=0, name="coins")[:, -1]
    assert coins.abs().min() == 1
    assert coins.mean().abs() < 0.05
    assert torch.equal(coins, ladder(Z, Z[0], seed=0, name="coins")[:, -1])
    assert not torch.equal(coins, ladder(X, X[0], seed=1, name="coins")[:, -1])
    assert not torch.equal(coins, ladder(X, X[0], seed=0, name="other coins")[:, -1])


@pytest.mark.parametrize("d", [2, 3, 10])
@pytest.mark.parametrize("probability", [0.5, 0.1, 0.002])
def test_the_cap_has_the_probability_that_was_asked_for(d, probability):
    n, centre = 200_000, unit_sphere(1, d, seed=1)[0]
    share = cap(unit_sphere(n, d, seed=0), centre, probability).mean().item()
    assert share == pytest.approx(probability, abs=5 * (probability * (1 - probability) / n) ** 0.5)


def test_in_three_dimensions_its_height_is_twice_its_probability():
    # Archimedes: the area of a cap is proportional to its height, so the edge is at 1 - 2 * 0.1 = 0.8
    heights = torch.tensor([0.79, 0.81, 1.0, -1.0]).double()
    X = torch.stack([heights, (1 - heights**2).sqrt(), 0 * heights], dim=1)
    assert cap(X, torch.tensor([1.0, 0.0, 0.0]).double(), 0.1).tolist() == [0, 1, 1, 0]
