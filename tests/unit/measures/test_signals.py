"""Reading base and composite signal off an output."""

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.measures.signals import shares
from hierlib.targets.hierarchy import coordinate_product


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
