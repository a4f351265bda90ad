"""A grid of networks on a Dask cluster: every block of `hierlib.train.grid` is a task of its own.

    from distributed import Client
    results = train_on_cluster(Client("tcp://scheduler:8786"), runs, outputs, ("W", "V"), Schedule(800, 400))

Dask sends a block to another worker when the one that had it dies. The blocks are those of one machine, so the results are
the same. Workers want one thread each (`dask worker ADDRESS --nthreads 1`), and the package installed.
"""

from collections.abc import Sequence
from typing import Any

import torch

from hierlib.train.grid import Outputs, Run, Schedule, Trained, blocks, train_block


def train_on_cluster(
    client: Any,
    runs: Sequence[Run],
    outputs: Outputs,
    trained: Sequence[str],
    schedule: Schedule,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
) -> list[Trained]:
    """As `train_grid`, on the workers of `client` (a `distributed.Client`); one result per run, in their order.

    Interrupted, it cancels what has not been done. An error in one block cancels the others and is raised.
    """
    parts = blocks(runs, schedule, device)
    common = (outputs, tuple(trained), schedule, dtype, device)
    waiting = [client.submit(_block, [runs[i] for i in members], *common, pure=False) for members in parts]
    try:
        answers = client.gather(waiting)
    except BaseException:
        client.cancel(waiting)
        raise
    found: dict[int, Trained] = {}
    for members, answer in zip(parts, answers, strict=True):
        found |= dict(zip(members, answer, strict=True))
    return [found[i] for i in range(len(runs))]


def _block(runs: Sequence[Run], outputs: Outputs, trained: Sequence[str], *settings: Any) -> list[Trained]:
    """On the worker, which has one core for this block."""
    torch.set_num_threads(1)
    return train_block(runs, outputs, trained, *settings)
