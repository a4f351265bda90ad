"""Mixtures have the norm of +-1 labels, and what theory says about them follows from their parts."""

import pytest
import torch

from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import Spectrum, inverse_norm, spectrum
from hierlib.nets.two_layer import two_layer
from hierlib.papers.fine_grained.mixtures import coefficients, eigenvector_labels, oriented, unexplained
from hierlib.streams import stream
from hierlib.theory.linear_dynamics import iterated_residuals, predicted_loss
from hierlib.train.full_batch import gradient_descent

N = 30


@pytest.fixture(scope="module")
def gram():
    X = torch.randn(N, 6, generator=stream(0, "inputs"), dtype=torch.float64)
    return relu_gram(X / X.norm(dim=1, keepdim=True))


@pytest.fixture(scope="module")
def parts():
    return torch.randn(3, N, generator=stream(0, "parts"), dtype=torch.float64)


def test_a_mixture_keeps_the_ratios_of_its_weights_and_has_norm_root_n(parts):
    c = coefficients(parts, torch.tensor([2.0, 1.0, 0.0]).double())
    assert c[0] / c[1] == pytest.approx(2) and c[2] == 0
    assert (c @ parts).norm().item() == pytest.approx(N**0.5)


def test_only_ratios_count(parts):
    w = torch.tensor([0.3, 0.1, 0.7]).double()
    assert torch.allclose(coefficients(parts, w), coefficients(parts, 7 * w))


def test_projections_of_the_parts_give_loss_curve_and_path_length_of_the_mixture(gram, parts):
    eigen = spectrum(gram)
    w = torch.tensor([0.5, 1.0, 0.2]).double()
    c = coefficients(parts, w)
    assert torch.allclose(c, coefficients(parts @ eigen.vectors, w)), "a rotation does not change a norm"
    y, a = c @ parts, c @ (parts @ eigen.vectors)
    eta = 1 / eigen.values[0].item()
    diagonal = Spectrum(eigen.values, torch.eye(N, dtype=torch.float64))
    loss = predicted_loss(diagonal, a, eta, torch.arange(41))
    assert torch.allclose(loss, iterated_residuals(gram, y, eta, 40).square().sum(1) / 2)
    assert torch.allclose(inverse_norm(torch.diag(eigen.values), a), inverse_norm(gram, y))


def test_eigenvector_labels_project_evenly_on_their_band_and_on_nothing_else(gram):
    vectors = spectrum(gram).vectors
    projections = vectors.T @ eigenvector_labels(vectors, 3, 7)
    expected = torch.zeros(N, dtype=torch.float64)
    expected[2:7] = (N / 5) ** 0.5
    assert torch.allclose(projections, expected, atol=1e-12)


def test_a_single_eigenvector_may_be_the_last_one(gram):
    vectors = spectrum(gram).vectors
    assert torch.allclose(eigenvector_labels(vectors, N, N), vectors[:, -1] * N**0.5)


def test_orientation_turns_eigenvectors_and_leaves_the_matrix(gram, parts):
    eigen = oriented(spectrum(gram), parts[0])
    assert (eigen.vectors.T @ parts[0] >= 0).all()
    assert torch.allclose(eigen.vectors @ torch.diag(eigen.values) @ eigen.vectors.T, gram)


def test_an_eigenvector_orthogonal_to_the_labels_is_kept():
    eye = torch.eye(2, dtype=torch.float64)
    turned = oriented(Spectrum(torch.ones(2), eye), torch.tensor([-1.0, 0.0]).double())
    assert torch.equal(turned.vectors, torch.diag(torch.tensor([-1.0, 1.0]).double()))


def test_a_mixture_of_movements_is_explained_and_what_is_orthogonal_to_it_is_not():
    parts = torch.randn(2, 5, 3, generator=stream(0, "movements"), dtype=torch.float64)
    c = torch.tensor([0.5, -2.0]).double()
    mixture = 0.5 * parts[0] - 2 * parts[1]
    assert unexplained(mixture, parts, c).item() == pytest.approx(0, abs=1e-30)
    assert unexplained(2 * mixture, parts, c).item() == pytest.approx(1 / 4)
    aside = torch.randn(5, 3, generator=stream(0, "aside"), dtype=torch.float64)
    aside -= (aside * mixture).sum() / mixture.square().sum() * mixture
    aside *= mixture.norm() / aside.norm()
    assert unexplained(mixture + aside, parts, c).item() == pytest.approx(1 / 2)


def test_a_network_that_cannot_switch_moves_by_the_mixture_of_movements(parts):
    # At kappa = 1e6 no activation flips in ten steps.
    X = torch.randn(N, 6, generator=stream(0, "inputs"), dtype=torch.float64)
    net = two_layer(64, 6, 1e6, 0, paired=True)
    c = coefficients(parts, torch.tensor([1.0, 2.0, 0.5]).double())

    def moved(y):
        return gradient_descent(net, X, y, 0.01, 10, dtype=torch.float64).net.W - net.W

    assert unexplained(moved(c @ parts), torch.stack([moved(p) for p in parts]), c) < 1e-12


def test_what_cannot_be_made_is_said(parts, gram):
    with pytest.raises(ValueError, match="zero"):
        coefficients(parts, torch.zeros(3).double())
    with pytest.raises(ValueError, match="there are 1 to 30"):
        eigenvector_labels(gram, 0, 4)
    with pytest.raises(ValueError, match="5 to 4"):
        eigenvector_labels(gram, 5, 4)
