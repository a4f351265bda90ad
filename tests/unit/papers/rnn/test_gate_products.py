"""Shares of products of gates: against the kernel of real sequences, and the series of one token."""

import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.kernels.arc_cosine import k0
from hierlib.kernels.recurrent import limit_parts
from hierlib.papers.rnn.gate_products import gates, share_from_above, share_from_below
from hierlib.papers.rnn.one_token import one_token_weights
from hierlib.theory.loewner import largest_share


def test_gates_are_those_of_the_limit_kernel():
    X = token_sequences(6, 5, 3, 0)
    t = torch.einsum("ild,jld->ijl", X, X)
    apart = ~torch.eye(6, dtype=torch.bool)
    expected = k0(limit_parts(X, 0.02, gain=0.9).correlations).movedim(0, -1)
    torch.testing.assert_close(gates(t, 0.02, 0.9)[apart], expected[apart])


@pytest.mark.parametrize("gain", [1.0, 0.8])
@pytest.mark.parametrize("position", [1, 3, 5])
def test_one_gate_is_that_of_the_series_of_one_token(position, gain):
    found = one_token_weights([1.0] * 5, position, 1, 5**-3.0, gain)
    quotients = found.tangent / found.gate
    assert share_from_above(5, [position], 5**-3.0, gain) <= quotients.min() * (1 + 1e-9)
    if position == 1:  # no earlier token is in the gate
        assert share_from_above(5, [1], 5**-3.0, gain) == pytest.approx(quotients.min().item())


@pytest.mark.parametrize("positions", [[1, 2], [2, 4], [1, 2, 3, 4]])
def test_what_a_sample_shows_lies_above_the_lower_bound(positions):
    """In high dimension and for many samples it comes near to what no share exceeds."""
    X = token_sequences(60, 4, 12, 0)
    parts = limit_parts(X, 4**-3.0)
    P = k0(parts.correlations[[position - 1 for position in positions]]).prod(0)
    P.diagonal().fill_(1)
    below, above = share_from_below(4, positions, 4**-3.0), share_from_above(4, positions, 4**-3.0)
    assert below <= above
    assert largest_share(parts.tangents[-1], P) >= below


def test_the_product_of_all_gates_has_at_least_one_half():
    assert share_from_below(7, range(1, 8), 0.1) == 0.5
