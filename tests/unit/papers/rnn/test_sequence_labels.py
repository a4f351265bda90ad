"""One label per step: limits against wide networks and against the blocks they belong to."""

import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.kernels.recurrent import limit_gram
from hierlib.nets.recurrent import gradient, recurrent, states
from hierlib.papers.rnn.sequence_labels import as_matrix, features, linear_chain, output_blocks

L, S2 = 4, 4**-3.0


def test_the_last_block_is_the_kernel_of_the_last_output():
    X, new = token_sequences(5, L, 3, 0), token_sequences(4, L, 3, 1)
    assert torch.allclose(output_blocks(X, S2)[-1, -1], limit_gram(X, S2))
    assert torch.allclose(output_blocks(new, S2, X)[-1, -1], limit_gram(new, S2, X))


def test_a_row_of_the_matrix_is_an_output_of_a_sequence():
    blocks = torch.arange(2 * 2 * 3 * 3).reshape(2, 2, 3, 3)
    assert as_matrix(blocks)[2 * 2 + 1, 2 * 1 + 0] == blocks[1, 0, 2, 1]


def test_features_are_the_factors_of_each_gradient():
    net, x = recurrent(20, 3, S2, seed=0), token_sequences(1, L, 3, 0)[0]
    signals, before = features(net, x)
    for a in range(L):
        formed = torch.einsum("li,lj->ij", signals[a], before)
        assert torch.allclose(formed, gradient(net, x[: a + 1]))


def test_blocks_are_the_limit_of_products_of_features():
    X = token_sequences(2, L, 3, 0)
    found = []
    for seed in range(12):
        (b, h), (c, g) = (features(recurrent(512, 3, S2, seed), x) for x in X)
        found.append(torch.einsum("aki,bli,kj,lj->ab", b, c, h, g) / 512)
    assert torch.allclose(torch.stack(found).mean(0), output_blocks(X, S2)[:, :, 0, 1], atol=0.15)


def test_with_output_weights_of_their_own_outputs_have_nothing_in_common():
    x = token_sequences(1, L, 3, 0)[0]
    net = recurrent(1024, 3, S2, seed=0)
    own = torch.stack([recurrent(1024, 3, S2, seed).B for seed in range(1, L + 1)])
    signals, _ = features(net, x, own)
    products = torch.einsum("ai,bi->ab", signals[:, 0], signals[:, 0]) / 1024
    assert (products - products.diagonal().diag()).abs().max() < 0.15 < products.diagonal().min()


def test_the_chain_picks_out_its_own_state_and_doubles():
    X = token_sequences(1, L, 3, 0)
    products, lengths = [], []
    for seed in range(8):
        net = recurrent(1024, 3, S2, seed)
        chain = linear_chain(net, L)
        products.append(chain @ states(net, X).hidden[:, 0].T)
        lengths.append(chain.square().sum(1))
    mean = torch.stack(products).mean(0)
    assert mean.diagonal().tolist() == pytest.approx([1] * (L + 1), abs=0.25)
    assert (mean - mean.diagonal().diag()).abs().max() < 0.25
    assert torch.stack(lengths).mean(0).tolist() == pytest.approx([2.0 ** (k + 1) for k in range(L + 1)], rel=0.1)
