"""The heaviest products of a kernel with weights, in dimensions where a list of all products would not fit."""

import math

import torch
from torch import Tensor


def heaviest_sets(weights: Tensor, k: int, share: float) -> Tensor:
    """As `hierlib.kernels.walsh.heaviest_products`, by first coordinates and with small integers: weights (d,) -> (s, k).

    The sets S of size k with the largest lambda_S of `weighted_gaussian`: a set is worth the sum of log tanh(2 weight_j).
    """
    worth, others, values = torch.tanh(2 * weights).log(), [], []
    for first in range(len(weights) - k + 1):
        rest = torch.combinations(torch.arange(first + 1, len(weights)), r=k - 1)
        values.append(worth[first] + worth[rest].sum(1))
        others.append(rest.to(torch.int16))
    firsts = torch.repeat_interleave(torch.tensor([len(rest) for rest in others]))
    top = torch.cat(values).topk(math.ceil(share * len(firsts))).indices
    return torch.cat([firsts[top, None], torch.cat(others)[top].long()], 1)
