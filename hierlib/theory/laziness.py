"""When neurons keep their on/off pattern: the laziness of a wide two-layer network, and how many activations flip.

To fit labels y all weights together travel sqrt(y' H^-1 y) (Arora et al. 2019, lemma 5.3), so one neuron moves by about
that over sqrt(m), while its pre-activations start at size kappa. The ratio

    Lambda = kappa sqrt(m) / sqrt(y' H^-1 y)

is not in the paper; its theorems ask for Lambda >> 1, and by homogeneity nothing but kappa / |y| could matter.
"""

import math

from torch import Tensor

from hierlib.kernels.spectrum import Spectrum
from hierlib.nets.two_layer import TwoLayer, active

NEAR = 0.1  # pre-activations below that many standard deviations count as near their kink: 8 % of them


def laziness(eigen: Spectrum, y: Tensor, m: int, kappa: float) -> float:
    """Lambda, from the spectrum of H_inf."""
    path = ((eigen.vectors.T @ y) ** 2 / eigen.values).sum().sqrt().item()
    return kappa * m**0.5 / path


def linear_movement(net: TwoLayer, X: Tensor, eigen: Spectrum, y: Tensor, eta: float, steps: int) -> Tensor:
    """W(k) - W(0) (m, d) after `steps` steps if no neuron flipped and the Gram matrix stayed at H_inf.

    Row r is a_r/sqrt(m) sum_i c_i 1{<w_r, x_i> >= 0} x_i with the summed residuals c = eta sum_{j<k} (I - eta H)^j y.
    """
    modes = (1 - (1 - eta * eigen.values) ** steps) / eigen.values * (eigen.vectors.T @ y)
    summed = eigen.vectors @ modes
    return net.a[:, None] / len(net.a) ** 0.5 * (active(net, X).to(X).T @ (summed[:, None] * X))


def expected_flips(net: TwoLayer, movement: Tensor, X: Tensor, kappa: float) -> float:
    """Share of activations that a small movement (m, d) of `net`, drawn at scale kappa, flips.

    A pre-activation N(0, kappa^2) flips when it lies between 0 and minus its change, and its density at 0 is
    1 / (kappa sqrt(2 pi)): the share is mean |<dw_r, x_i>| / (kappa sqrt(2 pi)). The mean is over pairs near their kink
    only. A neuron that is about to flip on x_i splits the inputs around x_i evenly, which changes how it is pulled.
    """
    near = (X @ net.W.T).abs() <= NEAR * kappa
    return ((X @ movement.T).abs()[near].mean() / (kappa * math.sqrt(2 * math.pi))).item()
