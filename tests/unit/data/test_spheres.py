import pytest
import torch
from scipy import stats

from hierlib.data.spheres import around_axis, uniform_heights, unit_sphere


@pytest.mark.parametrize(("dtype", "rounding"), [(torch.float64, 1e-14), (torch.float32, 1e-6)])
def test_rows_are_unit_vectors_of_the_asked_kind(dtype, rounding):
    X = unit_sphere(50, 7, seed=0, dtype=dtype)
    assert X.shape == (50, 7) and X.dtype == dtype
    assert (X.double().norm(dim=1) - 1).abs().max() < rounding


def test_points_are_uniform():
    # Archimedes: in three dimensions every projection of the uniform sphere is uniform on [-1, 1].
    X = unit_sphere(5000, 3, seed=1)
    directions = torch.linalg.qr(torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [1.0, 0.0, 0.0]]).double()).Q
    for projection in (X @ directions).T:
        assert stats.kstest(projection.numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-4


def test_points_are_independent():
    n, d = 400, 5
    products = (unit_sphere(n, d, seed=2) @ unit_sphere(n, d, seed=2).T).triu(diagonal=1)
    pairs = n * (n - 1) / 2
    assert abs(products.sum() / pairs) < 5 / (d * pairs) ** 0.5  # each product has mean 0 and variance 1/d


def test_seed_and_name_choose_the_points():
    X = unit_sphere(4, 3, seed=0)
    assert torch.equal(X, unit_sphere(4, 3, seed=0))
    assert not torch.equal(X, unit_sphere(4, 3, seed=1))
    assert not torch.equal(X, unit_sphere(4, 3, seed=0, name="test points"))


def test_a_lower_precision_sees_the_same_points():
    assert torch.equal(unit_sphere(4, 3, 0, dtype=torch.float32), unit_sphere(4, 3, 0).float())


@pytest.mark.parametrize("d", [2, 3, 8])
def test_heights_are_uniform_in_every_dimension_and_points_uniform_around_the_axis(d):
    X = uniform_heights(5000, d, seed=0)
    assert torch.allclose(X.norm(dim=1), torch.ones(5000).double())
    assert stats.kstest(X[:, 0].numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-4
    assert X[:, 1:].mean(0).abs().max() < 0.06


def test_in_three_dimensions_uniform_heights_make_a_uniform_point():
    for projection in uniform_heights(5000, 3, seed=1).T:
        assert stats.kstest(projection.numpy(), stats.uniform(-1, 2).cdf).pvalue > 1e-4


def test_points_around_an_axis_have_the_heights_that_were_asked_for():
    heights = torch.tensor([-1.0, 0.0, 0.6]).double()
    X = around_axis(heights, 4, seed=0)
    assert torch.equal(X[:, 0], heights)
    assert torch.allclose(X.norm(dim=1), torch.ones(3).double())
