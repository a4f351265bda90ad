import os

import pytest

# The tensors here are small. With several test processes, or other work on the machine, more threads than cores wait
# for one another: the same tests then take many times longer.
os.environ.setdefault("OMP_NUM_THREADS", "1")

STARTS_PROCESSES = {"make_toy", "client"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test whose fixtures start processes (a project that `hier` runs in, the workers of a cluster) is slow."""
    for item in items:
        if STARTS_PROCESSES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
