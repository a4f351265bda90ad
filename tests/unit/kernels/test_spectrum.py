import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import (
    energies,
    extreme_eigenvalues,
    inverse_norm,
    inverse_squares,
    spectral_inverse_norm,
    spectrum,
    top_spectrum,
)

N = 25


@pytest.fixture
def H():
    return relu_gram(unit_sphere(N, 6, seed=0))


def test_eigenvalues_come_largest_first_and_agree_with_numpy(H):
    values = spectrum(H).values.numpy()
    assert (np.diff(values) <= 0).all()
    assert np.allclose(values, np.sort(np.linalg.eigvals(H.numpy()).real)[::-1], rtol=1e-10)


def test_column_i_is_the_eigenvector_of_eigenvalue_i(H):
    values, vectors = spectrum(H)
    for i in range(N):
        assert torch.allclose(H @ vectors[:, i], values[i] * vectors[:, i], atol=1e-13)


def test_eigenvectors_are_orthonormal_and_rebuild_the_matrix(H):
    values, vectors = spectrum(H)
    assert torch.allclose(vectors.T @ vectors, torch.eye(N).double(), atol=1e-13)
    assert torch.allclose(vectors @ values.diag() @ vectors.T, H, atol=1e-13)


def test_the_spectrum_of_a_float32_matrix_is_computed_in_float64(H):
    rounded = H.float()
    values, vectors = spectrum(rounded)
    assert values.dtype == vectors.dtype == torch.float64
    assert torch.allclose(vectors @ values.diag() @ vectors.T, rounded.double(), atol=1e-13)


def test_energies_are_squared_projections_and_sum_to_one(H):
    vectors, y = spectrum(H).vectors, 3 * random_signs(N, seed=0)
    by_hand = [sum(vectors[j, i].item() * y[j].item() for j in range(N)) ** 2 / (9 * N) for i in range(N)]
    assert np.allclose(energies(vectors, y), by_hand, rtol=1e-10)
    assert energies(vectors, y).sum() == pytest.approx(1, abs=1e-13)


def test_all_energy_of_an_eigenvector_is_its_own(H):
    vectors = spectrum(H).vectors
    assert torch.allclose(energies(vectors, 2 * vectors[:, 3]), torch.eye(N).double()[3], atol=1e-13)


def test_the_inverse_norm_agrees_with_a_linear_solve(H):
    y = random_signs(N, seed=0)
    norm = inverse_norm(H, y)
    assert norm.shape == ()
    assert norm.item() == pytest.approx((y.numpy() @ np.linalg.solve(H.numpy(), y.numpy())) ** 0.5, rel=1e-10)


def test_the_inverse_norm_from_the_eigenpairs_is_the_one_by_cholesky(H):
    eigen, y = spectrum(H), random_signs(N, seed=0)
    assert spectral_inverse_norm(eigen, y).item() == pytest.approx(inverse_norm(H, y).item(), rel=1e-10)
    assert inverse_squares(eigen, y).sum().item() == pytest.approx(inverse_norm(H, y).item() ** 2, rel=1e-10)


def test_the_inverse_norm_of_an_eigenvector_is_one_over_the_root_of_its_eigenvalue(H):
    values, vectors = spectrum(H)
    assert torch.allclose(inverse_norm(H, vectors), values**-0.5, rtol=1e-9)


@pytest.mark.parametrize("columns", [1, 4])
def test_several_label_vectors_at_once_give_one_norm_each(H, columns):
    Y = torch.stack([random_signs(N, seed) for seed in range(columns)], dim=1)
    together = inverse_norm(H, Y)
    assert together.shape == (columns,)
    assert torch.allclose(together, torch.stack([inverse_norm(H, y) for y in Y.T]), rtol=1e-12)


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(torch.linalg.LinAlgError):
        inverse_norm(torch.tensor([[1.0, 2.0], [2.0, 1.0]]), torch.ones(2))


@pytest.mark.parametrize("n", [25, 300])
def test_lanczos_finds_both_ends_of_the_spectrum(n):
    gram = relu_gram(unit_sphere(n, 4, seed=0))
    values = torch.linalg.eigvalsh(gram)
    ends = (values[0].item(), values[-1].item())
    assert extreme_eigenvalues(gram) == pytest.approx(ends, rel=1e-3)
    assert extreme_eigenvalues(gram, tolerance=0) == pytest.approx(ends, rel=1e-9)
    assert extreme_eigenvalues(gram, torch.linalg.cholesky(gram)) == extreme_eigenvalues(gram)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_top_of_a_large_spectrum_is_that_of_the_whole(dtype):
    X = unit_sphere(300, 4, seed=1)
    H, whole = relu_gram(X).to(dtype), spectrum(relu_gram(X))
    top = top_spectrum(H, 5, seed=0, rounds=30)
    near = 1e-5 if dtype == torch.float32 else 1e-11
    assert torch.allclose(top.values, whole.values[:5], rtol=near)
    assert torch.allclose(top.vectors.T @ top.vectors, torch.eye(5).double(), atol=near)
    # eigenvalues of the sphere come in groups of equal ones: compare the spaces, not the vectors
    seen = whole.vectors[:, :5].T @ top.vectors
    assert torch.allclose(seen[:1].abs(), torch.eye(5)[:1].double(), atol=10 * near)
    assert torch.allclose(H.double() @ top.vectors, top.vectors * top.values, atol=300 * near)


def test_the_top_of_a_small_matrix_may_be_all_of_it(H):
    assert torch.allclose(top_spectrum(H, N, seed=0, rounds=1).values, spectrum(H).values, rtol=1e-9)
