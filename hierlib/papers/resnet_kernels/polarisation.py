"""A product of k numbers as a sum of k-th powers of linear forms, which puts it into the concept class.

    z_1 ... z_k = 1 / (2^k k!) sum over s in {0,1}^k of (-1)^|s| (sum_i (-1)^{s_i} z_i)^k

Allen-Zhu and Li 2019 use it in the proof of Corollary 7.1 (appendix E.4) with z_i / sqrt(k) in the linear forms.
"""

import math

import torch
from torch import Tensor

from hierlib.data.cubes import all_corners


def sum_of_powers(Z: Tensor) -> Tensor:
    """k^{k/2 - 1/2} z_1 ... z_k as the paper writes it, sum_s c_s <v_s, z>^k with unit v_s: Z (n, k) -> (n,)."""
    k = Z.shape[1]
    signs = all_corners(k, Z.dtype)
    return power_coefficient(k) * ((Z @ signs.T / math.sqrt(k)) ** k @ torch.prod(signs, dim=1))


def power_coefficient(k: int) -> float:
    """|c_s| = k^k / (sqrt(k) k! 2^k), which Concept 1 wants to be at most one."""
    return k**k / (math.sqrt(k) * math.factorial(k) * 2**k)
