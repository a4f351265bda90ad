import pytest
import torch

from hierlib.nets.residual import Residual, first_outputs, outputs, residual
from hierlib.papers.resnet_kernels.two_blocks import Course, Samples, train_first, train_second, train_together
from hierlib.streams import normals
from hierlib.train.grid import Plan, Schedule, Trial, train_grid
from hierlib.train.one_pass import side_by_side

COURSE, SCHEDULE = Course(4, 0.3, 10, 0.9, torch.float64), Schedule(4, 2, 0.1, 10, 0.9)


@pytest.fixture
def problem():
    """Three networks with samples of their own."""
    nets = [residual(12, 5, 3, seed) for seed in range(3)]
    X = torch.stack([normals((40, 5), seed, "inputs") for seed in range(3)])
    Y = torch.stack([normals((40, 3), seed, "labels") for seed in range(3)])
    return nets, Samples(X, Y, [7, 8, 9])


def by_autograd(nets, samples, function, trained, decay):
    """What `train_grid` makes of the same start, which lets torch differentiate."""
    trials = [Trial(net, samples.X[i], samples.Y[i], 0.3, decay, samples.seeds[i]) for i, net in enumerate(nets)]
    return side_by_side([end.net for end in train_grid(trials, Plan(function, trained, SCHEDULE, torch.float64))])


def test_both_blocks_at_one_decay_as_by_autograd(problem):
    nets, samples = problem
    found = train_together(side_by_side(nets), samples, COURSE, [0.01] * 3, [0.01] * 3)
    torch.testing.assert_close(found, by_autograd(nets, samples, outputs, ("W", "V"), 0.01))


def test_each_block_has_a_decay_of_its_own(problem):
    nets, samples = problem

    def with_size(net: Residual, X):
        """One more output, 0.2 |W| with label 0: its loss decays W alone, by 0.04."""
        size = 0.2 * net.W.flatten(-2).norm(dim=-1)[..., None, None].expand(*X.shape[:-1], 1)
        return torch.cat([outputs(net, X), size], -1)

    extended = samples._replace(Y=torch.cat([samples.Y, torch.zeros(3, 40, 1, dtype=torch.float64)], -1))
    found = train_together(side_by_side(nets), samples, COURSE, [0.05] * 3, [0.01] * 3)
    torch.testing.assert_close(found, by_autograd(nets, extended, with_size, ("W", "V"), 0.01))


def test_first_block_alone_as_by_autograd(problem):
    nets, samples = problem
    found = train_first(side_by_side(nets), samples, COURSE, 0.02)
    torch.testing.assert_close(found, by_autograd(nets, samples, first_outputs, ("W",), 0.02))


def test_second_block_alone_as_by_autograd(problem):
    nets, samples = problem
    found = train_second(side_by_side(nets), samples, COURSE, 0.02)
    torch.testing.assert_close(found, by_autograd(nets, samples, outputs, ("V",), 0.02))


def test_the_start_is_left_as_it_was(problem):
    nets, samples = problem
    stack, before = side_by_side(nets), side_by_side(nets)
    train_together(stack, samples, COURSE, [0.01] * 3, [0.0] * 3)
    torch.testing.assert_close(stack, before)


def test_networks_of_one_stack_may_have_different_decays(problem):
    nets, samples = problem
    mixed = train_together(side_by_side(nets), samples, COURSE, [0.01, 0.0, 0.01], [0.01, 0.0, 0.01])
    alike = train_together(side_by_side(nets), samples, COURSE, [0.01] * 3, [0.01] * 3)
    torch.testing.assert_close(mixed.W[2], alike.W[2])
    assert (mixed.W[1] - alike.W[1]).abs().max() > 1e-4


def test_batches_must_fit(problem):
    nets, samples = problem
    with pytest.raises(ValueError, match="cut into batches"):
        train_first(side_by_side(nets), samples, COURSE._replace(batch=7), 0.0)
