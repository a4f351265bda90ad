"""One layer with biases against its formula in loops and against forward-mode differentiation."""

import numpy as np
import torch

from hierlib.nets.affine import relu_layer, relu_layer_tangent, with_one
from hierlib.streams import normals

M, Z = normals((7, 5), 0, "M"), normals((6, 4), 0, "Z")
DM, DZ = normals((7, 5), 0, "dM"), normals((6, 4), 0, "dZ")


def test_a_one_is_put_behind_every_row():
    assert with_one(torch.tensor([[[2.0, 3.0]], [[4.0, 5.0]]])).tolist() == [[[2, 3, 1]], [[4, 5, 1]]]


def test_a_layer_is_the_formula():
    by_hand = [np.maximum(M.numpy() @ np.append(z, 1), 0) for z in Z.numpy()]
    assert np.allclose(relu_layer(M, Z), by_hand, atol=1e-14)


def test_its_tangent_is_the_directional_derivative_in_weights_and_inputs():
    value, expected = torch.func.jvp(relu_layer, (M, Z), (DM, DZ))
    found, moved = relu_layer_tangent(M, Z, DM, DZ)
    assert torch.equal(found, value) and torch.allclose(moved, expected, atol=1e-14)


def test_inputs_that_stay_are_inputs_that_do_not_move():
    assert torch.equal(relu_layer_tangent(M, Z, DM)[1], relu_layer_tangent(M, Z, DM, torch.zeros_like(Z))[1])


def test_a_stack_of_layers_is_its_members():
    stack, moves = torch.stack([M, 2 * M]), torch.stack([DM, -DM])
    values, tangents = relu_layer_tangent(stack, Z, moves, DZ)
    for i in range(2):
        value, tangent = relu_layer_tangent(stack[i], Z, moves[i], DZ)
        assert torch.allclose(values[i], value) and torch.allclose(tangents[i], tangent)
