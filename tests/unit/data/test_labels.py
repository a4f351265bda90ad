import numpy as np
import pytest
import scipy.linalg
import torch

from hierlib.data.labels import partly_random, random_signs, shuffled, worst_case_labels
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


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_half_of_the_redrawn_share_changes(share):
    n = 20_000
    y = torch.ones(n, dtype=torch.float64)
    changed = (partly_random(y, share, seed=0) != y).double().mean()
    assert abs(changed - share / 2) <= 4 * (share / 4 / n) ** 0.5


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_never_more_labels_change_than_were_chosen(share):
    y = random_signs(50, seed=3)
    assert all((partly_random(y, share, seed) != y).sum() <= round(share * 50) for seed in range(200))


def test_every_label_is_redrawn_alike_whatever_its_sign_and_place():
    y = random_signs(20, seed=3)
    changed = torch.stack([partly_random(y, 0.5, seed) != y for seed in range(4000)]).double().mean(0)
    assert (changed - 0.25).abs().max() < 5 * (0.25 * 0.75 / 4000) ** 0.5


def test_fully_random_labels_have_forgotten_the_labels():
    y = torch.ones(10_000, dtype=torch.float64)
    assert torch.equal(partly_random(y, 1.0, seed=0), partly_random(-y, 1.0, seed=0))


def test_partly_random_labels_are_signs_in_the_type_of_the_labels_and_leave_them_alone():
    for dtype in (torch.float32, torch.float64):
        y = random_signs(200, seed=0).to(dtype)
        before = y.clone()
        noisy = partly_random(y, 0.5, seed=0)
        assert noisy.dtype == dtype and set(noisy.tolist()) == {-1.0, 1.0}
        assert torch.equal(y, before)


def test_seed_and_name_choose_which_labels_are_redrawn():
    y = random_signs(200, seed=0)
    assert torch.equal(partly_random(y, 0.5, seed=1), partly_random(y, 0.5, seed=1))
    assert not torch.equal(partly_random(y, 0.5, seed=1), partly_random(y, 0.5, seed=2))
    assert not torch.equal(partly_random(y, 0.5, seed=1), partly_random(y, 0.5, seed=1, name="test labels"))


def test_shuffled_labels_are_the_same_labels_in_another_order():
    y = torch.arange(50, dtype=torch.float64)
    dealt = shuffled(y, seed=0)
    assert torch.equal(dealt.sort().values, y) and not torch.equal(dealt, y)
    assert torch.equal(dealt, shuffled(y, seed=0)) and not torch.equal(dealt, shuffled(y, seed=1))
