"""Settings become runs, and what they learn is read off."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.measures.signals import shares
from hierlib.papers.resnet_kernels.methods import METHODS, Setting, Task, judge, learn, prepare
from hierlib.targets.hierarchy import paired_parities
from hierlib.train.grid import Schedule

TASK = Task(10, lambda X: paired_parities(X, 4))
PLAN = Schedule(3, 2)


def test_settings_with_equal_seed_share_samples_and_start_and_others_do_not():
    one, two, other = prepare([Setting("3resnet", 6, 20, s, r, 0.0) for s, r in ((0, 0.1), (0, 0.2), (1, 0.1))], TASK)
    assert one.X is two.X and one.Y is two.Y and one.net is two.net
    assert not torch.equal(one.X, other.X) and not torch.equal(one.net.W, other.net.W)


def test_labels_follow_alpha_and_beta():
    (run,) = prepare([Setting("2layer", 6, 20, 0, 0.1, 0.0, alpha=0.7, beta=2.0)], TASK)
    assert torch.equal(run.Y, paired_parities(run.X, 4).labels(0.7, 2.0))


def test_methods_may_be_mixed_and_results_keep_their_order():
    settings = [Setting(name, 6, 20, 0, 0.1, 0.0) for name in METHODS]
    for setting, result in zip(settings, learn(settings, TASK, PLAN), strict=True):
        (alone,) = learn([setting], TASK, PLAN)
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(result.net, alone.net, strict=True))


def test_a_trained_network_is_judged_by_its_shares_and_a_diverged_one_gets_none():
    settings = [Setting("3resnet", 6, 20, 0, 0.1, 0.0), Setting("3resnet", 6, 20, 0, 1e9, 0.0)]
    results, X = learn(settings, TASK, PLAN), hypercube(100, 10, 5)
    found = judge(settings, results, X, TASK)
    expected = shares(METHODS["3resnet"].outputs(results[0].net, X), TASK.signal(X), 0.3)
    assert found.error[0].item() == pytest.approx(expected.error.item(), rel=1e-4)
    assert found.error[1] == torch.inf and found.composite[1] == 0
