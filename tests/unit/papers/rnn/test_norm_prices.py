"""Prices between norms: against the Gram matrices of sequences, and against numbers known by other means."""

import math

import mpmath
import pytest
import torch

from hierlib.kernels.arc_cosine import k0
from hierlib.kernels.recurrent import limit_gram, limit_parts
from hierlib.papers.rnn.norm_prices import direction_price, price_of_one, sign_price, spread


def test_norms_are_spread_evenly():
    assert spread(3, 0.5, 1.5) == [0.5, 1.0, 1.5]
    assert spread(1, 0.5, 1.5) == [1.0]


def test_the_price_in_a_hilbert_matrix_is_a_square():
    with mpmath.workdps(60):  # the sum of all entries of the inverse is n^2; its condition number is 1e16
        assert price_of_one(lambda i, j: mpmath.mpf(1) / (i + j + 1), range(12)) == pytest.approx(144, rel=1e-30)


def test_too_few_digits_are_noticed():
    with pytest.raises(ValueError, match="positive-definite"):
        sign_price(spread(12, 0.5, 1.5), 4, 4.0, 1.0, digits=15)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_price_of_the_sign_is_that_of_the_gram_matrix(count):
    norms = spread(count, 0.5, 1.5)
    x = torch.tensor([s * r for r in norms for s in (1, -1)], dtype=torch.float64)
    gram = k0((1.001 + x[:, None] * x / 64) / (1 + 4 / 64))
    sign = x.sign()
    expected = (sign @ torch.linalg.solve(gram, sign)).item()
    assert sign_price(norms, 4, 4.0, 1.001) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("L", [1, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_many_orthogonal_copies_come_to_the_price_from_below(L, whole):
    norms, tau = spread(2, 0.5, 1.5), 0.5
    found = direction_price(norms, L, tau, whole)
    shares = []
    for copies in (20, 80):
        count = 4 * copies
        X = torch.zeros(count, L, count + 1, dtype=torch.float64)
        signs = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(count // 2)
        X[:, 0, 0] = tau * signs
        X[:, 0, 1:] = math.sqrt(1 - tau**2) * torch.eye(count, dtype=torch.float64)
        X[:, 0] *= torch.tensor([r for r in norms for _ in (0, 1)], dtype=torch.float64).repeat(copies)[:, None]
        X[:, 1:, 0] = 1.0
        if whole:
            gram = limit_gram(X, L**-3.0)
        else:
            gram = k0(limit_parts(X[:, :1], L**-3.0).correlations[0]).fill_diagonal_(1)
        shares.append((signs @ torch.linalg.solve(gram, signs)).item() / found)
    assert shares[0] < shares[1] < 1
    assert 1 - shares[1] < (1 - shares[0]) / 2 < 0.25
