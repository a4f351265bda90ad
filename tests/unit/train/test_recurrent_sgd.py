"""Algorithm 1 against autograd, step by step, and against its limit in the space of functions."""

import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.recurrent import finite_gram
from hierlib.nets.recurrent import outputs, recurrent
from hierlib.streams import signs
from hierlib.train.function_space import online_logistic
from hierlib.train.recurrent_sgd import one_pass

N, L, D = 12, 4, 3
X = unit_sphere(N * L, D, 1).reshape(N, L, D)
Y = signs((N,), 1, "labels")


def test_every_step_is_that_of_autograd():
    net, eta = recurrent(20, D, 0.1, seed=1), 0.05
    found = one_pass(net, X, Y, eta)
    W = net.W.clone().requires_grad_()
    for i in range(N):
        f = outputs(net._replace(W=W), X[i : i + 1])[0]
        assert torch.allclose(found.outputs[i], f.detach())
        (gradient,) = torch.autograd.grad(torch.nn.functional.softplus(-Y[i] * f), W)
        W = (W - eta * gradient).detach().requires_grad_()
    assert torch.allclose(found.net.W, W.detach(), atol=1e-12)
    assert abs(found.moved - (W - net.W).norm().item()) < 1e-12


def test_small_steps_follow_the_tangent_kernel():
    net, m = recurrent(300, D, 0.1, seed=2), 300
    start, c = outputs(net, X), 1e-3
    found = one_pass(net, X, Y, c / m)
    linear = online_logistic(finite_gram(net, X), Y, (c,), start=start)
    moved, predicted = outputs(found.net, X) - start, linear.values[0] - start
    assert (moved - predicted).norm() < 0.01 * predicted.norm()
