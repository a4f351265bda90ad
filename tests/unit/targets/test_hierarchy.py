"""Base and composite signal of the two tasks."""

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.targets.hierarchy import coordinate_product, paired_parities


def test_paired_parities_are_products_of_pairs_and_signed_products_of_those():
    X = hypercube(20, 30, seed=0)
    F, G = paired_parities(X)
    for x, f, g in zip(X, F, G, strict=True):
        pairs = [x[2 * i] * x[2 * i + 1] for i in range(8)]
        halves = [pairs[0] * pairs[1] * pairs[2] * pairs[3], pairs[4] * pairs[5] * pairs[6] * pairs[7]]
        assert f.tolist() == pairs
        assert g.tolist() == [halves[i // 4] * (-1) ** i for i in range(8)]


def test_the_fourteen_last_coordinates_are_noise():
    X = hypercube(20, 30, seed=0)
    other = torch.cat([X[:, :16], hypercube(20, 14, seed=1)], dim=1)
    assert torch.equal(paired_parities(X).labels(0.3), paired_parities(other).labels(0.3))


@pytest.mark.parametrize("signal", [lambda X: paired_parities(X, 4), lambda X: coordinate_product(X, 4)])
def test_the_two_signals_have_mean_square_one_and_are_uncorrelated_on_the_whole_cube(signal):
    F, G = signal(all_corners(10))
    assert torch.allclose(F.square().mean(0), torch.ones(4).double())
    assert torch.allclose(G.square().mean(0), torch.ones(4).double())
    assert (F.T @ G).abs().max() < 1e-9


def test_labels_are_the_weighted_sum():
    signal = coordinate_product(hypercube(5, 6, seed=0), 2)
    assert torch.equal(signal.labels(0.3, 2.0), 2 * signal.F + 0.3 * signal.G)


def test_a_task_that_does_not_fit_the_inputs_is_refused():
    with pytest.raises(
        ValueError, match=r"^paired parities need an even k and at least 2k input coordinates, got k = 8, d = 10$"
    ):
        paired_parities(hypercube(3, 10, seed=0))
