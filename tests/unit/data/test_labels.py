import numpy as np
import scipy.linalg
import torch

from hierlib.data.labels import random_signs, worst_case_labels
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum


def test_random_signs_are_plus_and_minus_one_about_equally_often():
    y = random_signs(10_000, seed=0)
    assert y.shape == (10_000,) and y.dtype == torch.float64
    assert set(y.tolist()) == {-1.0, 1.0}
    assert abs(y.mean()) < 5 / 100


def test_neighbouring_random_signs_are_independent():
    y = random_signs(10_000, seed=1)
    assert abs((y[1:] * y[:-1]).mean()) < 5 / 100


def test_seed_and_name_choose_the_signs():
    y = random_signs(50, seed=0)
    assert torch.equal(y, random_signs(50, seed=0))
    assert not torch.equal(y, random_signs(50, seed=1))
    assert not torch.equal(y, random_signs(50, seed=0, name="noise"))


def test_worst_case_labels_are_the_smallest_eigenvector_with_the_norm_of_sign_labels():
    H = relu_gram(unit_sphere(30, 6, seed=0))
    y = worst_case_labels(spectrum(H).vectors).numpy()
    smallest = scipy.linalg.eigh(H.numpy(), subset_by_index=[0, 0])[1][:, 0]
    assert np.isclose(y @ y, 30)
    assert np.isclose(abs(y @ smallest), 30**0.5)  # parallel up to the sign


def test_no_labels_of_the_same_norm_are_fitted_more_slowly_than_the_worst_case():
    H = relu_gram(unit_sphere(30, 6, seed=0))
    gain = torch.linalg.matrix_power(torch.eye(30).double() - 0.1 * H, 50)
    worst = (gain @ worst_case_labels(spectrum(H).vectors)).norm()
    assert all((gain @ random_signs(30, seed)).norm() < worst for seed in range(100))
