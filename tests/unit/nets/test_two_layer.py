import numpy as np
import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.nets.two_layer import outputs, two_layer


def mean_and_error(samples: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean over the first axis and its standard error."""
    return samples.mean(0), samples.std(0) / len(samples) ** 0.5


@pytest.mark.parametrize("paired", [False, True])
def test_a_network_has_m_neurons_and_signs_in_float64(paired):
    net = two_layer(m=8, d=3, kappa=1.0, seed=0, paired=paired)
    assert net.W.shape == (8, 3) and net.a.shape == (8,)
    assert net.W.dtype == net.a.dtype == torch.float64
    assert set(net.a.tolist()) == {-1.0, 1.0}


def test_hidden_weights_are_gaussian_of_size_kappa_and_signs_are_fair():
    net = two_layer(m=2000, d=10, kappa=0.3, seed=1)
    samples = net.W.numel()
    assert abs(net.W.mean()) < 5 * 0.3 / samples**0.5
    assert abs(net.W.var() / 0.3**2 - 1) < 5 * (2 / samples) ** 0.5
    assert abs(net.W.pow(4).mean() / 0.3**4 - 3) < 5 * (96 / samples) ** 0.5
    assert abs(net.a.mean()) < 5 / 2000**0.5


def test_kappa_only_scales_the_weights():
    small, large = two_layer(6, 4, 0.5, seed=0), two_layer(6, 4, 2.0, seed=0)
    assert torch.equal(large.W, 4 * small.W) and torch.equal(large.a, small.a)


def test_the_seed_chooses_the_network():
    one, again, other = (two_layer(50, 4, 1.0, seed) for seed in (0, 0, 1))
    assert torch.equal(one.W, again.W) and torch.equal(one.a, again.a)
    assert not torch.equal(one.W, other.W) and not torch.equal(one.a, other.a)


def test_outputs_are_the_formula_written_as_loops():
    net, X = two_layer(5, 3, 1.0, seed=0), unit_sphere(4, 3, seed=0)
    W, a = net.W.numpy(), net.a.numpy()
    by_hand = [sum(a[r] * max(np.dot(W[r], x), 0.0) for r in range(5)) / np.sqrt(5) for x in X.numpy()]
    assert np.allclose(outputs(net, X), by_hand, rtol=1e-13)


@pytest.mark.parametrize("kappa", [0.5, 2.0])
def test_the_mean_square_output_at_the_start_is_half_of_kappa_squared(kappa):
    X = unit_sphere(3, 5, seed=0)
    squares = torch.stack([outputs(two_layer(20, 5, kappa, seed), X) ** 2 for seed in range(4000)])
    mean, error = mean_and_error(squares)
    assert ((mean - kappa**2 / 2).abs() < 5 * error).all()


def test_a_paired_network_starts_at_zero_and_an_ordinary_one_does_not():
    X = unit_sphere(50, 20, seed=0)
    # zero up to the order in which 1000 numbers of size one are added
    assert outputs(two_layer(1000, 20, 1.0, seed=0, paired=True), X).abs().max() < 1e-13
    assert outputs(two_layer(1000, 20, 1.0, seed=0), X).abs().max() > 0.1


def test_every_neuron_of_a_paired_network_has_a_twin_of_the_opposite_sign():
    net = two_layer(10, 3, 1.0, seed=0, paired=True)
    assert torch.equal(net.W[:5], net.W[5:]) and torch.equal(net.a[:5], -net.a[5:])


@pytest.mark.parametrize("paired", [False, True])
def test_the_gram_matrix_at_the_start_has_the_infinite_width_one_as_its_mean(paired):
    X = unit_sphere(6, 3, seed=0)
    grams = torch.stack([finite_gram(two_layer(10, 3, 1.0, s, paired).W, X) for s in range(2000)])
    mean, error = mean_and_error(grams)
    assert ((mean - relu_gram(X)).abs() < 5 * error).all()


def test_a_paired_network_of_odd_width_is_refused():
    with pytest.raises(ValueError, match=r"^a paired network needs an even number of neurons, got m = 7$"):
        two_layer(7, 3, 1.0, seed=0, paired=True)
