"""Figure 1 of Arora et al. 2019, drawn alike for every data set: spectrum, projections, and the images behind them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from torch import Tensor

from hierlib.figures.style import COLOURS, PREDICTION
from hierlib.kernels.spectrum import Spectrum, energies

REACH = 1.2  # of the running median, as a factor to either side


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
