"""The same grid on one machine and on a cluster."""

import os

import pytest
import torch
from distributed import Client, LocalCluster

from hierlib.data.cubes import hypercube
from hierlib.nets import residual
from hierlib.targets.hierarchy import paired_parities
from hierlib.train import grid
from hierlib.train.cluster_grid import train_on_cluster
from hierlib.train.grid import Plan, Schedule, Trial, train_grid


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def runs(monkeypatch):
    monkeypatch.setitem(grid.ENTRIES, "cpu", 1)  # one network per stack
    X = hypercube(20, 10, 0)
    Y = paired_parities(X, 4).labels(0.3)
    return [Trial(residual.residual(m, 10, 4, 0), X, Y, rate, 1e-3, 0) for m in (6, 8) for rate in (0.05, 0.1, 1e6)]


def test_results_are_those_of_one_machine_bit_by_bit_and_divergence_is_reported(client, runs):
    plan = Plan(residual.outputs, ("W", "V"), Schedule(5, 3))
    here, there = train_grid(runs, plan), train_on_cluster(client, runs, plan)
    for a, b in zip(here, there, strict=True):
        assert a.diverged == b.diverged and torch.equal(a.losses, b.losses)
        assert a.diverged or torch.equal(a.net.W, b.net.W)
    assert [result.diverged is not None for result in there] == [False, False, True] * 2


def test_an_error_on_a_worker_is_raised_here(client, runs):
    def outputs(net, X):
        raise ArithmeticError(f"no outputs in process {os.getpid()}")

    with pytest.raises(ArithmeticError, match="no outputs in process") as raised:
        train_on_cluster(client, runs, Plan(outputs, ("W",), Schedule(2)))
    assert str(os.getpid()) not in str(raised.value)


def test_a_mistake_is_named_before_anything_is_sent(runs):
    with pytest.raises(ValueError, match="nothing named U in Residual"):
        train_on_cluster(None, runs, Plan(residual.outputs, ("U",), Schedule(2)))
