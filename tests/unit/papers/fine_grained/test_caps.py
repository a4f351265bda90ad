import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.papers.fine_grained.caps import cap


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
