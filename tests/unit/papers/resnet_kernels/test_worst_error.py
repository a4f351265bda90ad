"""The search for the longest error of Claim D.6: its formula, its balls, and that simpler movements do less."""

import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.residual import Residual, outputs, residual
from hierlib.papers.resnet_kernels import worst_error
from hierlib.papers.resnet_kernels.gradient_step import tangent_f, tangent_g
from hierlib.papers.resnet_kernels.movements import against_direction
from hierlib.streams import normals

M, D, K, TAU_W, TAU_V = 3000, 4, 2, 2.0, 0.5
START = residual(M, D, K, 0, M**-0.125, TAU_V**-2)
X, F = unit_sphere(1, D, 0), unit_sphere(1, K, 1)
AIM = worst_error.Aim(X[0], 2 * START.A.mT @ F.mT @ torch.cat([X, torch.zeros(1, 1)], 1), 0.01 * START.V, F[0])


def at_random(seed: int) -> Residual:
    W, V = normals(START.W.shape, seed, "W"), normals(START.V.shape, seed, "V")
    return START._replace(W=START.W + W * (TAU_W / W.norm()), V=START.V + V * (TAU_V / V.norm()))


def test_the_error_is_the_one_of_fact_d4():
    net = at_random(0)
    seen = tangent_f(net, X, AIM.W_star - (net.W - START.W)) + tangent_g(net, X, AIM.V_star - (net.V - START.V))
    assert torch.allclose(worst_error.error_at(net, START, AIM), (seen - (AIM.H - outputs(net, X)))[0])


def test_the_longest_error_lies_in_the_balls_and_exceeds_that_of_other_movements():
    worst = worst_error.longest_error(START, AIM, TAU_W, TAU_V)
    assert (worst.W - START.W).norm() <= TAU_W * (1 + 1e-6) and (worst.V - START.V).norm() <= TAU_V * (1 + 1e-6)
    longest = worst_error.error_at(worst, START, AIM).norm()
    assert longest > 1.2 * worst_error.error_at(against_direction(START, X, F, TAU_V), START, AIM).norm()
    assert all(longest > 1.2 * worst_error.error_at(at_random(seed), START, AIM).norm() for seed in range(5))


def test_more_room_never_makes_it_shorter():
    def length(tau_w: float, tau_v: float) -> float:
        return worst_error.error_at(worst_error.longest_error(START, AIM, tau_w, tau_v), START, AIM).norm().item()

    assert length(4.0, TAU_V) > length(1.0, TAU_V) and length(TAU_W, 1.0) > length(TAU_W, 0.2)
