import math

import torch

from hierlib.kernels.arc_cosine import angle, k0, k1
from hierlib.streams import stream


def test_arc_cosine_kernels_at_known_angles():
    c = torch.tensor([1.0, 0.5, 0.0, -1.0, 1 + 1e-12]).double()
    assert torch.allclose(k0(c), torch.tensor([1, 2 / 3, 1 / 2, 0, 1]).double(), atol=1e-15)
    half = (math.sqrt(3) / 2 + math.pi / 3) / math.pi
    assert torch.allclose(k1(c), torch.tensor([1, half, 1 / math.pi, 0, 1]).double(), atol=1e-15)


def test_arc_cosine_kernels_are_gaussian_averages():
    c, draws = 0.3, 400_000
    u, other = torch.randn(2, draws, generator=stream(0, "pairs"), dtype=torch.float64)
    v = c * u + math.sqrt(1 - c * c) * other
    steps, ramps = 2 * ((u > 0) & (v > 0)).double(), 2 * u.relu() * v.relu()
    for formula, sample in ((k0, steps), (k1, ramps)):
        assert abs(formula(torch.tensor(c)).item() - sample.mean()) < 4 * sample.std() / math.sqrt(draws)


def test_the_step_kernel_is_the_derivative_of_the_ramp_kernel():
    c = torch.linspace(-0.9, 0.9, 19, dtype=torch.float64, requires_grad=True)
    pi = torch.tensor(math.pi).double()
    ramp = ((1 - c * c).sqrt() + c * (pi - c.arccos())) / pi
    assert torch.allclose(torch.autograd.grad(ramp.sum(), c)[0], k0(c.detach()), atol=1e-14)


def test_the_correlations_are_left_alone():
    c = torch.linspace(-1, 1, 9, dtype=torch.float64)
    before = c.clone()
    angle(c), k0(c), k1(c)
    assert torch.equal(c, before)
