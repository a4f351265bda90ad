"""A grid of networks on a Dask cluster: every stack of `hierlib.train.grid` is a task of its own.

    from distributed import Client
    results = train_on_cluster(Client("tcp://scheduler:8786"), trials, Plan(outputs, ("W", "V"), Schedule(800, 400)))

Dask sends a stack to another worker when the one that had it dies. The stacks are those of one machine, so the results are
the same. Workers want one thread each (`dask worker ADDRESS --nthreads 1`), and the package installed.
"""

from collections.abc import Sequence
from typing import Any

import torch

from hierlib.train.grid import Plan, Trained, Trial, in_order, stacks, train_stack


def train_on_cluster(client: Any, trials: Sequence[Trial], plan: Plan) -> list[Trained]:
    """As `train_grid`, on the workers of `client` (a `distributed.Client`); one result per trial, in their order.

    Interrupted, it cancels what has not been done. An error in one stack cancels the others and is raised.
    """
    parts = stacks(trials, plan)
    waiting = [client.submit(_on_worker, [trials[i] for i in members], plan, pure=False) for members in parts]
    try:
        return in_order(parts, client.gather(waiting))
    except BaseException:
        client.cancel(waiting)
        raise


def _on_worker(trials: Sequence[Trial], plan: Plan) -> list[Trained]:
    """Train a stack; the worker has one core for it."""
    torch.set_num_threads(1)
    return train_stack(trials, plan)
