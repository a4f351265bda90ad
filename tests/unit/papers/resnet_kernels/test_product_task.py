import torch

from hierlib.data.cubes import leaning_hypercube
from hierlib.papers.resnet_kernels.product_task import product_samples, together


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


def test_noise_has_the_size_asked_for_and_leaves_the_inputs_alone() -> None:
    (X, H), (same, Y) = (product_samples(6, 4, [0.3], seed=2, noise=size)(3) for size in (0.0, 0.5))
    assert torch.equal(X, same)
    noise = (Y - H)[0]
    assert abs(noise.square().sum(1).mean().item() / 0.25 - 1) < 0.1  # four standard errors of 2000 draws
    assert noise.mean(0).abs().max() < 4 * 0.25 / 2000**0.5


def test_without_its_base_signal_the_label_is_the_product() -> None:
    X, Y = product_samples(6, 4, [0.3], seed=2, beta=0.0)(0)
    torch.testing.assert_close(Y[0, :, 1], 0.3 * 36 * X[:, :4].prod(1) / 2)


def test_tasks_side_by_side_keep_their_inputs_and_labels() -> None:
    fair, leaning = product_samples(5, 2, [0.1, 0.2], 0, 40), product_samples(5, 2, [0.7], 0, 40, inputs=leaning_hypercube)
    X, Y = together(fair, leaning)(1)
    assert X.shape == (3, 40, 5) and Y.shape == (3, 40, 2)
    for runs, task in ((slice(0, 2), fair), (slice(2, 3), leaning)):
        inputs, labels = task(1)
        assert torch.equal(Y[runs], labels) and all(torch.equal(one, inputs) for one in X[runs])
