"""When neurons keep their on/off pattern: the laziness of a wide two-layer network, and how it moves if it is lazy.

To fit labels y all weights together travel sqrt(y' H^-1 y) (Arora et al. 2019, lemma 5.3), so one neuron moves by about
that over sqrt(m), while its pre-activations start at size kappa. The ratio

    Lambda = kappa sqrt(m) / sqrt(y' H^-1 y)

is not in the paper; its theorems ask for Lambda >> 1, and by homogeneity nothing but kappa / |y| could matter.
"""

from torch import Tensor

from hierlib.kernels.spectrum import Spectrum
from hierlib.nets.two_layer import TwoLayer
from hierlib.papers.fine_grained.path_length import jacobian_times


def laziness(eigen: Spectrum, y: Tensor, m: int, kappa: float) -> float:
    """Lambda, from the spectrum of H_inf."""
    path = ((eigen.vectors.T @ y) ** 2 / eigen.values).sum().sqrt().item()
    return kappa * m**0.5 / path


def linear_movement(net: TwoLayer, X: Tensor, eigen: Spectrum, y: Tensor, eta: float, steps: int) -> Tensor:
    """W(k) - W(0) (m, d) after `steps` steps if no neuron flipped and the Gram matrix stayed at H_inf.

    Row r is a_r/sqrt(m) sum_i c_i 1{<w_r, x_i> >= 0} x_i with the summed residuals c = eta sum_{j<k} (I - eta H)^j y.
    """
    modes = (1 - (1 - eta * eigen.values) ** steps) / eigen.values * (eigen.vectors.T @ y)
    return jacobian_times(net, X, eigen.vectors @ modes)
