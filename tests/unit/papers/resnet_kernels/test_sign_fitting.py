"""How well small networks fit random signs, against a scan of the circle and against networks."""

import math

import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.signed import Signed, output_signs, outputs
from hierlib.papers.resnet_kernels.sign_fitting import largest_fits, unit_complexity
from hierlib.streams import normals, signs


def test_in_the_plane_ascent_finds_what_a_scan_of_all_directions_finds():
    X, eps = unit_sphere(40, 2, 0, "inputs"), signs((5, 40), 0, "labels")
    angles = torch.linspace(0, 2 * math.pi, 20001, dtype=torch.float64)
    values = eps @ torch.relu(X @ torch.stack([angles.cos(), angles.sin()])) / 40
    up, down = largest_fits(X, eps, 0, restarts=30, steps=200)
    torch.testing.assert_close(up, values.max(1).values.clamp_min(0), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(down, (-values).max(1).values.clamp_min(0), rtol=1e-3, atol=1e-4)


def test_no_random_network_fits_better_and_the_two_directions_do_as_well():
    X, eps, m = unit_sphere(30, 3, 1, "inputs"), signs((1, 30), 1, "labels"), 10
    limit = unit_complexity(X, eps, 1, restarts=30, steps=200).item()
    for which in range(50):
        W = normals((m, 3), which, "weights")
        fitted = (eps @ outputs(Signed(output_signs(m), W / W.norm()), X)).item() / 30
        assert abs(fitted) <= limit * (1 + 1e-9)
