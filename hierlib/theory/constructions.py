"""Weights that are known to exist: a random gated layer that represents a given function.

Gates of a Gaussian matrix times a linear layer, A D W* z, represent every function of general complexity, i.e. sums of
phi(<w1, z>/|z|) <w2, z> (Allen-Zhu and Li 2019, Lemma F.1, Lemmas D.2 and D.3). The weights W* are explicit and linear
in A. A target is anything with a (k, p), Taylor coefficients (k, p, q + 1) and unit vectors w1, w2 (k, p, D), such as a
`Concept2`, for which D = d + 1 and z = (x, 1). Inputs Z are rows (n, D), the layer has m neurons and k outputs.
"""

from typing import Protocol

import torch
from torch import Tensor

from hierlib.streams import normals
from hierlib.theory.hermite import gate_function
from hierlib.theory.sign_flips import best_flips


class GeneralFunction(Protocol):
    """What Definition B.1 asks for: a (k, p), coefficients (k, p, q + 1), w1 and w2 (k, p, D)."""

    @property
    def a(self) -> Tensor: ...
    @property
    def coefficients(self) -> Tensor: ...
    @property
    def w1(self) -> Tensor: ...
    @property
    def w2(self) -> Tensor: ...


def gate_factors(f: GeneralFunction, directions: Tensor) -> Tensor:
    """sum_i a_ri h_ri(<g_j, w1_ri>) w2_ri for every neuron and output: directions g (m, D) -> (m, k, D).

    The g_j must be standard normal: sqrt(m) times the paper's w_j^(0) in Lemma F.1, W^(0)/sigma_w or sqrt(m) V^(0)/sigma_v
    in Lemma D.2. h_ri is the function of Lemma F.2 for phi_ri without its clips, which stand too far out to matter.
    """
    inner = torch.einsum("jd,rpd->jrp", directions, f.w1)
    h = torch.from_numpy(gate_function(f.coefficients.numpy(), inner.numpy()))
    return torch.einsum("jrp,rpd->jrd", f.a * h, f.w2)


def representing_weights(f: GeneralFunction, A: Tensor, directions: Tensor) -> Tensor:
    """W* with A D W* z close to f(z): rows w*_j = sum_r A_rj sum_i a_ri h_ri(<g_j, w1_ri>) w2_ri (eq. F.3), (m, D).

    A (k, m) has entries N(0, 1/m). In the scaling of Lemma F.1, where entries are a = sqrt(m) A, the weights are these
    divided by sqrt(m). Weights for alpha f are alpha times these.
    """
    return torch.einsum("rj,jrd->jd", A, gate_factors(f, directions))


def gated_outputs(A: Tensor, on: Tensor, W: Tensor, Z: Tensor) -> Tensor:
    """A D W z for the rows of Z, with gates `on` (n, m) of any origin: A (k, m), W (m, D) -> (n, k)."""
    return (on * (Z @ W.T)) @ A.T


def neuron_variance(f: GeneralFunction, directions: Tensor, Z: Tensor) -> Tensor:
    """Variance V_r(z) of what one neuron adds to output r, so that A D W* z has mean f(z) and variance V/m: (n, k).

    With H_r = <factor of output r, z>, the mean over A of (a_r sum_s a_s H_s)^2 is 2 H_r^2 + sum_s H_s^2, and what is
    subtracted is the square of the mean of H_r. Only the mean over gates is left to the given directions (m, D).
    """
    first, second = torch.zeros(2, len(Z), len(f.a), dtype=Z.dtype)
    for part in directions.split(4096):
        H = torch.einsum("jrd,nd->njr", gate_factors(f, part), Z)
        H = H * (Z @ part.T >= 0)[..., None]
        first += H.sum(1)
        second += (2 * H**2 + (H**2).sum(2, keepdim=True)).sum(1)
    return second / len(directions) - (first / len(directions)) ** 2


def worst_change(A: Tensor, pre: Tensor, values: Tensor, budgets: Tensor | float, probes: Tensor) -> Tensor:
    """Largest |A (D' - D) v| that flipped gates can cause at each input, if its flips cost at most its budget: (n,).

    pre (n, m) are pre-activations W^(0) z and values (n, m) are v = W* z. A gate flips when the perturbation W z exceeds
    its pre-activation, so a set of gates can be flipped by a W of spectral norm tau exactly if the squares of their
    pre-activations sum to at most (tau |z|)^2, the square of the budget, (n,) or one for all. For each direction in
    probes (q, k), gates are taken in the order of gain per cost, which is optimal up to one gate; the largest norm found
    counts.
    """
    largest, budgets = [], torch.as_tensor(budgets, dtype=pre.dtype).expand(len(pre))
    for h, flip, budget in zip(pre, torch.where(pre >= 0, -1.0, 1.0) * values, budgets, strict=True):
        change = flip * A  # (k, m): what each flip adds
        flipped = best_flips(h, probes @ change, float(budget))
        largest.append((flipped.to(change.dtype) @ change.T).norm(dim=1).amax())
    return torch.stack(largest)


def unit_step(m: int, columns: int, seed: int, name: str) -> Tensor:
    """A Gaussian matrix (m, columns) scaled to spectral norm one: a random perturbation, to compare with the worst one."""
    step = normals((m, columns), seed, name)
    return step / torch.linalg.matrix_norm(step, 2)
