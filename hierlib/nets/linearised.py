"""Networks made linear at their start: the kernel method of the finite-width neural tangent kernel.

The prediction is sum_f D_f out(theta_0; x) [theta_f] over the trained fields f, a linear function of the movement theta
with the gates of the start. Its ridge regression is kernel regression with the tangent kernel, so the output at the start
is left out, as in the definition of a kernel method (Allen-Zhu and Li 2019, section 3; methods "(NTK)" of appendix A).

Every network holds its start (A, W0, V0) and its movement (W, V), which begins at zero and is what training changes.
Weights may have leading axes (one network per entry).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets import fully_connected, residual
from hierlib.nets.affine import relu_layer_tangent


class ShallowTangent(NamedTuple):
    """Start A (..., k, m), W0 (..., m, d + 1) of a two-layer network; movement W of the shape of W0."""

    A: Tensor
    W0: Tensor
    W: Tensor


class DeepTangent(NamedTuple):
    """Start A (..., k, m), W0 (..., m, d + 1), V0 (..., m, m + 1) of a three-layer network; movements W, V."""

    A: Tensor
    W0: Tensor
    V0: Tensor
    W: Tensor
    V: Tensor


class ResidualTangent(NamedTuple):
    """Start A (..., k, m), W0 (..., m, d + 1), V0 (..., m, k + 1) of a residual network; movements W, V."""

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


def residual_tangent(m: int, d: int, k: int, seed: int) -> ResidualTangent:
    """The linearisation of `residual.residual` with the start of the paper's experiments, at rest."""
    net = residual.residual(m, d, k, seed)
    return ResidualTangent(net.A, net.W, net.V, torch.zeros_like(net.W), torch.zeros_like(net.V))


def outputs(net: ShallowTangent | DeepTangent | ResidualTangent, X: Tensor) -> Tensor:
    """The derivative of the network along its movement, at the gates of the start: X (..., n, d) -> (..., n, k).

    With the hidden values h of the start and z = D_{W0} W (x, 1), what the movement of W adds to them,

        two layers    A z
        three layers  A D_{V0} (V (h, 1) + V0 (z, 0))
        residual      A z + A D_{V0} (V (A h, 1) + V0 (A z, 0))

    where the last is f(W; x) + g(V; x) of Fact D.4 in Allen-Zhu and Li 2019.
    """
    hidden, moved = relu_layer_tangent(net.W0, X, net.W)
    if isinstance(net, ShallowTangent):
        return moved @ net.A.mT
    if isinstance(net, DeepTangent):
        return relu_layer_tangent(net.V0, hidden, net.V, moved)[1] @ net.A.mT
    out1, moved1 = hidden @ net.A.mT, moved @ net.A.mT
    return moved1 + relu_layer_tangent(net.V0, out1, net.V, moved1)[1] @ net.A.mT
