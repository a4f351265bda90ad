import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.nets.two_layer import two_layer
from hierlib.theory.linear_dynamics import iterated_residuals, predicted_loss, predicted_residuals
from hierlib.train.full_batch import gradient_descent

N, STEPS = 15, 60
X = unit_sphere(N, 8, seed=0)
H = relu_gram(X)
EIGEN = spectrum(H)
y = random_signs(N, seed=0)
ALL_STEPS = torch.arange(STEPS + 1)
# the largest eigenvalue is about 1.3: the last rate overshoots on it (1 - eta lambda < 0) and still converges
RATES = [0.01, 0.3, 1.2]


def test_the_largest_rate_really_overshoots():
    assert -1 < 1 - RATES[-1] * EIGEN.values[0] < 0


@pytest.mark.parametrize("eta", RATES)
def test_the_recursion_is_gradient_descent_on_a_linear_model(eta):
    root = torch.linalg.cholesky(H)  # a linear model u = root theta has the Gram matrix root root^T = H
    theta = torch.zeros(N, dtype=torch.float64, requires_grad=True)
    residuals = []
    for _ in range(STEPS + 1):
        residual = y - root @ theta
        residuals.append(residual.detach())
        (gradient,) = torch.autograd.grad(residual.square().sum() / 2, theta)
        theta = (theta - eta * gradient).detach().requires_grad_()
    assert torch.allclose(iterated_residuals(H, y, eta, STEPS), torch.stack(residuals), atol=1e-12)


@pytest.mark.parametrize("eta", RATES)
@pytest.mark.parametrize("start", [None, torch.linspace(-1, 2, N).double()], ids=["from zero", "from elsewhere"])
def test_the_closed_form_agrees_with_the_recursion(eta, start):
    slow = iterated_residuals(H, y if start is None else y - start, eta, STEPS)
    assert torch.allclose(predicted_residuals(EIGEN, y, eta, ALL_STEPS, start), slow, atol=1e-12)


def test_steps_may_be_any_and_in_any_order():
    steps = torch.tensor([40, 0, 7, 7])
    whole = predicted_residuals(EIGEN, y, 0.3, ALL_STEPS)
    assert torch.allclose(predicted_residuals(EIGEN, y, 0.3, steps), whole[steps], atol=1e-13)


@pytest.mark.parametrize("eta", RATES)
def test_the_loss_is_half_the_squared_norm_of_the_residual(eta):
    residuals = iterated_residuals(H, y, eta, STEPS)
    assert torch.allclose(predicted_loss(EIGEN, y, eta, ALL_STEPS), residuals.square().sum(1) / 2, rtol=1e-10)


def test_the_loss_starts_at_half_the_squared_norm_of_the_labels():
    assert predicted_loss(EIGEN, y, 0.3, torch.tensor([0])).item() == pytest.approx(N / 2)


def test_a_wide_network_follows_the_prediction_and_a_narrow_one_does_not():
    def deviation(m: int) -> float:
        net = two_layer(m, X.shape[1], 1.0, seed=0, paired=True)
        trained = gradient_descent(net, X, y, eta=0.3, steps=STEPS).residuals(y)
        return ((trained - predicted_residuals(EIGEN, y, 0.3, ALL_STEPS)).norm(dim=1) / y.norm()).max().item()

    assert deviation(m=40_000) < 0.02
    assert deviation(m=20) > 0.1
