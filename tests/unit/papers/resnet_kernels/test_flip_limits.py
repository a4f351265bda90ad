"""The laws for wide blocks against their asymptotes and against the worst movements of a drawn block."""

import math

import pytest
import torch

from hierlib.nets.residual import residual
from hierlib.papers.resnet_kernels import lemma_d1
from hierlib.papers.resnet_kernels.flip_limits import operator_limit, start_limit


@pytest.mark.parametrize(
    ("limit", "asymptote"),
    [
        (operator_limit, lambda r: lemma_d1.operator_size(1, 1.0, r)),
        (start_limit, lambda r: lemma_d1.start_size(1, 1, 1.0, r)[0]),
    ],
)
def test_the_limits_for_any_ratio_are_the_power_laws_when_it_is_small_and_end_at_all_gates(limit, asymptote):
    assert limit(1e-3) == pytest.approx(asymptote(1e-3), rel=1e-3)
    assert limit(0.3) < asymptote(0.3)
    assert limit(0.70) == pytest.approx(1 / math.pi, rel=0.02)  # every gate whose sign helps: 1/2 E|a b|, 1/2 E|a h|


def test_the_limits_are_what_the_worst_movements_of_a_wide_block_add():
    m, ratio = 200_000, 0.1
    net = residual(m, 3, 1, 0, 1.0, 1.0)
    h, v = net.V[:, 0], net.V[:, 1:]
    p = lemma_d1.worst_operator(net.A, v, h, ratio)
    added = (net.A @ (((h + p >= 0).double() - (h >= 0).double())[:, None] * v)).norm().item()
    assert added == pytest.approx(operator_limit(ratio), rel=0.02)
    p = lemma_d1.worst_start(net.A, h, ratio)
    added = (net.A @ ((h + p >= 0) * h) - net.A @ torch.relu(h)).norm().item()
    assert added == pytest.approx(start_limit(ratio), rel=0.02)
