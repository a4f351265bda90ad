import pytest
import torch

from hierlib.kernels.walsh import heaviest_products
from hierlib.papers.resnet_kernels.heavy_products import heaviest_sets


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_same_sets_as_from_the_list_of_all(k):
    weights = torch.rand(14, generator=torch.Generator().manual_seed(k), dtype=torch.float64) / 14
    found, expected = heaviest_sets(weights, k, 0.05), heaviest_products(weights, k, 0.05)
    assert set(map(tuple, found.tolist())) == set(map(tuple, expected.tolist()))
