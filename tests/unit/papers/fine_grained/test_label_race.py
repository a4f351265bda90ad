import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.nets.two_layer import outputs, two_layer
from hierlib.papers.fine_grained.label_race import descend_until
from hierlib.train.full_batch import gradient_descent

X, Y = unit_sphere(12, 5, seed=0), random_signs(12, seed=0)
NET, ETA = two_layer(64, 5, 1.0, seed=0), 0.2
ONE_RUN = gradient_descent(NET, X, Y, ETA, 40).loss(Y) / 12


def test_blocks_make_the_curve_of_one_run_and_end_where_the_share_is_reached():
    found = descend_until(NET, X, Y, ETA, share=0.3, most=40, block=7).loss
    end = int((0.3 * ONE_RUN[0] >= ONE_RUN).nonzero()[0])
    assert len(found) == end + 1 and 7 < end < 40
    assert torch.allclose(found, ONE_RUN[: end + 1], rtol=1e-5)


def test_a_share_of_zero_means_all_steps():
    assert torch.allclose(descend_until(NET, X, Y, ETA, share=0.0, most=40, block=7).loss, ONE_RUN, rtol=1e-5)


def test_the_network_is_that_of_the_end_of_the_block():
    stopped = descend_until(NET, X, Y, ETA, share=0.3, most=40, block=20)
    assert torch.allclose((Y - outputs(stopped.net, X)).square().sum() / 24, ONE_RUN[20], rtol=1e-4)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr("hierlib.train.checkpoint.SAVE_EVERY", 0.0)
    whole = descend_until(NET, X, Y, ETA, share=0.0, most=30, block=10).loss
    for file in tmp_path.iterdir():
        file.unlink()

    calls = 0

    def stops(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return gradient_descent(*arguments, **options)

    monkeypatch.setattr("hierlib.papers.fine_grained.label_race.gradient_descent", stops)
    with pytest.raises(KeyboardInterrupt):
        descend_until(NET, X, Y, ETA, share=0.0, most=30, block=10)
    assert calls == 3 and len(list(tmp_path.iterdir())) == 1
    assert torch.equal(descend_until(NET, X, Y, ETA, share=0.0, most=30, block=10).loss, whole)
    assert calls == 4
