import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm
from hierlib.streams import stream
from hierlib.theory.loewner import inversion_gap, largest_share

N = 12


def positive(rank: int, seed: int = 0) -> torch.Tensor:
    """A random positive semi-definite matrix of the given rank with eigenvalues between 1 and 2."""
    generator = stream(seed, "positive", rank)
    Q = torch.linalg.qr(torch.randn(N, rank, generator=generator, dtype=torch.float64)).Q
    return Q * (1 + torch.rand(rank, generator=generator, dtype=torch.float64)) @ Q.T


def diagonal(*entries: float) -> torch.Tensor:
    return torch.tensor(entries, dtype=torch.float64).diag()


def least(M: torch.Tensor) -> float:
    return torch.linalg.eigvalsh(M)[0].item()


def test_the_largest_share_of_diagonal_matrices_is_the_smallest_quotient():
    assert largest_share(diagonal(6, 5, 4), diagonal(2, 1, 0)) == pytest.approx(3)


@pytest.mark.parametrize("rank", [1, 5, N])
def test_just_below_the_largest_share_the_order_holds_and_just_above_it_fails(rank):
    B, A = positive(N), positive(rank, seed=1)
    share = largest_share(B, A)
    assert least(B - 0.999 * share * A) > 0
    assert least(B - 1.001 * share * A) < 0


def test_one_over_the_share_of_the_inner_products_is_the_longest_path_of_a_unit_linear_function():
    X = unit_sphere(30, 3, seed=0)
    H, K = relu_gram(X), X @ X.T
    longest = inverse_norm(H, X @ unit_sphere(20_000, 3, seed=1).T).max().item() ** 2
    assert longest <= 1 / largest_share(H, K) * (1 + 1e-12)
    assert longest == pytest.approx(1 / largest_share(H, K), rel=1e-3)


def test_the_gap_of_diagonal_matrices_is_that_of_their_entries():
    # A^+ - P B^+ P = diag(1 - 1/3, 1/2 - 1/4, 0), in units of the largest entry of both inverses
    A, B = diagonal(1, 2, 0), diagonal(3, 4, 5)
    assert inversion_gap(A, B) == pytest.approx(0, abs=1e-15)
    assert inversion_gap(A, B, projected=False) == pytest.approx(-1 / 5)
    assert inversion_gap(diagonal(1, 2, 4), B) == pytest.approx(0.25 - 0.2)
    assert inversion_gap(diagonal(3, 8), diagonal(3, 4)) == pytest.approx((1 / 8 - 1 / 4) / (1 / 3))
    assert inversion_gap(diagonal(4, 8), diagonal(4, 2)) == pytest.approx((1 / 8 - 1 / 2) / (1 / 2))


def test_the_projection_is_on_the_range_of_the_smaller_matrix():
    # A = v v' with v = (1, 1)/sqrt2, B = diag(2, 1) + A: v' B^-1 v = 3/7, so A^+ - P B^+ P = (1 - 3/7) v v'
    A = torch.full((2, 2), 0.5, dtype=torch.float64)
    B = diagonal(2, 1) + A
    assert inversion_gap(A, B) == pytest.approx(0, abs=1e-15)
    unit = 1 / least(0.3 * B)
    assert inversion_gap(A, 0.3 * B) == pytest.approx((1 - 3 / 7 / 0.3) / unit)


@pytest.mark.parametrize("rank", [1, 6, N])
@pytest.mark.parametrize("extra", [1, 6, N])
def test_a_larger_matrix_has_the_smaller_projected_inverse(rank, extra):
    A = positive(rank)
    B = A + positive(extra, seed=1)
    assert inversion_gap(A, B) > -1e-12
    assert (inversion_gap(A, B, projected=False) > -1e-12) == (rank == N)


def test_without_the_order_the_gap_is_negative():
    A = positive(6)
    assert inversion_gap(A, 0.9 * A) == pytest.approx(0.9 - 1)
