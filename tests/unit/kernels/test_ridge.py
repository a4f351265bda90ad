import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from hierlib.data.cubes import hypercube
from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.hamming import gaussian_kernel
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.ridge import RidgePath, interpolant, ridge_features
from hierlib.nets.two_layer import outputs, two_layer
from hierlib.streams import stream
from hierlib.train.full_batch import gradient_descent

RIDGES = [1e-4, 1e-2, 3.0]
X, Z = hypercube(40, 8, 0, "train"), hypercube(25, 8, 0, "test")
Y = torch.randn(40, 3, generator=stream(0, "labels"), dtype=torch.float64)
T = torch.randn(25, 3, generator=stream(0, "targets"), dtype=torch.float64)
K, ROWS = gaussian_kernel(X, X, 16.0), gaussian_kernel(Z, X, 16.0)
PATH = RidgePath(K, Y)
# for the interpolant: points of a sphere, where a wide network ends
POINTS, NEW = unit_sphere(20, 6, seed=0), unit_sphere(50, 6, seed=0, name="new points")
H, H_NEW, y = relu_gram(POINTS), relu_gram(NEW, POINTS), random_signs(20, seed=0)


def test_coefficients_are_the_direct_solution():
    for ridge, beta in zip(RIDGES, PATH.coefficients(RIDGES), strict=True):
        direct = torch.linalg.solve(K + 40 * ridge * torch.eye(40, dtype=torch.float64), Y)
        assert torch.allclose(beta, direct, rtol=1e-9, atol=1e-9)


def test_predictions_and_errors_agree_with_scikit_learn():
    predictions, errors = PATH.predict(ROWS, RIDGES), PATH.errors(ROWS, T, RIDGES)
    for index, ridge in enumerate(RIDGES):
        model = KernelRidge(alpha=40 * ridge, kernel="precomputed").fit(K.numpy(), Y.numpy())
        expected = model.predict(ROWS.numpy())
        assert np.allclose(predictions[index], expected, atol=1e-9)
        assert np.allclose(errors[index], ((expected - T.numpy()) ** 2).mean(0))


def test_the_solution_minimises_the_penalised_objective():
    ridge = 0.01
    beta = PATH.coefficients([ridge])[0].requires_grad_()
    objective = (K @ beta - Y).square().sum() / 40 + ridge * (beta * (K @ beta)).sum()
    objective.backward()
    assert beta.grad.abs().max() < 1e-12


def test_norms_are_the_quadratic_form_per_output():
    for beta, norms in zip(PATH.coefficients(RIDGES), PATH.norms(RIDGES), strict=True):
        assert torch.allclose(norms, (beta * (K @ beta)).sum(0), rtol=1e-9)


def test_a_singular_kernel_matrix_gives_a_finite_answer():
    twice = torch.cat([X, X[:1]])
    labels = torch.cat([Y, -Y[:1]])
    path = RidgePath(gaussian_kernel(twice, twice, 1e6), labels)
    assert path.values.min() >= 0
    assert torch.isfinite(path.coefficients([1e-12])).all()


@pytest.mark.parametrize("m", [15, 40, 90])
def test_feature_weights_agree_with_scikit_learn_on_either_side(m):
    Phi = torch.randn(40, m, generator=stream(0, "features", m), dtype=torch.float64)
    for ridge, w in zip(RIDGES, ridge_features(Phi, Y, RIDGES), strict=True):
        expected = Ridge(alpha=40 * ridge, fit_intercept=False, solver="svd").fit(Phi.numpy(), Y.numpy()).coef_.T
        assert np.allclose(w, expected, atol=1e-8)


def test_features_and_their_kernel_predict_the_same():
    Phi = torch.randn(65, 30, generator=stream(1, "features"), dtype=torch.float64)
    train, test = Phi[:40], Phi[40:]
    by_features = test @ ridge_features(train, Y, RIDGES)
    by_kernel = RidgePath(train @ train.T, Y).predict(test @ train.T, RIDGES)
    assert torch.allclose(by_features, by_kernel, atol=1e-8)


@pytest.mark.parametrize("m", [10, 60])
def test_leading_axes_are_separate_problems(m):
    Phi = torch.randn(2, 40, m, generator=stream(2, "features", m), dtype=torch.float64)
    together = ridge_features(Phi, Y, RIDGES)
    assert together.shape == (2, 3, m, 3)
    for one, alone in zip(together, Phi, strict=True):
        assert torch.allclose(one, ridge_features(alone, Y, RIDGES), atol=1e-12)


def test_a_ridge_must_be_positive_and_labels_have_columns():
    with pytest.raises(ValueError, match="positive"):
        PATH.norms([1.0, 0.0])
    with pytest.raises(ValueError, match="positive"):
        ridge_features(X, Y, [0.0])
    with pytest.raises(ValueError, match="column"):
        RidgePath(K, Y[:, 0])


def test_the_interpolant_is_the_formula_with_a_linear_solve():
    by_hand = H_NEW.numpy() @ np.linalg.solve(H.numpy(), y.numpy())
    assert np.allclose(interpolant(H, y, H_NEW), by_hand, atol=1e-11)


def test_the_interpolant_passes_through_the_labels():
    assert torch.allclose(interpolant(H, y, H), y, atol=1e-11)


def test_several_tasks_are_interpolated_at_once_one_column_each():
    Y = torch.stack([random_signs(20, seed) for seed in range(3)], dim=1)
    together = interpolant(H, Y, H_NEW)
    assert together.shape == (50, 3)
    assert torch.allclose(together, torch.stack([interpolant(H, column, H_NEW) for column in Y.T], dim=1), atol=1e-12)
    assert interpolant(H, y[:, None], H_NEW).shape == (50, 1)


def test_a_function_in_the_span_of_the_samples_is_recovered_everywhere():
    weights = torch.linspace(-1, 1, 20, dtype=torch.float64)
    assert torch.allclose(interpolant(H, H @ weights, H_NEW), H_NEW @ weights, atol=1e-11)


def test_a_trained_network_comes_closer_to_the_interpolant_the_wider_it_is():
    limit, eta = interpolant(H, y, H_NEW), 1 / torch.linalg.eigvalsh(H)[-1].item()

    def distance(m: int) -> float:
        run = gradient_descent(two_layer(m, 6, 1.0, seed=0, paired=True), POINTS, y, eta, steps=300)
        return (outputs(run.net, NEW) - limit).square().mean().sqrt().item()

    wide = distance(16_384)
    assert wide < 0.03
    assert distance(256) > 3 * wide


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(torch.linalg.LinAlgError):
        interpolant(-H, y, H_NEW)


def test_the_interpolant_is_ridge_regression_with_hardly_any_ridge():
    faint = RidgePath(H, y[:, None]).predict(H_NEW, [1e-13])[0, :, 0]
    assert torch.allclose(interpolant(H, y, H_NEW), faint, atol=1e-8)
