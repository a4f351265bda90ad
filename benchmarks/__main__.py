"""`python -m benchmarks [PART ...]`: measure, print, and renew the lines of benchmarks/RESULTS.md.

Exit code 0: all that was measured is met; 1: something is not, or a part failed; 2: there is no such part;
3: nothing is wrong, but lines were refused because the machine was disturbed.
"""

import argparse
import importlib
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import Circumstances, read, renewed, sentence, write
from benchmarks.timing import LeftOut, Result, pin
from hierlib.files import write_text

PARTS = ["kernels", "recurrent", "descent", "grid", "runner", "pages"]
ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("RESULTS.md")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; when omitted, all")
    parser.add_argument("--threads", type=int, default=1, help="threads of every process that computes (default: 1)")
    parser.add_argument("--project", type=Path, default=ROOT, help="measure `hier` of another tree; nothing is written then")
    parser.add_argument("--pages", nargs="+", default=[], metavar="PAGE", help="only these pages; nothing is written then")
    asked = parser.parse_args(words)
    for name in asked.parts:
        if name not in PARTS:
            print(f"there is no benchmark {name!r}; the parts are {', '.join(PARTS)}", file=sys.stderr)
            return 2
    if asked.threads < 1:
        print(f"--threads {asked.threads}: at least one is needed", file=sys.stderr)
        return 2
    pin(asked.threads)
    codes = [measure(part, asked) for part in asked.parts or PARTS]
    refused = [part for part, code in zip(asked.parts or PARTS, codes, strict=True) if code == 3]
    if refused:
        print(f"lines were refused; when the machine is idle: python -m benchmarks {' '.join(refused)}", file=sys.stderr)
    return 1 if 1 in codes else max(codes)


def measure(part: str, asked: argparse.Namespace) -> int:
    """Measure one part and renew its lines; the exit code as above."""
    import torch  # only now: its threads are settled when it starts

    torch.set_num_threads(asked.threads)
    here = Circumstances(str(datetime.now(UTC).date()), torch.__version__, torch.get_num_threads())
    book = read(RESULTS.read_text()) if RESULTS.exists() else {}
    project = asked.project.resolve()
    of_hier: dict[str, tuple[object, ...]] = {"runner": (project,), "pages": (project, asked.pages)}
    results: list[Result | LeftOut] = []
    try:
        for result in importlib.import_module(f"benchmarks.{part}").measure(*of_hier.get(part, ())):
            results.append(result)
            print(sentence(result, book), flush=True)
    except (subprocess.CalledProcessError, OSError, ValueError, RuntimeError) as error:
        said = getattr(error, "stderr", None) or getattr(error, "stdout", None) or str(error)
        last = (said.decode(errors="replace") if isinstance(said, bytes) else said).strip().splitlines()[-1:]
        print(f"failed    {part}: {' '.join(last) or type(error).__name__}; its lines stay", file=sys.stderr)
        return 1
    refused = [result for result in results if isinstance(result, Result) and result.disturbed]
    believed = [result for result in results if isinstance(result, Result) and not result.disturbed]
    if believed and (part not in of_hier or (project == ROOT and not asked.pages)):
        write_text(RESULTS, write(renewed(book, part, results, here)))
    if any(result.met is False for result in believed):
        return 1
    return 3 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
