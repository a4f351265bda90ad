"""Arithmetic of cut power series: against numpy's polynomials, against sums written out, against known functions."""

import itertools
import math

import numpy as np
import pytest
import torch

from hierlib.streams import normals
from hierlib.theory.cut_series import compose, product


def test_a_product_is_that_of_polynomials():
    a, b = normals((3, 6), 1, "first"), normals((3, 6), 1, "second")
    for x, y, found in zip(a.numpy(), b.numpy(), product(a, b).numpy(), strict=True):
        assert np.allclose(found, np.convolve(x, y)[:6])


def test_a_product_in_several_variables_is_the_sum_over_exponents():
    shape = (2, 3, 4)
    a, b = normals((1, *shape), 2, "first")[0], normals((1, *shape), 2, "second")[0]
    expected = torch.zeros(shape, dtype=torch.float64)
    for i, j in itertools.product(itertools.product(*map(range, shape)), repeat=2):
        k = tuple(np.add(i, j))
        if all(np.less(k, shape)):
            expected[k] += a[i] * b[j]
    assert torch.allclose(product(a[None], b[None])[0], expected)


def test_composition_is_that_of_polynomials():
    outer, step = normals((2, 3, 5), 3, "outer"), normals((3, 4), 3, "step")
    step[:, 0] = 0.0
    found = compose(outer, step)
    for function, draw in itertools.product(range(2), range(3)):
        expected = np.polynomial.Polynomial(outer[function, draw].numpy())(np.polynomial.Polynomial(step[draw].numpy()))
        assert np.allclose(found[function][draw], expected.coef[:4])


def test_the_exponential_of_a_sum_is_the_product_of_exponentials():
    step = torch.zeros(1, 4, 3, dtype=torch.float64)
    step[0, 1, 0] = step[0, 0, 1] = 1.0
    inverse = torch.tensor([1 / math.factorial(i) for i in range(6)], dtype=torch.float64)
    (found,) = compose(inverse[None, None], step)
    assert torch.allclose(found[0], inverse[:4, None] * inverse[:3])


def test_tiny_coefficients_keep_their_digits():
    """(1 + 1e-30 x)^2: a transform of its values would lose all but the first."""
    a = torch.tensor([[1.0, 1e-30, 0.0]], dtype=torch.float64)
    assert product(a, a)[0].tolist() == pytest.approx([1.0, 2e-30, 1e-60], rel=1e-15, abs=0)
