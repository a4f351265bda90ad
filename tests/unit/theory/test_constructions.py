from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import torch

from hierlib.streams import normals
from hierlib.theory.constructions import gated_outputs, neuron_variance, representing_weights, unit_step, worst_change
from hierlib.theory.hermite import gate_function


class Target(NamedTuple):
    a: torch.Tensor
    coefficients: torch.Tensor
    w1: torch.Tensor
    w2: torch.Tensor


def normal(*shape, name="numbers"):
    return normals(shape, 0, name)


def unit(*shape, name):
    return torch.nn.functional.normalize(normal(*shape, name=name), dim=-1)


K, P, D, N = 2, 3, 5, 7
SERIES = torch.tensor([0.3, 0.8, 0.0, -0.5], dtype=torch.float64) * (1 + 0.2 * normal(K, P, 4))
TARGET = Target(normal(K, P).clamp(-1, 1), SERIES, unit(K, P, D, name="w1"), unit(K, P, D, name="w2"))
Z = 1.3 * unit(N, D, name="inputs")


def value(f, z):
    """Definition B.1 at one input, term by term."""
    total = torch.zeros(K, dtype=torch.float64)
    for r, i in product(range(K), range(P)):
        t = f.w1[r, i] @ z / z.norm()
        total[r] += f.a[r, i] * np.polynomial.polynomial.polyval(t.item(), f.coefficients[r, i].numpy()) * (f.w2[r, i] @ z)
    return total


def layer(m):
    return normal(K, m, name="A") * m**-0.5, normal(m, D, name="directions")


def test_the_weights_are_the_formula_of_the_paper():
    A, g = layer(4)
    W = representing_weights(TARGET, A, g)
    for j in range(4):
        row = torch.zeros(D, dtype=torch.float64)
        for r, i in product(range(K), range(P)):
            h = gate_function(TARGET.coefficients[r, i].numpy(), (g[j] @ TARGET.w1[r, i]).item())
            row += A[r, j] * TARGET.a[r, i] * h.item() * TARGET.w2[r, i]
        assert W[j] == pytest.approx(row, rel=1e-10)


def test_gated_outputs_are_matrix_products():
    A, g = layer(6)
    W = normal(6, D, name="W")
    on = Z @ g.T >= 0
    expected = torch.stack([A @ torch.diag(on[n].double()) @ W @ Z[n] for n in range(N)])
    assert gated_outputs(A, on, W, Z) == pytest.approx(expected)


def test_a_wide_layer_represents_the_target_within_the_predicted_error():
    m = 100_000
    A, g = layer(m)
    error = gated_outputs(A, Z @ g.T >= 0, representing_weights(TARGET, A, g), Z) - torch.stack(
        [value(TARGET, z) for z in Z]
    )
    predicted = (neuron_variance(TARGET, normal(20_000, D, name="others"), Z) / m) ** 0.5
    assert (error.abs() / predicted).max() < 4
    assert (error / predicted).square().mean() == pytest.approx(1, abs=0.6)


@pytest.mark.slow
def test_the_variance_per_neuron_is_that_of_many_small_layers():
    m, layers = 8, 4000
    A = normal(layers, K, m, name="many A") * m**-0.5
    g = normal(layers, m, D, name="many directions")
    outputs = torch.stack(
        [gated_outputs(a, Z @ b.T >= 0, representing_weights(TARGET, a, b), Z) for a, b in zip(A, g, strict=True)]
    )
    predicted = neuron_variance(TARGET, normal(50_000, D, name="others"), Z) / m
    assert (outputs.var(0) / predicted).mean() == pytest.approx(1, abs=0.1)


def test_the_variance_of_a_linear_function_is_known():
    # phi = 1: H = 2 <w2, z> behind half of the gates, so V = (3 * 4 / 2 - 1) <w2, z>^2
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    linear = Target(one[0], one, TARGET.w1[:1, :1], TARGET.w2[:1, :1])
    V = neuron_variance(linear, normal(50_000, D, name="others"), Z)[:, 0]
    assert (V / (Z @ linear.w2[0, 0]) ** 2).tolist() == pytest.approx([5.0] * N, rel=0.02)


def worst(A, pre, values, budget, probes):
    """At one input."""
    numbers = torch.tensor([budget], dtype=torch.float64), torch.tensor(probes, dtype=torch.float64)
    return worst_change(A, pre[None], values[None], *numbers).item()


def test_the_worst_flips_are_within_reach_and_as_good_as_all_subsets():
    m, budget = 10, 0.6
    A, pre, values = normal(1, m, name="small A"), normal(m, name="pre"), normal(m, name="values")
    best = 0.0
    for subset in product([False, True], repeat=m):
        mask = torch.tensor(subset)
        if (pre[mask] ** 2).sum() <= budget**2:
            best = max(best, (torch.where(pre >= 0, -1.0, 1.0) * values * A[0])[mask].sum().abs().item())
    found = worst(A, pre, values, budget, [[1.0], [-1.0]])
    assert found <= best + 1e-12
    assert found >= best - (values * A[0]).abs().max()  # one gate at most is missing


def test_a_perturbation_of_that_norm_really_makes_these_flips():
    m, budget = 50, 0.4
    A, pre, values = normal(1, m, name="some A"), normal(m, name="some pre"), normal(m, name="some values")
    gain = torch.where(pre >= 0, -1.0, 1.0) * values * A[0]
    order = (gain / pre**2).argsort(descending=True)
    chosen = order[((pre**2)[order].cumsum(0) <= budget**2) & (gain[order] > 0)]
    z = Z[0]
    W = torch.zeros(m, D, dtype=torch.float64)
    W[chosen] = -pre[chosen, None] * (1 + 1e-9) * z / (z @ z)
    assert torch.linalg.matrix_norm(W, 2) * z.norm() <= budget * (1 + 1e-8)
    change = A @ (((pre + W @ z >= 0).double() - (pre >= 0).double()) * values)
    assert change.norm() == pytest.approx(worst(A, pre, values, budget, [[1.0]]))


def test_inputs_do_not_mix():
    A, pre, values = normal(2, 30, name="A30"), normal(3, 30, name="pre30"), normal(3, 30, name="values30")
    budgets, probes = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), unit(6, 2, name="probes")
    together = worst_change(A, pre, values, budgets, probes)
    alone = [worst(A, pre[n], values[n], budgets[n].item(), probes.tolist()) for n in range(3)]
    assert together.tolist() == pytest.approx(alone)
    same = worst_change(A, pre, values, 1.0, probes)
    assert same[1] == together[1] and same[0] > together[0]


def test_a_random_step_has_spectral_norm_one():
    step = unit_step(20, 3, 0, "step")
    assert (step @ unit(500, 3, name="directions").T).norm(dim=0).max() == pytest.approx(1, abs=0.02)
