"""Taylor weights of the recurrent kernel: series arithmetic against contour integrals, many digits, and the kernel."""

import math

import mpmath
import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.arc_cosine import k0, k1
from hierlib.kernels.recurrent import limit_gram, limit_parts
from hierlib.kernels.recurrent import squares as squares_of
from hierlib.papers.rnn.token_series import (
    arc_cosine_taylor,
    defect,
    defect_of,
    distances,
    kernel_of_products,
    kernel_series,
    open_share,
    token_weights,
)


def contour_weights(t, degrees, s2, gain, radius=0.5, points=32):
    """The weights by Cauchy's integral: one Fourier transform on the torus |t_l| = radius, the other cosines t (L,)."""
    circle = radius * torch.exp(2j * math.pi * torch.arange(points, dtype=torch.float64) / points)
    cosines = t.to(torch.complex128).repeat(*(points,) * len(degrees), 1)
    for axis, position in enumerate(degrees):
        cosines[..., position - 1] = circle.reshape([points if i == axis else 1 for i in range(len(degrees))])
    sums = torch.fft.fftn(kernel_of_products(cosines, s2, gain)).real / points ** len(degrees)
    kept = sums[tuple(slice(0, degree + 1) for degree in degrees.values())]
    return kept / radius ** sum(torch.meshgrid(*(torch.arange(n) for n in kept.shape), indexing="ij"))


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


@pytest.mark.parametrize("u", [0.01, 0.4, 0.99])
def test_taylor_coefficients_are_those_of_the_arc_cosine_functions(u):
    found = arc_cosine_taylor(torch.tensor([u], dtype=torch.float64), 8)[:, 0]
    with mpmath.workdps(60):
        on = lambda z: 1 - mpmath.acos(z) / mpmath.pi  # noqa: E731
        exact = [on, lambda z: mpmath.sqrt(1 - z * z) / mpmath.pi + z * on(z)]
        for function, coefficients in zip(exact, found.tolist(), strict=True):
            taylor = [float(value) for value in mpmath.taylor(function, 1 - mpmath.mpf(u), 8)]
            assert coefficients == pytest.approx(taylor, rel=1e-12)


def test_distances_are_those_of_the_correlations_from_one():
    squares, gain, cosines = [0.3, 2.0, 0.7], 0.8, [0.5, -0.2, 0.9]
    X, Y = torch.zeros(1, 3, 2, dtype=torch.float64), torch.zeros(1, 3, 2, dtype=torch.float64)
    for i, (square, cosine) in enumerate(zip(squares, cosines, strict=True)):
        X[0, i, 0] = square**0.5
        Y[0, i] = square**0.5 * torch.tensor([cosine, (1 - cosine**2) ** 0.5])
    u, q = distances(torch.tensor([cosines], dtype=torch.float64), squares, 0.1, gain)
    assert torch.allclose(1 - u[:, 0], limit_parts(X, 0.1, Y, gain).correlations[:, 0, 0], atol=1e-14)
    assert q == pytest.approx(squares_of(X, 0.1, gain)[:, 0].tolist())


@pytest.mark.parametrize("degrees", [{1: 4}, {3: 6}, {8: 5}, {2: 2, 5: 3}, {5: 3, 2: 2}, {1: 1, 4: 1, 8: 1}])
def test_series_arithmetic_agrees_with_contour_integrals(degrees):
    L = 8
    weights = token_weights(L, degrees, L**-3.0, gain=0.9)
    twin = contour_weights(torch.zeros(L), degrees, L**-3.0, 0.9)
    assert weights.min() > 0
    assert torch.allclose(weights, twin, rtol=1e-6, atol=1e-12)


def test_so_it_does_where_the_other_tokens_are_not_orthogonal():
    t = torch.tensor([[0.3, -0.5, 0.1, 0.9, 0.2], [-0.8, 0.4, 0.0, 0.6, -0.1]], dtype=torch.float64)
    found = kernel_series(t, {2: 3, 4: 2}, 0.1, 0.9)
    for cosines, weights in zip(t, found, strict=True):
        assert torch.allclose(weights, contour_weights(cosines, {2: 3, 4: 2}, 0.1, 0.9), rtol=1e-6, atol=1e-12)


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
