"""Every ablation is the network it says, and stays it under training."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.affine import with_one
from hierlib.nets.residual import first_outputs, outputs, residual, second_outputs
from hierlib.papers.resnet_kernels.ablations import own_output_weights, padded, without_skip
from hierlib.streams import normals, stream
from hierlib.train.one_pass import online_sgd

M, D, K = 30, 4, 3
NET = residual(M, D, K, 0, sigma_w=0.8, sigma_v=2.0)
X = unit_sphere(50, D, 0)
OWN = normals((K, M), 7, "own output weights", scale=M**-0.5)
VARIANTS = {"padded": padded(NET), "own": own_output_weights(NET, 7), "no skip": without_skip(NET)}


def direct(name, W, V, X):
    """The three networks, written down."""
    out1 = torch.relu(with_one(X) @ W.mT) @ NET.A.mT
    second = torch.relu(with_one(out1) @ V.mT)
    return {"padded": out1 + second @ NET.A.mT, "own": out1 + second @ OWN.mT, "no skip": second @ NET.A.mT}[name]


@pytest.mark.parametrize("name", VARIANTS)
def test_it_is_the_function_it_says(name):
    assert torch.allclose(outputs(VARIANTS[name], X), direct(name, NET.W, NET.V, X))
    assert torch.allclose(first_outputs(VARIANTS[name], X), first_outputs(NET, X))


def test_they_have_one_shape_and_differ():
    assert len({tuple(w.shape for w in net) for net in VARIANTS.values()}) == 1
    out1 = first_outputs(NET, X)
    assert not torch.allclose(second_outputs(VARIANTS["own"], out1), second_outputs(NET, out1))


@pytest.mark.parametrize("name", VARIANTS)
def test_training_it_is_training_the_network_it_says(name):
    steps, eta = 40, 0.1

    def sample(block):
        inputs = torch.randn(steps, D, generator=stream(0, "train", block), dtype=torch.float64)
        return inputs, inputs[:, :K] ** 2

    run = online_sgd(VARIANTS[name], sample, eta, eta, steps, 1, [steps], dtype=torch.float64)
    W, V = NET.W.clone().requires_grad_(), NET.V.clone().requires_grad_()
    inputs, labels = sample(0)
    for i in range(steps):
        loss = (labels[i] - direct(name, W, V, inputs[i : i + 1])[0]).square().sum() / 2
        grad_W, grad_V = torch.autograd.grad(loss, (W, V))
        with torch.no_grad():
            W -= eta * grad_W
            V -= eta * grad_V
    assert torch.allclose(outputs(run.nets[0], X), direct(name, W, V, X).detach(), atol=1e-4)
    assert not torch.allclose(outputs(run.nets[0], X), outputs(VARIANTS[name], X), atol=0.05)
