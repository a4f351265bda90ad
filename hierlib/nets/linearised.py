"""Networks made linear at their start: the kernel method of the finite-width neural tangent kernel.

The prediction is sum_f D_f out(theta_0; x) [theta_f] over the trained fields f, a linear function of the movement theta
with the gates of the start. Its ridge regression is kernel regression with the tangent kernel, so the output at the start
is left out, as in the definition of a kernel method (Allen-Zhu and Li 2019, section 3; methods "(NTK)" of appendix A).

Every network holds its start (A, W0, V0) and its movement (W, V), which begins at zero and is what training changes.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets import fully_connected, residual
from hierlib.nets.residual import with_one


class ShallowTangent(NamedTuple):
    """Start A (..., k, m), W0 (..., m, d + 1) of a two-layer network; movement W of the shape of W0."""

    A: Tensor
    W0: Tensor
    W: Tensor


class DeepTangent(NamedTuple):
    """Start A, W0, V0 of a three-layer or a residual network; movements W, V."""

    A: Tensor
    W0: Tensor
    V0: Tensor
    W: Tensor
    V: Tensor


def shallow_tangent(m: int, d: int, k: int, seed: int) -> ShallowTangent:
    """The linearisation of `fully_connected.shallow`, at rest."""
    net = fully_connected.shallow(m, d, k, seed)
    return ShallowTangent(net.A, net.W, torch.zeros_like(net.W))


def deep_tangent(m: int, d: int, k: int, seed: int) -> DeepTangent:
    """The linearisation of `fully_connected.deep`, at rest."""
    net = fully_connected.deep(m, d, k, seed)
    return DeepTangent(net.A, net.W, net.V, torch.zeros_like(net.W), torch.zeros_like(net.V))


def residual_tangent(m: int, d: int, k: int, seed: int) -> DeepTangent:
    """The linearisation of `residual.residual` with the start of the paper's experiments, at rest."""
    net = residual.residual(m, d, k, seed)
    return DeepTangent(net.A, net.W, net.V, torch.zeros_like(net.W), torch.zeros_like(net.V))


def shallow_tangent_outputs(net: ShallowTangent, X: Tensor) -> Tensor:
    """A D_{W0} W (x, 1): X (..., n, d) -> (..., n, k)."""
    _, moved = _first(net, X)
    return moved @ net.A.mT


def deep_tangent_outputs(net: DeepTangent, X: Tensor) -> Tensor:
    """A D_{V0} (V (h, 1) + V0 (D_{W0} W (x, 1), 0)) with the hidden values h of the start: (..., n, d) -> (..., n, k)."""
    hidden, moved = _first(net, X)
    return _second(net, hidden, moved) @ net.A.mT


def residual_tangent_outputs(net: DeepTangent, X: Tensor) -> Tensor:
    """The maps f(W; x) + g(V; x) of Fact D.4 in Allen-Zhu and Li 2019, at the gates of the start."""
    hidden, moved = _first(net, X)
    out1, moved1 = hidden @ net.A.mT, moved @ net.A.mT
    return moved1 + _second(net, out1, moved1) @ net.A.mT


def _first(net: ShallowTangent | DeepTangent, X: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden values of the start and how the movement of W changes them: (..., n, m) each."""
    x = with_one(X)
    hidden = torch.relu(x @ net.W0.mT)
    return hidden, hidden.sign() * (x @ net.W.mT)  # the sign of relu is the gate, and cheaper than a comparison


def _second(net: DeepTangent, below: Tensor, moved: Tensor) -> Tensor:
    """How the second layer's hidden values change with V and with what is below it."""
    below = with_one(below)
    gate = torch.relu(below @ net.V0.mT).sign()
    return gate * (below @ net.V.mT + moved @ net.V0[..., :-1].mT)
