"""What is recalled of each token: eigenvalues against another average, prediction against regressions."""

import numpy as np
import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.kernels.recurrent import limit_gram
from hierlib.papers.rnn.recall import measured_recall, predicted_recall, token_eigenvalues
from hierlib.papers.rnn.token_series import kernel_of_products
from hierlib.streams import stream

L, S2 = 4, 0.05


@pytest.fixture(scope="module")
def draws():
    """Inner products of uniform unit vectors in three dimensions."""
    return 2 * torch.rand(2000, L, generator=stream(0, "products"), dtype=torch.float64) - 1


def test_eigenvalues_are_the_means_that_a_quadrature_gives():
    nodes, weights = (torch.from_numpy(values) for values in np.polynomial.legendre.leggauss(60))
    t = torch.cartesian_prod(nodes, nodes)
    H = kernel_of_products(t, S2) * torch.cartesian_prod(weights, weights).prod(1) / 4
    uniform = 2 * torch.rand(4000, 2, generator=stream(0, "pairs"), dtype=torch.float64) - 1
    assert token_eigenvalues([1, 2], S2, 1.0, uniform).tolist() == pytest.approx((H @ t).tolist(), rel=0.05)


def test_coordinates_are_eigenfunctions_with_these_eigenvalues(draws):
    X = token_sequences(1500, L, 3, seed=0)
    averaged = torch.einsum("ij,jld->ild", limit_gram(X, S2), X) / len(X)
    found = torch.einsum("ild,ild->l", averaged, X) / X.square().sum((0, 2))
    assert found.tolist() == pytest.approx(token_eigenvalues(range(1, L + 1), S2, 1.0, draws).tolist(), rel=0.2)


def test_the_prediction_is_what_a_regression_finds(draws):
    X, new = token_sequences(200, L, 3, 0, "train"), token_sequences(400, L, 3, 0, "test")
    H, rows = limit_gram(X, S2), limit_gram(new, S2, X)
    found, said = (
        measured_recall(H, rows, X, new),
        predicted_recall(H, token_eigenvalues(range(1, L + 1), S2, 1.0, draws[:500])),
    )
    assert found.tolist() == pytest.approx(said.tolist(), abs=0.03)


def test_recall_is_one_for_what_was_seen_and_zero_for_the_mean():
    X = token_sequences(30, L, 3, seed=1)
    H = limit_gram(X, S2)
    assert measured_recall(H, H, X, X).tolist() == pytest.approx([1] * L)
    assert measured_recall(H, torch.zeros(30, 30, dtype=torch.float64), X, X).tolist() == pytest.approx([0] * L)
