"""What a step sees: the weights that represent the target do so, and the views agree with their definitions."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates, outputs, residual, second_outputs
from hierlib.papers.resnet_kernels.gradient_step import error_bound, error_terms, tangent_f, tangent_g
from hierlib.papers.resnet_kernels.step_views import fitted_weights, step_views
from hierlib.streams import normals

M, D, K, ALPHA = 600, 4, 2, 0.1
START = residual(M, D, K, 0, sigma_w=0.3, sigma_v=0.2)
X = unit_sphere(60, D, 0)
F = X[:, :K]
STARS = fitted_weights(START, X, F, lambda h: ALPHA * h.flip(1), 0)
NET = Residual(
    START.A, START.W + normals((M, D + 1), 1, "W", scale=0.01), START.V + normals((M, K + 1), 1, "V", scale=0.001)
)


def composite(h):
    return ALPHA * h.flip(1)  # Lipschitz with constant ALPHA, |composite(F)| = ALPHA |F|


def test_the_weights_represent_the_two_signals_at_the_gates_of_the_start():
    W_star, V_star = STARS
    assert torch.allclose((gates(START, X)[0] * (with_one(X) @ W_star.T)) @ START.A.T, F, atol=0.03)
    z = with_one(X[:, :K])
    second = ((z @ START.V.T >= 0) * (z @ V_star.T)) @ START.A.T
    assert torch.allclose(second, composite(X[:, :K]), atol=0.01)


def test_the_view_is_what_it_says():
    view = step_views([START, NET], X, F, composite, STARS, 0.05, ALPHA)[1]
    H = F + composite(F)
    miss = (H - outputs(NET, X)).norm(dim=1)
    err = tangent_f(NET, X, STARS[0] - NET.W + START.W) + tangent_g(NET, X, STARS[1] - NET.V + START.V) - H + outputs(NET, X)
    away = (first_outputs(NET, X) - F).norm(dim=1)
    assert view.miss == pytest.approx(miss.square().mean().sqrt().item())
    assert view.err == pytest.approx(err.square().sum(1).mean().sqrt().item())
    assert view.err_max == pytest.approx(err.norm(dim=1).max().item())
    assert view.away == pytest.approx(away.max().item())
    size = F.norm(dim=1).max()
    assert view.away_ratio == pytest.approx((away / (2 * miss + 0.2 * (size + 1) + 2 * ALPHA * size)).max().item())
    assert view.distance == pytest.approx((NET.V - START.V).norm().item())
    radius = max(1, first_outputs(NET, X).norm(dim=1).max().item())
    first_miss = 2 * view.miss + 0.2 * (size.item() + 1) + 2 * ALPHA * size.item()
    parts = error_terms(NET, START, X, *STARS, F, composite)
    assert (view.err_bound, view.remainder) == pytest.approx(error_bound(parts, 0.1, ALPHA * radius, first_miss))


def test_both_bounds_hold_while_the_second_block_is_small():
    for view in step_views([START, NET], X, F, composite, STARS, 0.05, ALPHA):
        assert view.gain <= 0.1 and view.away_ratio <= 1 and view.err <= view.err_bound
        assert 0 < view.remainder < view.err_bound


def test_the_first_bound_fails_for_a_second_block_that_doubles():
    """out_1 = F / 2 and a second block that adds the other half: out = F, and out_1 is far from it."""
    half = Residual(
        torch.eye(K).double().repeat(1, 2) * torch.tensor([1.0, 1, -1, -1]), *(torch.zeros(4, c) for c in (D + 1, K + 1))
    )
    rows = torch.cat([torch.eye(K), -torch.eye(K)]).double()
    half = half._replace(W=with_one(torch.cat([rows, torch.zeros(4, D - K)], 1)) / 2, V=with_one(rows))
    half.W[:, -1] = half.V[:, -1] = 0
    assert torch.allclose(first_outputs(half, X), F / 2) and torch.allclose(second_outputs(half, F), F)
    zeros = (torch.zeros(4, D + 1).double(), torch.zeros(4, K + 1).double())
    view = step_views([half], X, F, lambda h: 0 * h, zeros, 0.01, 0.0)[0]
    assert view.miss == pytest.approx(0, abs=1e-12) and view.gain == pytest.approx(1) and view.away_ratio > 1
