"""Figure 1 of Arora et al. 2019, drawn alike for every data set: losses, spectrum, projections, and what goes with them."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from hierlib.figures.style import COLOURS, PREDICTION
from hierlib.kernels.spectrum import Spectrum, energies
from hierlib.papers.fine_grained.figure1 import LabelComparison, first_step, predicted_first_step

REACH = 1.2  # of the running median, as a factor to either side


def draw_losses(ax: Axes, of: LabelComparison, measured: Mapping[str, Tensor], until: int) -> None:
    """Panels (a) and (c): measured loss per sample in colour, the prediction dashed and continued up to step `until`."""
    for colour, (name, curve) in zip(COLOURS, measured.items(), strict=False):
        ax.loglog(range(1, len(curve)), curve[1:], color=colour, label=f"{name} labels")
    ahead = torch.from_numpy(np.unique(np.geomspace(1, until, 200).round()))
    for index, curve in enumerate(of.predicted(ahead).values()):
        ax.loglog(ahead, curve, label="" if index else "predicted", **PREDICTION)
    ax.set(xlabel="gradient step $k$", ylabel="loss per sample")


def draw_alignment(left: Axes, right: Axes, eigen: Spectrum, labels: Mapping[str, Tensor]) -> None:
    """Panels (b) and (d). Left: eigenvalues and typical projections. Right: share on the first k eigenvectors."""
    n = len(eigen.values)
    rank = np.arange(1, n + 1)
    left.loglog(rank, eigen.values, color="#555555", label=r"eigenvalue $\lambda_i$")
    for colour, (name, y) in zip(COLOURS, labels.items(), strict=False):
        share = energies(eigen.vectors, y)
        right.semilogx(rank, share.cumsum(0), color=colour, label=f"{name} labels")
        if name != "worst":  # on one eigenvector only: its median would be zero everywhere
            left.loglog(*running_median((share * n).sqrt()), color=colour, label=rf"$|v_i^\top y|$, {name} labels")
    right.semilogx(rank, rank / n, label="no preference, $k/n$", **PREDICTION)
    left.set(xlabel="eigenvector number $i$", ylabel="eigenvalue, projection")
    right.set(xlabel="first $k$ eigenvectors", ylabel="share of the labels")
    left.legend()
    right.legend()


def running_median(values: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Numbers i, evenly spaced on a log axis, and the median of the values (n,) number i/REACH to i*REACH, counted from one.

    The window grows with i: the first few values, where the labels are, stay as they are, and the noisy tail is smooth.
    """
    at = np.unique(np.geomspace(1, len(values), 150).round().astype(int))
    windows = [values[int(np.ceil(i / REACH)) - 1 : int(np.floor(i * REACH))] for i in at]
    return at, np.array([window.median().item() for window in windows])


def draw_images(axes: Sequence[Axes], X: Tensor, shape: tuple[int, int, int], values: Tensor) -> None:
    """One picture per axis from flattened images X (q, c h w), contrast stretched, with a signed value (q,) above each."""
    for ax, row, value in zip(axes, X, values, strict=True):
        picture = row.reshape(shape).permute(1, 2, 0)
        ax.imshow(((picture - picture.min()) / (picture.max() - picture.min())).numpy(), cmap="gray_r")
        ax.set(title=f"{value:+.1f}", xticks=[], yticks=[])
        ax.grid(False)


def speeds(of: LabelComparison, measured: Mapping[str, Tensor]) -> str:
    """A table of k_50 and k_10, the steps that leave 50 and 10 % of the loss: predicted, and measured or out of reach."""
    lines = ["labels   k_50 predicted   measured   k_10 predicted   measured"]
    for name, y in of.labels.items():
        cells = []
        for share in (0.5, 0.1):
            step = first_step(measured[name], share)
            seen = f"{step:.0f}" if math.isfinite(step) else f"> {len(measured[name]) - 1}"
            cells.append(f"{predicted_first_step(of.eigen, y, of.eta, share):>14}   {seen:>8}")
        lines.append(f"{name:<9}" + "   ".join(cells))
    return "\n".join(lines)
