"""Movements of a random residual network within the balls |W|_F <= tau_w, |V|_F <= tau_v of Allen-Zhu and Li 2019, App. D.

Claims D.5 to D.7 speak of all of them. Here are the ones that hurt most as far as we can find them, what no movement can
exceed, and two harmless ones to compare with: a random movement and a path of gradient descent of the same length.
"""

import math

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates, outputs, second_outputs
from hierlib.papers.resnet_kernels.gradient_step import LongestGradients, longest_gradients
from hierlib.papers.resnet_kernels.lemma_d1 import moved_first, moved_second, worst_operator, worst_output, worst_start
from hierlib.streams import normals
from hierlib.theory.sign_flips import cheapest, shift


def along_mean_state(net: Residual, X: Tensor, p: Tensor) -> Residual:
    """The network with the V of rank one such that V z = p (m,) at the mean state z = (out_1, 1) over the inputs (n, d)."""
    z = with_one(first_outputs(net, X).mean(0, keepdim=True))[0]
    return net._replace(V=net.V + torch.outer(p, z) / (z @ z))


def against_direction(net: Residual, X: Tensor, F: Tensor, tau_v: float) -> Residual:
    """The V of rank one, |V|_F <= tau_v, that makes A D_{V,W} V^(0) (F, 0) long: the worst we know for Claim D.6.

    It flips gates at the mean state of the inputs X (n, d), with so much to spare that most stay flipped at all of them;
    the gates are those for which the sign of <u, a_j> (V^(0) (F, 0))_j helps (`worst_operator`). F (n, k).
    """
    states = first_outputs(net, X)
    z = with_one(states.mean(0, keepdim=True))[0]
    h = net.V @ z
    spread = (states - states.mean(0)).norm(dim=1).max() * net.V.square().mean().sqrt()
    _, values, directions = torch.linalg.svd(F / math.sqrt(len(F)), full_matrices=False)
    p = worst_operator(net.A, net.V[:, :-1] @ directions.mT * values, h + h.sign() * spread, tau_v * z.norm().item())
    return along_mean_state(net, X, p)


def flip_gains(net: Residual, x: Tensor, tau_v: float) -> tuple[float, float]:
    """What flipped gates alone add at the worst |V| <= tau_v: |A (D - D0) V0|_2 and |A (D - D0) V0 z| / |z|, z = (out_1, 1).

    These are the parts of (f) and (e) of Lemma D.1 that do not vanish with the width; `flip_limits` has their limits.
    """
    z = with_one(first_outputs(net, x[None]))[0]
    h, budget = net.V @ z, tau_v * z.norm().item()
    searches = (worst_operator(net.A, net.V[:, :-1], h, budget), worst_start(net.A, h, budget))
    in_f, in_e = (net.A * ((h + p >= 0).to(h) - (h >= 0).to(h)) for p in searches)
    return float(torch.linalg.matrix_norm(in_f @ net.V[:, :-1], 2)), (in_e @ h).norm().item() / z.norm().item()


def at_random(net: Residual, X: Tensor, tau_v: float, seed: int) -> Residual:
    """A random V of rank one with |V|_F = tau_v that acts on the mean state of the inputs X (n, d)."""
    p = normals((len(net.V),), seed, "random movement")
    z = with_one(first_outputs(net, X).mean(0, keepdim=True))
    return along_mean_state(net, X, p * (tau_v * z.norm().item() / p.norm()))


def gradients(net: Residual, X: Tensor, Y: Tensor) -> tuple[Tensor, Tensor]:
    """-grad_W and -grad_V of the sum of 1/2 |y - out|^2 over inputs (n, d) and labels (n, k), from Fact D.4."""
    first, second = gates(net, X)
    left = Y - outputs(net, X)
    back = second * (left @ net.A)
    return (first * ((left + back @ net.V[:, :-1]) @ net.A)).mT @ with_one(X), back.mT @ with_one(first_outputs(net, X))


def along_gradient(net: Residual, X: Tensor, Y: Tensor, tau_w: float, tau_v: float, steps: int = 1) -> Residual:
    """Gradient descent on the given data in steps of length tau_w / steps in W and tau_v / steps in V: ends in the balls."""
    for _ in range(steps):
        dW, dV = gradients(net, X, Y)
        net = net._replace(W=net.W + dW * (tau_w / steps / dW.norm()), V=net.V + dV * (tau_v / steps / dV.norm()))
    return net


def first_output_at(net: Residual, x: Tensor, target: Tensor) -> Residual:
    """The network with a W of rank one such that out_1(x) is the target (k,): W (x, 1) = A'c, c by Newton's method."""
    h, c = net.W @ with_one(x[None])[0], torch.zeros_like(target)
    for _ in range(100):
        p = net.A.mT @ c
        missing = target - net.A @ torch.relu(h + p)
        if missing.norm() <= 1e-12 * (1 + target.norm()):
            break
        c = c + torch.linalg.solve((net.A * (h + p >= 0)) @ net.A.mT, missing)
    return moved_first(net, x, net.A.mT @ c)


def worst_gradients(net: Residual, x: Tensor, tau_w: float, tau_v: float) -> LongestGradients:
    """The longest gradients of Claim D.5 that we find over |W|_F <= tau_w, |V|_F <= tau_v, at the input x (d,).

    In W: open as many gates of the first block as tau_w allows; then split V into a part that flips gates of the second
    (`worst_operator`) and one that is aligned with the result and orthogonal to (out_1, 1), in three proportions. In V:
    make out_1 as long as possible (`worst_output`).
    """
    z = with_one(x[None])[0]
    h, budget = net.W @ z, tau_w * z.norm().item()
    opened = moved_first(net, x, shift(h, cheapest(torch.where(h < 0, (2 * h) ** 2, torch.inf), budget**2)))
    long = moved_first(net, x, worst_output(net.A, h, budget, first_outputs(net, x[None])[0]))
    state = with_one(first_outputs(opened, x[None]))[0]
    found = [longest_gradients(long, x)]
    for share in (0.0, 0.7, 0.99):
        p = worst_operator(net.A, net.V[:, :-1], net.V @ state, share * tau_v * state.norm().item())
        moved = moved_second(opened, x, p)
        gated = net.A * gates(moved, x[None])[1][0]
        left, _, right = torch.linalg.svd(gated @ moved.V[:, :-1])
        v = torch.cat([right[0], torch.zeros(1, dtype=right.dtype)])
        v = v - state * (state @ v) / (state @ state)
        aligned = torch.outer(gated.mT @ left[:, 0], v)
        length = math.sqrt(1 - share**2) * tau_v / aligned.norm()
        found.append(longest_gradients(moved._replace(V=moved.V + length * aligned), x))
    return LongestGradients(*map(max, zip(*found, strict=True)))


def gradient_ceilings(net: Residual, x: Tensor, tau_w: float, tau_v: float) -> LongestGradients:
    """No |W|_F <= tau_w, |V|_F <= tau_v and no label make the gradients of Claim D.5 longer than this, at the input x (d,).

    |(x, 1)| |A| (1 + |A| (|V^(0)| + tau_v)) in W, and |A| (1 + |out_1| at the start + |A| tau_w |(x, 1)|) in V, because the
    relu is Lipschitz. `net` is the start.
    """
    A, V0 = (float(torch.linalg.matrix_norm(M, 2)) for M in (net.A, net.V))
    size = with_one(x[None]).norm().item()
    out1 = first_outputs(net, x[None]).norm().item()
    return LongestGradients(size * A * (1 + A * (V0 + tau_v)), A * (1 + out1 + A * tau_w * size))


def hidden_difference(net: Residual, x: Tensor, H: Tensor, tau_v: float, u: Tensor, rounds: int = 30) -> Residual:
    """A network with out(x) = H whose second block, |V|_F = tau_v, adds as much as it can along u (k,): worst for D.7.

    out_1(x) = H - (what the second block adds), found by iteration, so that out_1 is as far from F as V can hide.
    """
    target = H
    for _ in range(rounds):
        moved = first_output_at(net, x, target)
        z = with_one(first_outputs(moved, x[None]))[0]
        full = moved_second(moved, x, worst_output(net.A, net.V @ z, tau_v * z.norm().item(), u, rounds=2))
        target = H - second_outputs(full, first_outputs(full, x[None]))[0]
    return full


def second_gain(net: Residual, tau_v: float, states: Tensor) -> float:
    """At most this times |(out_1, 1)| is added by the second block, for all |V| <= tau_v: Lemma D.1(g) with its constant.

    |A relu((V^(0) + V) z)| <= |A relu(V^(0) z)| + |A| tau_v |z|, the first term maximised over the unit states (r, k + 1).
    """
    start = (torch.relu(states @ net.V.mT) @ net.A.mT).norm(dim=1).max().item()
    return start + float(torch.linalg.matrix_norm(net.A, 2)) * tau_v
