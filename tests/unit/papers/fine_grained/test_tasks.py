import pytest
import torch

from hierlib.data.spheres import uniform_heights
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm
from hierlib.papers.fine_grained.tasks import TASKS, four_corners, height_tasks, ring


def test_each_column_is_the_task_of_that_name():
    X = torch.tensor([[0.5, 9.0], [-1.0, 9.0]]).double()
    columns = dict(zip(TASKS, height_tasks(X, seed=0, name="coins", noise=0.25).T, strict=True))
    assert columns["linear"].tolist() == [0.5, -1]
    assert columns["square"].tolist() == [0.25, 1]
    assert ((columns["noisy"] - 0.75 * X[:, 0]).abs() == 0.25).all()


def test_all_labels_stay_between_minus_one_and_one_and_come_close_to_it():
    Y = height_tasks(uniform_heights(5000, 6, seed=0), seed=0, name="coins")
    assert Y.abs().max() <= 1
    assert (Y.abs().max(0).values > 0.99).all()


def test_the_coins_are_fair_and_depend_on_their_name_and_seed_only():
    def coins(seed, name):
        return height_tasks(torch.zeros(10_000, 2).double(), seed, name, noise=1.0)[:, 2]

    assert coins(0, "a").mean().abs() < 0.05
    assert torch.equal(coins(0, "a"), coins(0, "a"))
    assert not torch.equal(coins(0, "a"), coins(1, "a"))
    assert not torch.equal(coins(0, "a"), coins(0, "b"))


def test_the_four_corners_are_unit_vectors_with_two_questions():
    X, Y = four_corners(4000, 6, seed=0, name="x", height=0.6)
    assert torch.allclose(X.norm(dim=1), torch.ones(4000).double())
    assert torch.allclose(X[:, 0], 0.6 * Y[:, 0])
    assert torch.allclose(X[:, 0] * X[:, 1], 0.36 * Y[:, 1])
    assert (X.T @ Y[:, 1] / 4000).abs().max() < 0.06  # no direction knows the second label
    assert Y.mean(0).abs().max() < 0.06
    assert X[:, 2:].mean(0).abs().max() < 0.06


def test_flips_turn_the_expected_share_of_labels_and_no_input():
    X, Y = four_corners(20_000, 4, seed=0, name="x", height=0.5, flips=0.1)
    assert torch.equal(X, four_corners(20_000, 4, seed=0, name="x", height=0.5)[0])
    assert (X[:, 0] * Y[:, 0] < 0).double().mean().item() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("height", [0.4, 0.6])
def test_their_paths_are_as_short_as_promised(height):
    X, Y = four_corners(300, 6, seed=1, name="x", height=height)
    side, product = inverse_norm(relu_gram(X), Y)
    assert 0.9 * 2 / height <= side <= 2 / height
    assert 0.5 * torch.pi**0.5 / height**2 <= product <= torch.pi**0.5 / height**2


def test_the_ring_has_unit_vectors_and_three_tasks():
    X, Y = ring(4000, 6, seed=0, name="x", radius=0.8, noise=0.1)
    assert torch.allclose(X.norm(dim=1), torch.ones(4000).double())
    assert torch.allclose(X[:, :2].norm(dim=1), torch.full((4000,), 0.8).double())
    assert torch.allclose(Y[:, 0], X[:, 0] / 0.8)
    assert torch.allclose(Y[:, 1], (X[:, 0].square() - X[:, 1].square()) / 0.64)
    assert torch.allclose((Y[:, 2] - 0.9 * Y[:, 1]).abs(), torch.full((4000,), 0.1).double())
    assert X.mean(0).abs().max() < 0.05 and Y.mean(0).abs().max() < 0.05


def test_its_paths_are_as_short_as_promised():
    X, Y = ring(300, 6, seed=1, name="x", radius=0.8, noise=0.0)
    linear, square, _ = inverse_norm(relu_gram(X), Y)
    assert 0.9 * 2 / 0.8 <= linear <= 2 / 0.8
    assert 0.5 * 2 * torch.pi**0.5 / 0.64 <= square <= 2 * torch.pi**0.5 / 0.64
