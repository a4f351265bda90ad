import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube, leaning_hypercube, unseen_corners


def test_points_are_signs_with_fair_and_independent_coordinates():
    X = hypercube(20000, 6, seed=0)
    assert X.shape == (20000, 6) and set(X.unique().tolist()) == {-1.0, 1.0}
    assert (X.T @ X / 20000 - torch.eye(6)).abs().max() < 5 / 20000**0.5
    assert X.mean(0).abs().max() < 5 / 20000**0.5


def test_the_seed_and_the_name_choose_the_points():
    assert torch.equal(hypercube(5, 8, 1), hypercube(5, 8, 1))
    assert not torch.equal(hypercube(5, 8, 1), hypercube(5, 8, 2))
    assert not torch.equal(hypercube(5, 8, 1), hypercube(5, 8, 1, "test"))


def test_leaning_coordinates_are_fair_and_depend_on_one_another():
    X, n = leaning_hypercube(40000, 5, seed=0, lean=0.6), 40000
    assert set(X.unique().tolist()) == {-1.0, 1.0} and X.mean(0).abs().max() < 5 / n**0.5
    off_diagonal = (X.T @ X / n)[~torch.eye(5, dtype=torch.bool)]
    assert (off_diagonal - 0.6**2).abs().max() < 5 / n**0.5
    assert abs(X[:, :4].prod(1).mean().item() - 0.6**4) < 5 / n**0.5


def test_all_corners_are_all_and_different():
    X = all_corners(7)
    assert X.shape == (128, 7) and len({tuple(x) for x in X.tolist()}) == 128
    assert X[5].tolist() == [-1, 1, -1, 1, 1, 1, 1]  # 5 = 101 in binary


def test_too_many_corners_are_refused():
    with pytest.raises(ValueError, match=r"^2\^25 corners do not fit in memory; d may be at most 24$"):
        all_corners(25)


def test_seen_and_unseen_corners_are_all_corners():
    X = hypercube(40, 6, seed=3)
    unseen = unseen_corners(X, seed=3)
    seen, left = ({tuple(x) for x in points.tolist()} for points in (X, unseen))
    assert not seen & left and len(left) == len(unseen) and len(seen) < 40, "some corners are drawn twice"
    assert seen | left == {tuple(x) for x in all_corners(6).tolist()}
    assert not torch.equal(unseen, unseen_corners(X, seed=4)), "the order is random"
