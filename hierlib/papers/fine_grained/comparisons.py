"""The same network trained on several labels of the same inputs."""

from torch import Tensor

from hierlib.nets.two_layer import two_layer
from hierlib.papers.fine_grained.figure1 import Comparison
from hierlib.train.full_batch import gradient_descent


def losses(
    of: Comparison, steps: int, m: int, kappa: float, seed: int, paired: bool = False, device: str = "cpu"
) -> dict[str, Tensor]:
    """Loss per sample at every step (steps + 1,) of networks that start alike and differ in their labels only.

    Plain initialisation at scale kappa is that of the paper (Arora et al. 2019, eq. 1); `paired` adds to every neuron
    a copy of opposite sign, so that the output starts at zero for any kappa.
    """
    net = two_layer(m, of.X.shape[1], kappa, seed, antisymmetric=paired)
    curves = {}
    for name, y in of.labels.items():
        run = gradient_descent(net, of.X, y, of.eta, steps, device=device, progress=name)
        curves[name] = run.loss(y) / len(y)
    return curves
