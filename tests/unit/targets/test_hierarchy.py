"""Base and composite signal, and reading them off an output."""

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.targets.hierarchy import coordinate_product, paired_parities, shares


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


def test_shares_split_the_error_of_an_output_exactly():
    X = all_corners(10)
    signal = coordinate_product(X, 4)
    noise = X[:, 5:9] * X[:, 6:10]
    found = shares(0.8 * 2 * signal.F + 0.25 * 0.3 * signal.G + 0.1 * noise, signal, alpha=0.3, beta=2.0)
    assert found.base.item() == pytest.approx(0.8) and found.composite.item() == pytest.approx(0.25)
    assert found.base_error.item() == pytest.approx(4 * 0.4**2)
    assert found.composite_error.item() == pytest.approx(4 * (0.75 * 0.3) ** 2)
    assert found.rest.item() == pytest.approx(4 * 0.01)
    assert found.error.item() == pytest.approx(4 * (0.16 + 0.050625 + 0.01))


def test_shares_of_a_stack_are_those_of_its_members():
    X = hypercube(50, 8, seed=0)
    signal = coordinate_product(X, 3)
    stack = torch.stack([signal.F, signal.G, signal.F + signal.G])
    together = shares(stack, signal, 0.5)
    for i, outputs in enumerate(stack):
        assert all(torch.allclose(a[i], b) for a, b in zip(together, shares(outputs, signal, 0.5), strict=True))


def test_labels_are_the_weighted_sum():
    signal = coordinate_product(hypercube(5, 6, seed=0), 2)
    assert torch.equal(signal.labels(0.3, 2.0), 2 * signal.F + 0.3 * signal.G)


def test_a_task_that_does_not_fit_the_inputs_is_refused():
    with pytest.raises(
        ValueError, match=r"^paired parities need an even k and at least 2k input coordinates, got k = 8, d = 10$"
    ):
        paired_parities(hypercube(3, 10, seed=0))
