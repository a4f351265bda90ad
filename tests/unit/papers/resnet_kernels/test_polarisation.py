import pytest
import torch

from hierlib.papers.resnet_kernels.polarisation import power_coefficient, sum_of_powers
from hierlib.streams import stream


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_sum_of_powers_is_the_product(k):
    Z = torch.randn(50, k, generator=stream(0, "z", k), dtype=torch.float64)
    assert torch.allclose(sum_of_powers(Z), k ** (k / 2 - 0.5) * Z.prod(1), rtol=1e-10, atol=1e-12)


def test_the_coefficients_are_those_of_the_paper_and_at_most_one():
    assert [round(power_coefficient(k), 3) for k in (2, 3, 4, 5)] == [0.354, 0.325, 0.333, 0.364]
