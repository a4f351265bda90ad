import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import energies, spectrum
from hierlib.nets.two_layer import outputs, two_layer
from hierlib.papers.fine_grained.figure1 import (
    distance_to_even,
    first_step,
    largest_miss,
    loss_curves,
    participation_ratio,
    permuted_projections,
    predicted_first_step,
    slower_over_faster,
    three_labels,
    top_share_ratio,
)
from hierlib.theory.linear_dynamics import iterated_residuals

N = 30
X = unit_sphere(N, 5, seed=0)
EIGEN = spectrum(relu_gram(X))
Y = random_signs(N, seed=0)
OF = three_labels(unit_sphere(20, 6, seed=0), random_signs(20, seed=5), seed=0)


def test_the_three_label_vectors_have_equal_norm_and_the_step_is_one_over_the_largest_eigenvalue():
    of = three_labels(X, Y, seed=1)
    assert list(of.labels) == ["true", "random", "worst"]
    assert torch.equal(of.labels["true"], Y)
    assert all(np.isclose(y.norm(), N**0.5) for y in of.labels.values())
    assert np.isclose(of.eta, 1 / torch.linalg.matrix_norm(relu_gram(X), ord=2))
    assert three_labels(X, Y, seed=1, eta=0.2).eta == 0.2


def test_the_predicted_losses_are_those_of_the_recursion_per_sample():
    of = three_labels(X, Y, seed=1)
    predicted = of.predicted(torch.arange(41))
    for name, y in of.labels.items():
        recursion = iterated_residuals(relu_gram(X), y, of.eta, steps=40).square().sum(1) / 2 / N
        assert torch.allclose(predicted[name], recursion, rtol=1e-9)


def test_permuted_projections_are_the_same_numbers_on_other_eigenvectors():
    before, after = energies(EIGEN.vectors, Y), energies(EIGEN.vectors, permuted_projections(EIGEN, Y, seed=0))
    assert torch.allclose(before.sort().values, after.sort().values)
    assert (before - after).abs().max() > 0.01
    assert not torch.allclose(permuted_projections(EIGEN, Y, seed=1), permuted_projections(EIGEN, Y, seed=0))


@pytest.mark.parametrize("share, step", [(1.0, 0), (0.5, 1), (0.3, 2), (0.25, 2), (0.1, float("inf"))])
def test_first_step_is_where_a_curve_first_reaches_a_share_of_its_start(share, step):
    assert first_step(torch.tensor([8.0, 4.0, 2.0, 3.0]), share) == step


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.1, 1.0, 1.9])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01])
def test_the_predicted_first_step_is_the_one_found_by_iterating(factor, share):
    eta = factor / EIGEN.values[0].item()
    loss = iterated_residuals(relu_gram(X), Y, eta, steps=20_000).square().sum(1) / 2
    assert predicted_first_step(EIGEN, Y, eta, share) == first_step(loss, share) < float("inf")


def test_a_single_eigenvector_is_fitted_in_logarithmic_time():
    """(1 - eta lambda)^(2k) <= share is k >= log(share) / (2 log(1 - eta lambda))."""
    eta = 1 / EIGEN.values[0].item()
    closed_form = np.log(1e-6) / (2 * np.log(1 - eta * EIGEN.values[-1].item()))
    assert predicted_first_step(EIGEN, EIGEN.vectors[:, -1], eta, 1e-6) == int(np.ceil(closed_form))


def test_there_is_no_predicted_step_beyond_the_stability_limit():
    with pytest.raises(ValueError, match="falls to zero only"):
        predicted_first_step(EIGEN, Y, 2.01 / EIGEN.values[0].item(), 0.5)


def test_the_miss_is_measured_in_units_of_the_label_norm_and_over_the_steps_asked_for():
    of = three_labels(X, Y, seed=1)
    exact = of.predicted(torch.arange(21))
    assert largest_miss(of, exact, until=20) == 0
    residuals = iterated_residuals(relu_gram(X), Y, of.eta, steps=20)
    residuals[10] *= 1 + 0.1 * Y.norm() / residuals[10].norm()  # longer by a tenth of |y| at one step
    off = {"true": residuals.square().sum(1) / 2 / N, "worst": exact["worst"]}
    assert largest_miss(of, off, until=9) < 1e-9
    assert np.isclose(largest_miss(of, off, until=10), 0.1)
    assert largest_miss(of, {"worst": off["worst"]}, until=20) == 0  # only what was measured counts


def test_slower_over_faster_is_above_one_only_if_every_curve_stays_above_the_one_before():
    curves = {"fast": torch.tensor([2.0, 1.0, 0.5]), "middle": torch.tensor([1.0, 2.0, 0.6]), "slow": torch.ones(3) * 3}
    assert np.isclose(slower_over_faster(curves, since=1), 1.2)
    assert np.isclose(slower_over_faster(curves, since=0), 0.5)
    assert slower_over_faster({"slow": curves["slow"], "fast": curves["fast"]}, since=1) < 1


def test_random_signs_put_an_even_share_on_the_first_eigenvectors():
    """The mean over all 2^n sign vectors is 1 exactly."""
    vectors = spectrum(relu_gram(unit_sphere(10, 3, seed=0))).vectors
    signs = 2.0 * torch.cartesian_prod(*[torch.tensor([0, 1])] * 10).T.double() - 1
    assert np.isclose(top_share_ratio(vectors, signs, 3).mean(), 1)


def test_labels_on_one_eigenvector_have_the_largest_or_no_share():
    both = EIGEN.vectors[:, [0, -1]] * 7.0  # the scale of the labels does not matter
    assert torch.allclose(top_share_ratio(EIGEN.vectors, both, 10), torch.tensor([N / 10, 0.0]).double())
    assert np.isclose(top_share_ratio(EIGEN.vectors, Y[:, None], 10)[0] / (N / 10), energies(EIGEN.vectors, Y)[:10].sum())


def test_the_distance_of_random_signs_has_the_mean_of_the_kolmogorov_law():
    """sqrt(pi/2) log 2 = 0.869 for large n, a little less for finite n; its standard deviation is 0.26."""
    n, draws = 400, 60
    vectors = torch.linalg.qr(torch.randn(n, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)).Q
    signs = torch.stack([random_signs(n, seed) for seed in range(draws)], dim=1)
    assert abs(distance_to_even(vectors, signs).mean() - 0.86) < 4 * 0.26 / draws**0.5
    assert np.allclose(distance_to_even(vectors, 5 * signs[:, :2]), distance_to_even(vectors, signs[:, :2]))


def test_the_distance_of_a_single_eigenvector_is_nearly_the_largest_possible():
    """All squared projections but one are zero: the empirical law jumps to 1 - 1/n where chi-square is still at 0."""
    assert np.isclose(distance_to_even(EIGEN.vectors, EIGEN.vectors[:, :1])[0], (1 - 1 / N) * N**0.5, rtol=1e-3)


@pytest.mark.parametrize("large", [1, 2, 7, N])
def test_the_participation_ratio_counts_large_entries(large):
    v = torch.zeros(N)
    v[:large] = torch.where(torch.arange(large) % 2 == 0, 0.3, -0.3)
    assert np.isclose(participation_ratio(v), large)


def test_every_label_vector_is_trained_from_the_same_start():
    plain = loss_curves(OF, steps=3, m=50, kappa=0.5, seed=7)
    u = outputs(two_layer(50, 6, 0.5, seed=7), OF.X)
    for name, y in OF.labels.items():
        assert plain[name].shape == (4,)
        assert np.isclose(plain[name][0], (y - u).square().mean() / 2, rtol=1e-5)


def test_one_step_of_it_is_a_step_of_autograd():
    net = two_layer(50, 6, 0.5, seed=7)
    y = OF.labels["worst"]
    W = net.W.clone().requires_grad_()
    (((y - outputs(net._replace(W=W), OF.X)) ** 2).sum() / 2).backward()
    after = outputs(net._replace(W=net.W - OF.eta * W.grad), OF.X)
    measured = loss_curves(OF, steps=1, m=50, kappa=0.5, seed=7)["worst"][1]
    assert np.isclose(measured, (y - after).square().mean() / 2, rtol=1e-5)


def test_paired_networks_start_at_one_half_per_sample_and_follow_the_prediction():
    curves = loss_curves(OF, steps=30, m=20_000, kappa=10.0, seed=0, paired=True)
    assert all(np.isclose(curve[0], 0.5, atol=1e-4) for curve in curves.values())
    assert largest_miss(OF, curves, until=30) < 0.03
