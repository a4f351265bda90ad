import pytest
import torch
from scipy import stats

from hierlib.data.spheres import unit_sphere


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
