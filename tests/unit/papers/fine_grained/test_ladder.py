import torch

from hierlib.data.spheres import unit_sphere
from hierlib.papers.fine_grained.ladder import TASKS, ladder


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
