"""Sequences have the norms that were asked for, labels have their margin."""

import pytest
import torch

from hierlib.data.sequences import labelled, token_sequences, with_margin


def test_norms_fill_their_interval_and_unit_tokens_are_the_same_directions():
    X = token_sequences(500, 3, 4, 1, norms=(0.5, 1.5))
    sizes = X.norm(dim=2)
    assert 0.5 <= sizes.min() < 0.51 and 1.49 < sizes.max() <= 1.5
    assert torch.allclose(X / sizes[..., None], token_sequences(500, 3, 4, 1))


def test_labels_have_margin_one_and_the_share_that_was_asked_for():
    X = token_sequences(400, 2, 3, 2)
    found = with_margin(X, X[:, 0, 0], 0.25)
    assert len(found.X) == pytest.approx(100, abs=1) and found.F.abs().min().item() == pytest.approx(1.0)
    assert torch.equal(found.y, found.X[:, 0, 0].sign())


def test_a_teacher_labels_fresh_sequences():
    found = labelled(100, 4, 3, 3, lambda X: X[:, 1, 0] * X[:, 3, 1])
    assert found.X.shape == (100, 4, 3) and (found.y * found.F >= 1 - 1e-12).all() and abs(found.y.mean()) < 0.4
