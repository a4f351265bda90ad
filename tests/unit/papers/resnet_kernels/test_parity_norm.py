"""The smallest norm of a network that computes a parity (Allen-Zhu and Li 2019, appendix A.1)."""

import math

import pytest
import torch
from scipy.integrate import quad

from hierlib.data.cubes import all_corners
from hierlib.data.spheres import unit_sphere
from hierlib.nets.signed import Signed, output_signs, outputs, signed
from hierlib.papers.resnet_kernels.parity_norm import (
    ascend,
    correlation_bound,
    correlations,
    frontier,
    kink_integral,
    largest_correlation,
    parity,
    parity_network,
    smallest_norm,
    widened,
)
from hierlib.streams import stream


def values(net: Signed, X: torch.Tensor) -> torch.Tensor:
    """The one output of the network, without its axis: (n,)."""
    return outputs(net, X)[:, 0]


def inputs(d: int) -> torch.Tensor:
    return all_corners(d) / d**0.5


@pytest.mark.parametrize("q", [2, 4, 6, 8])
def test_the_integral_in_closed_form_is_the_integral(q):
    # int over [k pi, (k+1) pi] of sin^q/s^2, summed: 1/s^2 over the shifted copies adds up to 1/sin^2, so C_q is a mean.
    mean, _ = quad(lambda s: math.sin(s) ** (q - 2), 0, math.pi)
    assert kink_integral(q) == pytest.approx(mean / math.pi, rel=1e-10)


def test_six_coordinates_give_one_over_thirty_two():
    assert largest_correlation(6, 6) == pytest.approx(1 / 32, rel=1e-15)
    assert smallest_norm(0.0, 6, 40) == pytest.approx(32 * (40 / 6) ** 0.5, rel=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(("q", "d"), [(2, 2), (4, 6), (6, 6), (6, 9)])
def test_sign_vectors_attain_the_largest_correlation(q, d):
    signs = torch.zeros(2**q, d, dtype=torch.float64)
    signs[:, :q] = all_corners(q) / q**0.5
    found = correlations(signs, q).abs()
    torch.testing.assert_close(found, torch.full_like(found, largest_correlation(q, d)), rtol=1e-13, atol=0)


def test_the_correlation_is_a_mean_over_the_inputs():
    u = unit_sphere(1, 7, 0, "directions")
    x = (torch.randint(0, 2, (400_000, 7), generator=stream(0, "sample")).double() * 2 - 1) / 7**0.5
    terms = torch.relu(x @ u[0]) * x[:, :4].sign().prod(1)
    error = terms.std().item() / len(terms) ** 0.5
    assert abs(terms.mean().item() - correlations(u, 4).item()) < 4 * error


@pytest.mark.parametrize(("q", "d"), [(2, 3), (4, 4), (4, 7), (6, 6), (6, 8)])
def test_no_direction_exceeds_the_bound_by_hoelder(q, d):
    U = unit_sphere(2000, d, 1, "directions")
    bound = correlation_bound(U, q)
    assert (correlations(U, q).abs() <= bound * (1 + 1e-12)).all()
    assert (bound <= largest_correlation(q, d) * (1 + 1e-12)).all()
    U[:, :q] = U[:, :q].sign()
    U[:, q:] = 0
    assert torch.allclose(correlations(U, q).abs(), correlation_bound(U, q), rtol=1e-12)  # sharp at sign vectors


@pytest.mark.parametrize(("q", "d"), [(4, 4), (6, 6), (6, 8)])
def test_ascent_finds_the_closed_form_and_nothing_above_it(q, d):
    reached = correlations(ascend(unit_sphere(100, d, 2, "directions"), q), q).abs() / largest_correlation(q, d)
    assert 1 - 1e-5 < reached.max() < 1 + 1e-12


def test_the_bound_is_a_geometric_mean():
    u = torch.tensor([[0.5, -2.0, 1.0]], dtype=torch.float64)
    assert correlation_bound(u, 2).item() == pytest.approx(0.5 / 3**0.5)  # C_2 = 1, geometric mean of 1/2 and 2


def test_ascent_finds_the_largest_correlations_of_either_sign():
    found = correlations(ascend(unit_sphere(100, 6, 4, "directions"), 6), 6) / largest_correlation(6, 6)
    assert (found > 0.999).sum() > 10 and (found < -0.999).sum() > 10


@pytest.mark.parametrize("q", [3, 5])
def test_odd_parities_correlate_with_no_neuron(q):
    assert correlations(unit_sphere(100, 7, 3, "directions"), q).abs().max() < 1e-15
    with pytest.raises(ValueError, match="even q"):
        largest_correlation(q, 7)


@pytest.mark.slow
@pytest.mark.parametrize("q", [2, 4, 6])
@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("m", [64, 66, 200, 256])
def test_the_network_computes_the_parity_exactly(q, extra, m):
    net = parity_network(m, q + extra, q)
    X = inputs(q + extra)
    torch.testing.assert_close(values(net, X), parity(X, q), rtol=0, atol=1e-12)
    assert (net.A > 0).sum() == m // 2


def test_its_norm_is_the_smallest_at_multiples_of_64_and_little_more_elsewhere():
    for m in (64, 192, 640):
        assert parity_network(m, 10, 6).W.norm().item() == pytest.approx(smallest_norm(0.0, 6, 10), rel=1e-12)
    excess = [parity_network(m, 10, 6).W.norm().item() / smallest_norm(0.0, 6, 10) for m in range(200, 400, 2)]
    assert min(excess) > 1 - 1e-12 and max(excess) < 1.02


def test_a_share_of_the_parity_lies_on_the_frontier():
    net = parity_network(128, 8, 6, share=0.7)
    error = (values(net, inputs(8)) - parity(inputs(8), 6)).square().mean().item()
    assert error == pytest.approx(0.09, rel=1e-12)
    assert net.W.norm().item() == pytest.approx(smallest_norm(error, 6, 8), rel=1e-12)
    assert smallest_norm(error, 6, 8) == pytest.approx(net.W.norm().item(), rel=1e-12)


def test_the_frontier_in_units_of_sqrt_d_is_the_same_in_every_dimension():
    for d in (6, 40):
        expected = [smallest_norm(e, 6, d) / d**0.5 for e in (0.0, 0.12, 1.0, 2.0)]
        assert frontier([0.0, 0.12, 1.0, 2.0]).tolist() == pytest.approx(expected)
    assert frontier(0.0, 4) == pytest.approx(8.0)


def test_no_random_network_lies_below_the_frontier_however_it_is_scaled():
    X, y = inputs(6), parity(inputs(6), 6)
    for seed in range(20):
        start = parity_network(64, 6, 6)
        noise = torch.randn(64, 6, generator=stream(seed, "noise"), dtype=torch.float64)
        net = Signed(start.A, start.W + 0.3 * seed * noise)
        f = values(net, X)
        best = max(0.0, (f @ y / (f @ f)).item())  # the scale with the smallest error
        error = (best * f - y).square().mean().item()
        assert best * net.W.norm().item() >= smallest_norm(error, 6, 6) * (1 - 1e-12)


def test_widening_keeps_the_function_and_at_multiples_the_norm():
    net = signed(20, 4, seed=0)
    for m, d in [(20, 7), (60, 4), (30, 6)]:
        wide = widened(net, m, d)
        X = inputs(d)
        torch.testing.assert_close(values(wide, X), values(net, X[:, :4] * d**0.5 / 2), rtol=1e-12, atol=1e-12)
        assert wide.W.shape == (m, d) and (wide.A > 0).sum() == m // 2
        if m % 20 == 0:
            assert wide.W.norm() / d**0.5 == pytest.approx(net.W.norm().item() / 2, rel=1e-12)


def test_half_as_many_copies_more_cost_six_per_cent():
    net = Signed(output_signs(200), torch.ones(200, 6, dtype=torch.float64))
    assert widened(net, 300, 6).W.norm() / net.W.norm() == pytest.approx(1.125**0.5)


def test_it_refuses_what_cannot_be_built():
    with pytest.raises(ValueError, match="even number of at least 64"):
        parity_network(62, 6, 6)
    with pytest.raises(ValueError, match="as many inputs"):
        parity_network(64, 5, 6)
