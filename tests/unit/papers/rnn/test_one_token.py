"""Power series of one token: against the kernel, against exact derivatives."""

import mpmath
import pytest
import torch

from hierlib.kernels.recurrent import limit_gram, limit_parts
from hierlib.kernels.recurrent import squares as squares_of
from hierlib.papers.rnn.one_token import lemma21_weights, one_token_weights


@pytest.mark.parametrize("t", [-0.6, 0.3, 0.6])
@pytest.mark.parametrize("gain", [1.0, 0.9])
def test_the_series_sum_up_to_the_kernel_for_any_norms(t, gain):
    squares, position, s2 = [0.3, 2.0, 0.7, 1.5], 3, 0.05
    d = 5
    X, Y = torch.zeros(1, 4, d, dtype=torch.float64), torch.zeros(1, 4, d, dtype=torch.float64)
    for i, square in enumerate(squares):
        X[0, i, 0], Y[0, i, 1] = square**0.5, square**0.5
    Y[0, 2, :2] = squares[2] ** 0.5 * torch.tensor([t, (1 - t * t) ** 0.5], dtype=torch.float64)
    found = one_token_weights(squares, position, 40, s2, gain)
    powers = t ** torch.arange(41, dtype=torch.float64)
    assert (found.tangent @ powers).item() == pytest.approx(limit_gram(X, s2, Y, gain).item(), rel=1e-8)
    z = limit_parts(X, s2, Y, gain).correlations[2].item()
    assert (found.gate @ powers).item() == pytest.approx(1 - float(mpmath.acos(z)) / float(mpmath.pi), rel=1e-8)
    assert pytest.approx(squares_of(X, s2, gain)[position].item()) == found.Q


def test_lemma_21_has_the_derivatives_of_the_arc_cosine():
    s2, square, room, mu = 0.02, 0.5, 3.0, 1.0
    found = lemma21_weights(square, room, mu, s2, 4)
    with mpmath.workdps(40):
        exact = mpmath.taylor(lambda t: 1 - mpmath.acos((mu + s2 * square * t) / (mu + s2 * room)) / mpmath.pi, 0, 4)
    assert found.tolist() == pytest.approx([float(value) for value in exact], rel=1e-10)


def test_there_is_no_position_zero():
    with pytest.raises(ValueError, match="positions are 1 to 3"):
        one_token_weights([1.0] * 3, 0, 2, 0.1)
