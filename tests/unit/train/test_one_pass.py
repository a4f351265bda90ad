"""Algorithm 1 against a plain loop with autograd, one sample at a time, one run at a time."""

import pytest
import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.nets.residual import Residual, outputs, residual
from hierlib.streams import stream
from hierlib.targets.hierarchy import coordinate_product
from hierlib.train.one_pass import OnePass, Sample, online_sgd, side_by_side

M, D, K = 24, 6, 3
ETA_W, ETA_V, ALPHAS = [0.3, 0.1, 0.2], [0.05, 0.2, 0.0], [0.3, 0.5, 0.7]


def networks() -> list[Residual]:
    return [residual(M, D, K, seed, sigma_w=0.7, sigma_v=1.5) for seed in range(3)]


def shared_inputs(alphas: list[float], samples: int = 12) -> Sample:
    """Chunks of inputs that all runs see, with labels for every alpha."""

    def sample(chunk: int) -> tuple[Tensor, Tensor]:
        X = hypercube(samples, D, 0, f"chunk {chunk}")
        signal = coordinate_product(X, K)
        return X / D**0.5, torch.stack([signal.labels(alpha) for alpha in alphas])

    return sample


def inputs_of_their_own(seeds: range) -> Sample:
    """Chunks in which every run has its own inputs and noisy labels."""

    def sample(chunk: int) -> tuple[Tensor, Tensor]:
        draws = [torch.randn(12, D + K, generator=stream(s, "own", chunk), dtype=torch.float64) for s in seeds]
        drawn = torch.stack(draws)
        return drawn[..., :D], drawn[..., D:]

    return sample


def by_autograd(net: Residual, sample: Sample, run: int, eta_w: float, eta_v: float, steps: int, batch: int) -> OnePass:
    """The algorithm as it is printed."""
    chunks = [sample(chunk) for chunk in range(2 * steps * batch // 12 + 1)]
    inputs = [x for X, _ in chunks for x in (X if X.ndim == 2 else X[run])]
    labels = [y for _, Y in chunks for y in (Y if Y.ndim == 2 else Y[run])]
    W, V, errors, nets = net.W.clone(), net.V.clone(), [], [net]
    for step in range(steps):
        W, V = W.requires_grad_(), V.requires_grad_()
        drawn = range(step * batch, (step + 1) * batch)
        squares = [(labels[i] - outputs(Residual(net.A, W, V), inputs[i][None])[0]).square().sum() for i in drawn]
        gradient_W, gradient_V = torch.autograd.grad(sum(square / 2 for square in squares) / batch, (W, V))
        W, V = (W - eta_w * gradient_W).detach(), (V - eta_v * gradient_V).detach()
        errors.append(sum(square.item() for square in squares) / batch)
        nets.append(Residual(net.A, W, V))
    return OnePass(torch.tensor(errors, dtype=torch.float64), nets)


@pytest.mark.parametrize("sample", [shared_inputs(ALPHAS), inputs_of_their_own(range(3))], ids=["shared", "own"])
@pytest.mark.parametrize("batch", [1, 4])
def test_it_takes_the_steps_of_autograd(sample: Sample, batch: int) -> None:
    steps, kept = 20, [0, 1, 7, 20]
    run = online_sgd(side_by_side(networks()), sample, ETA_W, ETA_V, steps, batch, kept, dtype=torch.float64)
    for i, net in enumerate(networks()):
        slow = by_autograd(net, sample, i, ETA_W[i], ETA_V[i], steps, batch)
        torch.testing.assert_close(run.errors[i], slow.errors, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(run.mean_errors()[i, 6], slow.errors[:7].mean())
        for fast_net, step in zip(run.nets, kept, strict=True):
            torch.testing.assert_close(fast_net.W[i], slow.nets[step].W, rtol=1e-9, atol=1e-12)
            torch.testing.assert_close(fast_net.V[i], slow.nets[step].V, rtol=1e-9, atol=1e-12)


def test_a_run_alone_is_the_run_in_company() -> None:
    together = online_sgd(side_by_side(networks()), shared_inputs(ALPHAS), ETA_W, ETA_V, 30, 2, [30], dtype=torch.float64)
    for i, net in enumerate(networks()):
        alone = online_sgd(net, shared_inputs(ALPHAS[i : i + 1]), ETA_W[i], ETA_V[i], 30, 2, [30], dtype=torch.float64)
        assert alone.errors.shape == (30,) and alone.nets[0].W.shape == (M, D + 1)
        torch.testing.assert_close(alone.errors, together.errors[i], rtol=1e-10, atol=1e-13)
        torch.testing.assert_close(alone.nets[0].W, together.nets[0].W[i], rtol=1e-10, atol=1e-13)


def test_zero_step_size_freezes_the_weights() -> None:
    net = networks()[0]
    run = online_sgd(net, shared_inputs([0.3]), 0.3, 0.0, 10, snapshots=[10], dtype=torch.float64)
    assert torch.equal(run.nets[0].V, net.V) and not torch.equal(run.nets[0].W, net.W)
    run = online_sgd(net, shared_inputs([0.3]), 0.0, 0.3, 10, snapshots=[10], dtype=torch.float64)
    assert torch.equal(run.nets[0].W, net.W) and not torch.equal(run.nets[0].V, net.V)


def test_single_precision_follows_double_precision() -> None:
    net, sample = residual(200, D, K, 0, sigma_w=0.5, sigma_v=2.0), shared_inputs([0.3], samples=1000)
    double = online_sgd(net, sample, 0.1, 0.1, 2000, snapshots=[2000], dtype=torch.float64)
    single = online_sgd(net, sample, 0.1, 0.1, 2000, snapshots=[2000])
    assert single.nets[0].W.dtype == torch.float64
    assert (single.nets[0].W - double.nets[0].W).norm() <= 1e-4 * (double.nets[0].W - net.W).norm()


def test_the_network_given_is_left_as_it_was() -> None:
    net = networks()[0]
    before = [weights.clone() for weights in net]
    online_sgd(net, shared_inputs([0.3]), 0.3, 0.3, 5, dtype=torch.float64)
    assert all(torch.equal(weights, old) for weights, old in zip(net, before, strict=True))


def test_a_chunk_that_does_not_split_into_batches_is_refused() -> None:
    with pytest.raises(ValueError, match="12 samples cannot be cut into batches of 5"):
        online_sgd(networks()[0], shared_inputs([0.3]), 0.1, 0.1, 5, batch=5)
