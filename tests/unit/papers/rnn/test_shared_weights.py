"""The fluctuations of a network with one matrix: the law against many networks, and against a Monte Carlo mean."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.recurrent import recurrent, states
from hierlib.papers.rnn.shared_weights import covariance, log_norm_variance, log_norm_variance_fresh
from hierlib.streams import normals


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.5, 1.0])
def test_the_covariance_is_that_of_squared_relus(rho):
    u, w = normals((2, 400_000), 1, "pair")
    v = rho * u + (1 - rho**2) ** 0.5 * w
    a, b = (2 * g.relu().square() for g in (u, v))
    assert covariance(torch.tensor(rho, dtype=torch.float64)).item() == pytest.approx(
        (a * b).mean().item() - 1, abs=4 * (a * b).std().item() / 400_000**0.5
    )


@pytest.mark.slow
def test_networks_fluctuate_as_predicted():
    L, m, d, count = 16, 256, 3, 300
    x = unit_sphere(L, d, 1)
    logs = torch.stack(
        [states(recurrent(m, d, L**-3.0, seed, dtype=torch.float32), x[None].float()).hidden for seed in range(count)]
    )[:, :, 0].square().sum(-1).log()  # fmt: skip
    found = m * logs.var(0).double()
    ratio = (found / log_norm_variance(x, L**-3.0)).sqrt()
    assert ((ratio - 1).abs() < 0.17).all()
    assert found[-1] > 3 * log_norm_variance_fresh(L)[-1], "with fresh weights it would be much less"


def test_at_the_first_state_both_laws_agree():
    x = unit_sphere(4, 3, 2)
    assert log_norm_variance(x, 0.1)[0].item() == pytest.approx(5.0) == log_norm_variance_fresh(4)[0].item()
