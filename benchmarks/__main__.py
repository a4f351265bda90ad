"""`make bench`: every measurement side by side, printed and written to benchmarks/RESULTS.md."""

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks import descent, grid, kernels, runner

HEAD = """\
# Benchmarks

Written by `make bench` on {when}: {machine}, {cores} cores, Python {python}, torch {torch}.
Every line compares things that were measured in turns in the same run.

| what | measured | wanted | met |
|---|---|---|---|
"""


def main() -> int:
    results = []
    for part in (kernels, descent, grid, runner):
        for result in part.measure():
            results.append(result)
            print(
                f"{'ok ' if result.met else 'NOT'}  {result.name}: {result.measured} (wanted: {result.wanted})", flush=True
            )
    head = HEAD.format(
        when=datetime.now(UTC).date(),
        machine=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        python=platform.python_version(),
        torch=torch.__version__,
    )
    rows = "".join(f"| {r.name} | {r.measured} | {r.wanted} | {'yes' if r.met else '**no**'} |\n" for r in results)
    Path(__file__).with_name("RESULTS.md").write_text(head + rows)
    return 0 if all(result.met for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
