import math

import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.papers.fine_grained.label_complexity import complexity, expected_square, limit_fit, second_term
from hierlib.streams import stream

N = 30
H = relu_gram(unit_sphere(N, 8, seed=0))
y = random_signs(N, seed=0)
easy = spectrum(H).vectors[:, 0].sign()  # much cheaper than random labels, so that redrawing some of them matters


def test_the_measure_is_the_formula_with_an_explicit_inverse():
    by_hand = math.sqrt(2 * y.numpy() @ np.linalg.inv(H.numpy()) @ y.numpy() / N)
    assert complexity(H, y).item() == pytest.approx(by_hand, rel=1e-10)


def test_several_tasks_at_once_give_one_measure_each():
    Y = torch.stack([random_signs(N, seed) for seed in range(4)], dim=1)
    assert complexity(H, Y).tolist() == pytest.approx([complexity(H, column).item() for column in Y.T], rel=1e-12)


def test_orthonormal_inputs_give_every_sign_vector_the_measure_two():
    assert complexity(relu_gram(torch.eye(N, dtype=torch.float64)), y).item() == pytest.approx(2, rel=1e-12)


def test_the_measure_of_an_eigenvector_follows_from_its_eigenvalue():
    values, vectors = spectrum(H)
    assert torch.allclose(complexity(H, vectors), (2 / N / values).sqrt(), rtol=1e-9)


def redrawn(share: float, count: int) -> torch.Tensor:
    """`count` copies of the easy labels as columns, each replaced by a fair coin with probability `share`."""
    generator = stream(0, "redrawn labels", share)
    coins = torch.randint(0, 2, (N, count), generator=generator).double() * 2 - 1
    return torch.where(torch.rand(N, count, generator=generator) < share, coins, easy[:, None])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_expected_square_is_the_mean_over_redrawn_labels(share):
    squares = complexity(H, redrawn(share, 20_000)) ** 2
    error = squares.std().item() / 20_000**0.5
    expected = expected_square(H, easy, torch.tensor([share]).double()).item()
    assert squares.mean().item() == pytest.approx(expected, abs=5 * error + 1e-9)


def test_purely_random_labels_have_a_mean_square_of_at_least_four():
    everything = torch.ones(1, dtype=torch.float64)
    assert expected_square(H, y, everything).item() > 4
    assert expected_square(torch.eye(N, dtype=torch.float64) / 2, y, everything).item() == pytest.approx(4)


def test_the_second_term_is_the_sum_of_the_three_parts_of_the_proof():
    # n = 100, lambda_0 = 0.04: radii up to sqrt(2500) + 1 = 51; Theorem B.1 at failure probability delta / (3 * 51)
    training, rademacher = 0.1, 2 * (2 / 10)
    sampling = 3 * math.sqrt(math.log(2 / (0.05 / (3 * 51))) / 200)
    assert second_term(100, 0.04, 0.05) == pytest.approx(training + rademacher + sampling, rel=1e-12)


def test_the_second_term_falls_like_one_over_the_root_of_n_up_to_the_logarithm():
    assert 0.5 < second_term(400, 0.04, 0.05) / second_term(100, 0.04, 0.05) < 0.55
    assert second_term(100, 0.0004, 0.05) > second_term(100, 0.04, 0.05)


def test_one_factorisation_gives_what_the_separate_ways_give():
    Y, rows = torch.stack([y, easy], dim=1), relu_gram(unit_sphere(7, 8, seed=1), unit_sphere(N, 8, seed=0))
    fit = limit_fit(H, Y, rows)
    values = torch.linalg.eigvalsh(H)
    assert torch.allclose(fit.measure, complexity(H, Y))
    assert np.allclose(fit.guesses, rows.numpy() @ np.linalg.inv(H.numpy()) @ Y.numpy())
    assert (fit.smallest, fit.largest) == pytest.approx((values[0].item(), values[-1].item()))
