"""neural-tangents as the other side of a comparison: in an environment of its own it waits for its turn, or it is absent."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

PEER = "HIERLIB_NEURAL_TANGENTS"  # the python of an environment made as benchmarks/neural_tangents_peer.py says
ABSENT = f"{PEER} is not set (see benchmarks/neural_tangents_peer.py)"


def installed() -> bool:
    return PEER in os.environ


@contextmanager
def neural_tangents(kernel: str, *sizes: int) -> Iterator[Callable[[], None]]:
    """A function that has the peer compute a kernel of neural_tangents_peer.py once, after it has compiled."""
    script = str(Path(__file__).with_name("neural_tangents_peer.py"))
    command = [os.environ[PEER], script, str(torch.get_num_threads()), kernel, *map(str, sizes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:

        def its_turn() -> None:
            assert peer.stdin and peer.stdout
            print(file=peer.stdin, flush=True)
            if peer.stdout.readline().strip() != "done":
                raise RuntimeError("neural_tangents_peer.py ended early")

        its_turn()  # it compiles
        yield its_turn
