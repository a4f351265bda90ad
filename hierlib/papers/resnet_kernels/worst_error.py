"""The longest Err of Claim D.6 (Allen-Zhu and Li 2019) over W and V in their balls, as far as we can find it, at one input.

At weights W, V (increments) the error of the gradient's direction is

    Err = A D_W (W^(0) + W*)(x, 1) - H + A D_{V,W} c + A D_{V,W} V (r, 0),    c = V^(0) (r, 0) + (V^(0) + V*) z,

with r = A D_W (W* - W)(x, 1) and z = (out_1, 1): the first block is felt through its gates, r and z, the second through its
gates and V (r, 0). Given W, gates that set the sign of <u, a_j> c_j are a knapsack problem, as in `lemma_d1`.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates
from hierlib.papers.resnet_kernels.gradient_step import first_block_tangent
from hierlib.papers.resnet_kernels.lemma_d1 import moved_first, worst_output
from hierlib.theory.sign_flips import best_flips, shift


class Aim(NamedTuple):
    """What the step should find at the input x (d,): W* (m, d + 1), V* (m, k + 1) and the target H(x) (k,)."""

    x: Tensor
    W_star: Tensor
    V_star: Tensor
    H: Tensor


def error_at(net: Residual, start: Residual, aim: Aim) -> Tensor:
    """Err = f(W* - W) + g(V* - V) - (H - out) at the input, (k,), from the formula above; `net` has W^(0) + W, V^(0) + V."""
    fixed, lacking, z = _first(net, start, aim)
    c = start.V[:, :-1] @ lacking + (start.V + aim.V_star) @ z
    return fixed + net.A @ (gates(net, aim.x[None])[1][0] * (c + (net.V - start.V)[:, :-1] @ lacking))


def longest_error(start: Residual, aim: Aim, tau_w: float, tau_v: float) -> Residual:
    """The network with the longest Err that we find over |W|_F <= tau_w and |V|_F <= tau_v.

    W is zero, or flips the gates that make the fixed part long, or steers out_1 along H or against it; then V is split
    between flips and a part aligned with the result, in two proportions. (Flips win, wherever we looked.)
    """
    z = with_one(aim.x[None])[0]
    h, budget = start.W @ z, tau_w * z.norm().item()
    steers = [worst_output(start.A, h, budget, u, rounds=2) for u in (aim.H, -aim.H)]
    movements = [torch.zeros_like(h), flip_first(start, aim, budget), *steers]
    nets = [moved_second_against(moved_first(start, aim.x, p), start, aim, tau_v) for p in movements]
    return max(nets, key=lambda net: error_at(net, start, aim).norm().item())


def flip_first(start: Residual, aim: Aim, budget: float, rounds: int = 6) -> Tensor:
    """p (m,), |p| <= budget, that makes |A D (W^(0) + W*)(x, 1) - H| long, D the gates of W^(0)(x, 1) + p."""
    z = with_one(aim.x[None])[0]
    h, c = start.W @ z, (start.W + aim.W_star) @ z
    gate, best, longest = h >= 0, torch.zeros_like(h), 0.0
    for _ in range(rounds):
        fixed = start.A @ (gate * c) - aim.H
        if fixed.norm() <= longest * (1 + 1e-9):
            break
        best, longest = shift(h, gate != (h >= 0)), float(fixed.norm())
        gain = (fixed @ start.A) * c * torch.where(h >= 0, -1.0, 1.0)
        gate = (h >= 0) ^ best_flips(h, gain, budget)
    return best


def moved_second_against(net: Residual, start: Residual, aim: Aim, tau_v: float, rounds: int = 4) -> Residual:
    """The network with the |V|_F <= tau_v that makes Err long, given W; `net` has W^(0) + W and V^(0)."""
    fixed, lacking, z = _first(net, start, aim)
    h, c = start.V @ z, start.V[:, :-1] @ lacking + (start.V + aim.V_star) @ z
    found = [net]
    for share in (0.7, 1.0):
        gate, longest = h >= 0, 0.0
        for _ in range(rounds):
            error = fixed + net.A @ (gate * c)
            if error.norm() <= longest * (1 + 1e-9):
                break
            longest = float(error.norm())
            gain = (error @ net.A) * c * torch.where(h >= 0, -1.0, 1.0)
            gate = (h >= 0) ^ best_flips(h, gain, share * tau_v * z.norm().item())
        flips = torch.outer(shift(h, gate != (h >= 0)), z) / (z @ z)
        across = torch.nn.functional.pad(lacking, (0, 1))
        across = across - z * (z @ across) / (z @ z)  # orthogonal to z: it moves no gate
        aligned = torch.outer(gate * ((fixed + net.A @ (gate * c)) @ net.A), across)
        left = math.sqrt(max(tau_v**2 - flips.square().sum().item(), 0.0))
        found.append(net._replace(V=start.V + flips + aligned * (left / aligned.norm())))
    return max(found, key=lambda moved: error_at(moved, start, aim).norm().item())


def _first(net: Residual, start: Residual, aim: Aim) -> tuple[Tensor, Tensor, Tensor]:
    """A D_W (W^(0) + W*)(x, 1) - H (k,), r = A D_W (W* - W)(x, 1) (k,) and z = (out_1, 1) (k + 1,)."""
    row = aim.x[None]
    fixed = first_block_tangent(net, row, start.W + aim.W_star)[0] - aim.H
    lacking = first_block_tangent(net, row, aim.W_star - (net.W - start.W))[0]
    return fixed, lacking, with_one(first_outputs(net, row))[0]
