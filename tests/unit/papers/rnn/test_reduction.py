"""The reduction of earlier work: kernels against networks and against the full kernel's exact weights."""

import statistics
from functools import partial

import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.nets.recurrent import recurrent, states
from hierlib.papers.rnn.reduction import frozen_backward, frozen_states, second_order
from hierlib.papers.rnn.token_series import kernel_of_products, token_weights

L, S2 = 5, 0.05


def test_the_kernel_is_that_of_the_features_in_a_wide_network():
    X = token_sequences(2, L, 3, seed=0)
    values = []
    for seed in range(16):
        found = states(recurrent(1024, 3, S2, seed), X)
        common = (found.gates[:, 0] * found.gates[:, 1]).mean(-1)  # of Back^0 only its mean square is left, which is one
        values.append((common * (found.hidden[:-1, 0] * found.hidden[:-1, 1]).sum(-1)).sum().item())
    expected = frozen_backward((X[0] * X[1]).sum(-1), S2).item()
    assert statistics.mean(values) == pytest.approx(expected, abs=4 * statistics.stdev(values) / 4, rel=0)
    assert statistics.stdev(values) < 0.5


def test_second_order_coefficients_of_the_full_kernel_are_its_token_weights():
    found = second_order(partial(kernel_of_products, s2=S2), L, 2, 4)
    assert torch.allclose(found, token_weights(L, {2: 2, 4: 2}, S2), rtol=1e-8)


def test_with_frozen_states_it_is_a_sum_over_tokens():
    found = second_order(partial(frozen_states, s2=S2), L, 2, 4)
    assert found[1, 1].abs() < 1e-12 * found[2, 0]
    assert found[2, 0] == pytest.approx(found[0, 2])
