import torch

from hierlib.papers.resnet_kernels.product_task import product_samples


def test_samples_of_corollary_7_1_have_unit_norms_and_the_printed_formula() -> None:
    d, k, alphas = 7, 3, [0.0, 0.4]
    sample = product_samples(d, k, alphas, seed=1, chunk=50)
    X, Y = sample(0)
    torch.testing.assert_close(X.norm(dim=1), torch.ones(50, dtype=torch.float64))
    torch.testing.assert_close(Y[0].norm(dim=1), torch.ones(50, dtype=torch.float64))
    composite = (d**0.5 * X[:, 0]) * (d**0.5 * X[:, 1]) * (d**0.5 * X[:, 2]) / k**0.5
    for r in range(k):
        torch.testing.assert_close(Y[1, :, r], (d / k) ** 0.5 * X[:, r] + 0.4 * composite)
    assert not torch.equal(sample(1)[0], X) and torch.equal(sample(0)[0], X)
