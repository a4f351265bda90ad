"""The kernel on norms against the recursion of numbers, against matrices of real samples, and its limit."""

import math

import pytest
import torch

from hierlib.kernels.arc_cosine import k0
from hierlib.kernels.recurrent import limit_parts
from hierlib.papers.rnn.degeneracy import gates_product, network_distances
from hierlib.papers.rnn.unequal_norms import constant_share, gates


def test_for_equal_norms_the_gates_are_those_of_the_recursion():
    L, norms = 12, [1.4] * 12
    product = float(math.prod(gates(norms, norms, L**-3.0)))
    assert product == pytest.approx(gates_product(network_distances(L, L**-3.0, 1.4**2)), rel=1e-12)
    assert constant_share([norms], 0, L**-3.0) == pytest.approx(product)


def test_the_share_is_what_remains_of_real_samples_with_many_copies():
    kinds, L, found = [[1.0, 0.5], [1.0, 1.5]], 2, []
    for copies in (40, 80, 160):
        n = copies * len(kinds)
        X = torch.zeros(n, L, n, dtype=torch.float64)
        for i in range(n):
            X[i, :, i] = torch.tensor(kinds[i % 2], dtype=torch.float64)
        G = k0(limit_parts(X, L**-3.0).correlations[1]).fill_diagonal_(1.0)
        found.append(1 / torch.linalg.solve(G, torch.ones(n, dtype=torch.float64)).sum().item())
    share = constant_share(kinds, 1, L**-3.0)
    assert share < found[2] < found[1] < found[0]
    assert 2 * found[2] - found[1] == pytest.approx(share, abs=0.01)  # the rest falls like one over the copies


def test_with_many_norms_the_share_of_one_gate_falls_to_one_half():
    shares = [constant_share([[1.0, 0.5 + i / (N - 1)] for i in range(N)], 1, 1 / 8) for N in (2, 4, 8, 12)]
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < shares[-1] < 0.502
