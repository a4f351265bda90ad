import math

import numpy as np
import pytest
import torch
from scipy.linalg import hadamard

from hierlib.data.cubes import all_corners, hypercube
from hierlib.kernels.hamming import conjugate, gaussian_kernel, tangent, weighted_gaussian
from hierlib.kernels.walsh import (
    degree_gram,
    degree_kernel,
    heaviest_products,
    in_walsh_basis,
    krawtchouk,
    off_diagonal,
    products,
    samples_until_not_dominant,
    spectrum_by_degree,
    subsets,
    walsh_transform,
)
from hierlib.streams import stream

D = 5
CORNERS = all_corners(D)
SIZES = torch.tensor([bin(i).count("1") for i in range(2**D)])


def test_the_transform_is_multiplication_with_the_hadamard_matrix():
    values = torch.randn(3, 2**D, generator=stream(0, "values"), dtype=torch.float64)
    assert np.allclose(walsh_transform(values), values.numpy() @ hadamard(2**D))
    assert torch.allclose(walsh_transform(walsh_transform(values)), 2**D * values)


def test_points_and_sets_are_numbered_alike():
    coefficients = walsh_transform(CORNERS[:, 0] * CORNERS[:, 3]) / 2**D
    expected = torch.zeros(2**D, dtype=torch.float64)
    expected[0b01001] = 1
    assert torch.equal(coefficients, expected)


def test_a_length_that_is_no_power_of_two_is_refused():
    for size in (0, 6):
        with pytest.raises(ValueError, match="2\\^d"):
            walsh_transform(torch.zeros(size))


def test_a_weighted_gaussian_has_the_product_spectrum():
    weights = torch.tensor([0.1, 0.2, 0.3, 0.7, 1.1], dtype=torch.float64)
    M = in_walsh_basis(weighted_gaussian(CORNERS, CORNERS, weights))
    member = (1 - CORNERS) / 2  # row S: which coordinates are in S
    factors = torch.where(member == 1, 1 - torch.exp(-4 * weights), 1 + torch.exp(-4 * weights)) / 2
    assert torch.allclose(M.diagonal(), factors.prod(1), atol=1e-15)
    assert off_diagonal(M) < 1e-13


def test_off_diagonal_mass_is_the_ratio_of_two_frobenius_norms():
    M = torch.tensor([[3.0, 5.0], [12.0, 4.0]]).double()
    assert off_diagonal(M) == pytest.approx(13 / 5)


@pytest.mark.parametrize("kernel", [lambda X, Z: gaussian_kernel(X, Z, 6.0), lambda X, Z: tangent(X, Z, 2)])
def test_the_spectrum_by_degree_is_the_diagonal_of_the_full_transform(kernel):
    diagonal = in_walsh_basis(kernel(CORNERS, CORNERS)).diagonal()
    assert torch.allclose(spectrum_by_degree(kernel, D)[SIZES], diagonal, atol=1e-14)


def test_the_spectrum_by_degree_sums_to_the_diagonal_and_is_known_for_products():
    d = 30
    counts = torch.tensor([math.comb(d, k) for k in range(d + 1)], dtype=torch.float64)
    assert (spectrum_by_degree(lambda X, Z: conjugate(X, Z, 3), d) @ counts).item() == pytest.approx(31 / 30 / 4)
    square = spectrum_by_degree(lambda X, Z: (1 + X @ Z.T / d) ** 2, d)
    assert torch.allclose(square[:4], torch.tensor([1 + 1 / d, 2 / d, 2 / d**2, 0]).double(), atol=1e-14)


def test_krawtchouk_numbers_are_sums_over_corners():
    for h in range(D + 1):
        for k in range(D + 1):
            assert krawtchouk(h, k, D) == CORNERS[h == SIZES][:, :k].prod(1).sum().item()


def test_products_are_products_and_their_gram_matrix_needs_no_features():
    X, sets = hypercube(12, 9, 0), subsets(9, 3)
    Phi = products(X, sets)
    assert Phi.shape == (12, math.comb(9, 3))
    assert Phi[4, 17] == math.prod(X[4, j].item() for j in sets[17])
    assert torch.equal(degree_gram(X, 3), Phi @ Phi.T)
    Z = hypercube(5, 9, 1)
    assert torch.equal(degree_kernel(X, Z, 3), Phi @ products(Z, sets).T)


def test_the_heaviest_products_have_the_largest_entries_of_the_spectrum():
    weights = torch.tensor([0.1, 0.2, 0.3, 0.7, 1.1], dtype=torch.float64)
    squares = in_walsh_basis(weighted_gaussian(CORNERS, CORNERS, weights)).diagonal()
    heaviest = heaviest_products(weights, 2, 0.3)
    assert len(heaviest) == 3
    number = {tuple(s): squares[2 ** s[0] + 2 ** s[1]].item() for s in subsets(D, 2).tolist()}
    assert sorted(number, key=number.get)[-3:] == sorted(map(tuple, heaviest.tolist()), key=number.get)


def test_dominance_ends_where_the_row_sums_say():
    X = hypercube(60, 14, 0)
    N = samples_until_not_dominant(X, 3)

    def worst(n):
        gram = products(X[:n], subsets(14, 3)) @ products(X[:n], subsets(14, 3)).T
        return (gram - gram.diagonal().diag()).abs().sum(1).max() / gram[0, 0]

    assert 1 < N < 60 and worst(N) <= 0.5 < worst(N + 1)
    assert samples_until_not_dominant(X[:2], 3) == 2
