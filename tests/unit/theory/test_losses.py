import pytest
import torch

from hierlib.streams import stream
from hierlib.theory.losses import absolute, cut_absolute, ramp, zero_one

U = torch.linspace(-3, 3, 1201, dtype=torch.float64)  # a grid that contains -1, 0 and 1
SIGNS = [torch.full_like(U, sign) for sign in (-1.0, 1.0)]


def table(loss, label):
    return loss(torch.tensor([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]), torch.full((6,), label)).tolist()


def test_values_at_a_few_points_for_the_label_plus_one():
    assert table(zero_one, 1.0) == [1, 1, 1, 0, 0, 0]
    assert table(ramp, 1.0) == [1, 1, 1, 0.75, 0, 0]
    assert table(absolute, 1.0) == [3, 1.5, 1, 0.75, 0, 2]
    assert table(cut_absolute, 1.0) == [1, 1, 1, 0.75, 0, 1]


def test_values_at_a_few_points_for_the_label_minus_one():
    assert table(zero_one, -1.0) == [0, 0, 1, 1, 1, 1]
    assert table(ramp, -1.0) == [0, 0.5, 1, 1, 1, 1]
    assert table(absolute, -1.0) == [1, 0.5, 1, 1.25, 2, 4]
    assert table(cut_absolute, -1.0) == [1, 0.5, 1, 1, 1, 1]


@pytest.mark.parametrize("y", SIGNS, ids=["-1", "+1"])
def test_each_loss_lies_above_the_one_before_it(y):
    assert (zero_one(U, y) <= ramp(U, y)).all()
    assert (ramp(U, y) <= cut_absolute(U, y)).all()
    assert (cut_absolute(U, y) <= absolute(U, y)).all()


@pytest.mark.parametrize("loss", [ramp, absolute, cut_absolute])
@pytest.mark.parametrize("y", SIGNS, ids=["-1", "+1"])
def test_they_are_1_lipschitz_and_vanish_at_the_label(loss, y):
    step = U[1] - U[0]
    assert (loss(U, y).diff().abs() <= step + 1e-12).all()
    assert (loss(y, y) == 0).all()


def test_the_zero_one_loss_is_not_lipschitz():
    assert zero_one(U, SIGNS[1]).diff().abs().max() == 1


def test_the_cut_loss_stays_in_the_unit_interval_for_labels_of_any_size():
    y = torch.randn(len(U), generator=stream(0, "labels"), dtype=torch.float64)
    values = cut_absolute(5 * U, y)
    assert values.min() >= 0 and values.max() == 1
    close = (5 * U - y).abs() < 1
    assert torch.equal(values[close], (5 * U - y).abs()[close])
