import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.regression import interpolant
from hierlib.kernels.relu import relu_gram
from hierlib.nets.two_layer import outputs, two_layer
from hierlib.train.full_batch import gradient_descent

N, D = 20, 6
X, NEW = unit_sphere(N, D, seed=0), unit_sphere(50, D, seed=0, name="new points")
H, ROWS = relu_gram(X), relu_gram(NEW, X)
y = random_signs(N, seed=0)


def test_it_is_the_formula_with_a_linear_solve():
    by_hand = ROWS.numpy() @ np.linalg.solve(H.numpy(), y.numpy())
    assert np.allclose(interpolant(H, y, ROWS), by_hand, atol=1e-11)


def test_it_passes_through_the_labels():
    assert torch.allclose(interpolant(H, y, H), y, atol=1e-11)


def test_several_tasks_at_once_give_one_column_each():
    Y = torch.stack([random_signs(N, seed) for seed in range(3)], dim=1)
    together = interpolant(H, Y, ROWS)
    assert together.shape == (50, 3)
    assert torch.allclose(together, torch.stack([interpolant(H, column, ROWS) for column in Y.T], dim=1), atol=1e-12)
    assert interpolant(H, y[:, None], ROWS).shape == (50, 1)


def test_a_function_in_the_span_of_the_samples_is_recovered_everywhere():
    weights = torch.linspace(-1, 1, N, dtype=torch.float64)
    assert torch.allclose(interpolant(H, H @ weights, ROWS), ROWS @ weights, atol=1e-11)


@pytest.mark.slow
def test_a_trained_network_comes_closer_to_it_the_wider_it_is():
    limit, eta = interpolant(H, y, ROWS), 1 / torch.linalg.eigvalsh(H)[-1].item()

    def distance(m: int) -> float:
        run = gradient_descent(two_layer(m, D, 1.0, seed=0, antisymmetric=True), X, y, eta, steps=300)
        return (outputs(run.net, NEW) - limit).square().mean().sqrt().item()

    wide = distance(16_384)
    assert wide < 0.03
    assert distance(256) > 3 * wide


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(torch.linalg.LinAlgError):
        interpolant(-H, y, ROWS)
