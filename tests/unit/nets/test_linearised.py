"""The linearised networks against forward-mode differentiation of the networks themselves."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.nets import fully_connected, linearised, residual
from hierlib.streams import stream

CASES = {
    "two layers": (fully_connected.shallow, fully_connected.outputs, linearised.shallow_tangent),
    "three layers": (fully_connected.deep, fully_connected.outputs, linearised.deep_tangent),
    "residual": (residual.residual, residual.outputs, linearised.residual_tangent),
}


def moved(rest, names: str):
    """The linearised network with random movements."""
    return rest._replace(
        **{f: torch.randn(getattr(rest, f).shape, generator=stream(1, f), dtype=torch.float64) for f in names}
    )


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_directional_derivative_at_the_start(case):
    make, outputs, linearise = CASES[case]
    net, X = make(9, 5, 3, 0), hypercube(6, 5, seed=0)
    names = "".join(f for f in net._fields if f != "A")
    linear = moved(linearise(9, 5, 3, 0), names)
    direction = type(net)(
        **{f: getattr(linear, f) if f in names else torch.zeros_like(getattr(net, f)) for f in net._fields}
    )
    _, expected = torch.func.jvp(lambda n: outputs(n, X), (net,), (direction,))
    assert torch.allclose(linearised.outputs(linear, X), expected, rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_at_rest_it_is_zero(case):
    _, _, linearise = CASES[case]
    assert linearised.outputs(linearise(9, 5, 3, 0), hypercube(6, 5, seed=0)).abs().max() == 0
