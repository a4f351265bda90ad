import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from hierlib.data.cubes import hypercube
from hierlib.kernels.hamming import gaussian
from hierlib.kernels.ridge import RidgePath, ridge_features
from hierlib.streams import stream

RIDGES = [1e-4, 1e-2, 3.0]
X, Z = hypercube(40, 8, 0, "train"), hypercube(25, 8, 0, "test")
Y = torch.randn(40, 3, generator=stream(0, "labels"), dtype=torch.float64)
T = torch.randn(25, 3, generator=stream(0, "targets"), dtype=torch.float64)
K, ROWS = gaussian(X, X, 16.0), gaussian(Z, X, 16.0)
PATH = RidgePath(K, Y)


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
    path = RidgePath(gaussian(twice, twice, 1e6), labels)
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
