import math

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube, unseen_corners
from hierlib.kernels.hamming import conjugate, gaussian_kernel
from hierlib.kernels.ridge import RidgePath
from hierlib.kernels.walsh import subsets
from hierlib.papers.resnet_kernels.cube_regression import Solutions
from hierlib.papers.resnet_kernels.product_regression import ProductRegression, specialist_errors, two_steps
from hierlib.targets.hierarchy import coordinate_product

D, K_, ALPHA, RIDGES = 8, 3, 0.4, [1e-8, 1e-4, 1e-2]
X = hypercube(120, D, 0)
KERNELS = [lambda X, Z: gaussian_kernel(X, Z, 16.0), lambda X, Z: conjugate(X, Z, 2)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_errors_on_unseen_corners_are_those_on_every_one_of_them(kernel):
    assert len(torch.unique(X, dim=0)) < len(X), "a repetition must count once"
    new = unseen_corners(X, 0)
    Y, targets = (coordinate_product(points, K_).labels(ALPHA) for points in (X, new))
    expected = RidgePath(kernel(X, X), Y).errors(kernel(new, X), targets, RIDGES)
    found = ProductRegression(kernel, X, K_, RIDGES)
    assert torch.allclose(found.errors(ALPHA), expected, rtol=1e-7, atol=1e-9)
    assert found.best(ALPHA) == pytest.approx(expected.sum(1).min().item(), rel=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_rest_is_as_for_one_target(kernel):
    found, single = ProductRegression(kernel, X, K_, RIDGES), Solutions(kernel, X, K_, ALPHA, RIDGES)
    assert torch.allclose(found.errors(ALPHA, "cube"), single.errors, rtol=1e-7, atol=1e-9)
    assert torch.allclose(found.errors(ALPHA, "sample"), single.training_errors, rtol=1e-6, atol=1e-12)
    charged = torch.tensor(RIDGES)[:, None] * single.norms.square()
    assert torch.allclose(found.objective(ALPHA), (single.training_errors + charged).sum(1), rtol=1e-6)
    assert torch.allclose(found.norms(ALPHA), single.norms, rtol=1e-6)
    least = torch.tensor(RIDGES).double() * K_ * single.needed**2
    assert torch.allclose(found.cost_of_learning(ALPHA), least)


def test_the_objective_is_a_minimum():
    kernel, ridge = KERNELS[0], 1e-2
    K, Y = kernel(X, X), coordinate_product(X, K_).labels(ALPHA)
    beta = RidgePath(K, Y).coefficients([ridge])[0]

    def objective(beta):
        return ((K @ beta - Y).square().mean(0) + ridge * (beta * (K @ beta)).sum(0)).sum().item()

    found = ProductRegression(kernel, X, K_, [ridge]).objective(ALPHA).item()
    assert found == pytest.approx(objective(beta))
    assert objective(beta + 0.01 * torch.randn(beta.shape, generator=torch.Generator().manual_seed(0))) > found


def test_a_specialist_is_judged_on_the_corners_that_it_has_not_seen():
    c, kernel = 5, KERNELS[0]
    found = specialist_errors(kernel, X, c, K_, ALPHA, [1e-4])
    assert found.shape == (math.comb(c, K_),)
    number = 7
    chosen = subsets(c, K_)[number].tolist()
    order = chosen + [j for j in range(c) if j not in chosen]
    new = unseen_corners(X, 0)
    Y, targets = (coordinate_product(points[:, order], K_).labels(ALPHA) for points in (X, new))
    path = RidgePath(kernel(X[:, :c], X[:, :c]), Y)
    expected = path.errors(kernel(new[:, :c], X[:, :c]), targets, [1e-4]).sum()
    assert found[number].item() == pytest.approx(expected.item(), rel=1e-7)


def test_two_steps_learn_exactly_what_they_have_seen():
    assert two_steps(X, K_, ALPHA) == pytest.approx(0, abs=1e-20)
    assert math.isnan(two_steps(-torch.ones(4, D, dtype=torch.float64), K_, ALPHA))
    few = all_corners(K_)[:-1].repeat(3, 1)  # one pattern is missing; a fourth coordinate is useless
    few = torch.cat([few, torch.ones(len(few), 1, dtype=torch.float64)], 1)
    target = coordinate_product(all_corners(K_)[-1:], K_).labels(ALPHA)
    assert two_steps(few, K_, ALPHA) == pytest.approx(target.square().sum().item() / 2**K_)
