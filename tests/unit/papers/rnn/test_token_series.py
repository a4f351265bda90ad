"""Taylor weights of the recurrent kernel: series arithmetic against contour integrals, many digits, and the kernel."""

import mpmath
import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.arc_cosine import k0, k1
from hierlib.kernels.recurrent import limit_gram
from hierlib.papers.rnn.token_series import (
    contour_weights,
    defect,
    defect_of,
    kernel_of_products,
    limit_cost,
    open_share,
    token_weights,
)


def test_the_distance_from_one_is_that_of_the_arc_cosine_functions():
    u = torch.tensor([1e-3, 0.1, 0.7, 1.0, 1.6], dtype=torch.float64)
    assert torch.allclose(defect(u), 1 - k1(1 - u), atol=1e-15) and torch.allclose(open_share(u), k0(1 - u))


@pytest.mark.parametrize("u", [1e-12, 1e-9, 0.99e-6, 1.01e-6, 1e-4])
def test_nothing_cancels_near_one(u):
    with mpmath.workdps(60):
        x = mpmath.mpf(u)
        exact = x - (mpmath.sqrt(x * (2 - x)) - (1 - x) * mpmath.acos(1 - x)) / mpmath.pi
    assert defect(torch.tensor(u, dtype=torch.float64)).item() == pytest.approx(float(exact), rel=1e-13)
    assert defect_of(u) == pytest.approx(float(exact), rel=1e-13)


def test_the_kernel_of_unit_tokens_is_a_function_of_their_products():
    X = unit_sphere(6 * 4, 3, 1).reshape(6, 4, 3)
    t = torch.einsum("ild,jld->ijl", X, X)
    off = ~torch.eye(6, dtype=torch.bool)
    for gain in (1.0, 0.7):
        assert torch.allclose(kernel_of_products(t, 0.1, gain)[off], limit_gram(X, 0.1, gain=gain)[off], atol=1e-12)


@pytest.mark.parametrize("degrees", [{1: 4}, {3: 6}, {8: 5}, {2: 2, 5: 3}, {1: 1, 4: 1, 8: 1}])
def test_series_arithmetic_agrees_with_contour_integrals(degrees):
    L = 8
    weights = token_weights(L, degrees, L**-3.0)
    twin = contour_weights(L, degrees, L**-3.0, radius=0.5, points=32)
    assert weights.min() > 0
    assert torch.allclose(weights, twin, rtol=1e-6, atol=1e-12)


def test_tiny_weights_keep_their_digits():
    """Input scale one, the first of 64 tokens: 1e-19 of the kernel, which a contour integral cannot see."""
    L, s2 = 64, 1.0
    with mpmath.workdps(50):
        q, z, c, dc, T, dT = mpmath.mpf(1), None, mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
        for l in range(1, L + 1):  # noqa: E741
            before, q = q, q + s2
            z, dz = before * c / q, (before * dc + (s2 if l == 1 else 0)) / q
            on, slope = 1 - mpmath.acos(z) / mpmath.pi, 1 / (mpmath.pi * mpmath.sqrt(1 - z * z))
            T, dT = on * (T + before * c / 2), slope * dz * (T + before * c / 2) + on * (dT + before * dc / 2)
            c, dc = mpmath.sqrt(1 - z * z) / mpmath.pi + z * on, on * dz
    assert token_weights(L, {1: 1}, s2)[1].item() == pytest.approx(float(dT), rel=1e-11)


def test_positions_outside_the_sequence_are_refused():
    with pytest.raises(ValueError, match="positions are 1 to 4"):
        token_weights(4, {5: 1}, 0.1)


@pytest.mark.slow
def test_the_cost_of_a_linear_teacher_comes_to_its_limit():
    L, d, n = 4, 3, 1500
    X = unit_sphere(n * L, d, 2).reshape(n, L, d)
    y = X[:, 1] @ unit_sphere(1, d, 2, "teacher")[0]
    H = limit_gram(X, L**-3.0)
    found = (y @ torch.linalg.solve(H, y)).item()
    t = unit_sphere(400_000 * L, d, 3)[:, 0].reshape(-1, L)
    predicted = limit_cost(L**-3.0, L, d, (2,), t)
    assert found == pytest.approx(predicted, rel=0.03)
    assert predicted < 1 / token_weights(L, {2: 1}, L**-3.0)[1].item()
