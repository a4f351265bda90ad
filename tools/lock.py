"""Resolve pyproject.toml into `requirements.lock`, with hashes, and `environment.yml`: `make lock`.

uv resolves for every Python from 3.11 on at once and takes the hashes of all files of a version from the registry. Versions
that the lock holds already are kept; `python tools/lock.py --upgrade-package numpy` moves one, `--upgrade` all.

torch stands in requirements-torch.txt, without a hash: a machine with a GPU takes another file of the same version, which
needs other packages. What every build of it needs is in the lock (`tool.uv.dependency-metadata` in pyproject.toml).
"""

import re
import subprocess
import sys
from pathlib import Path

LOCK, TORCH, CONDA = "requirements.lock", "requirements-torch.txt", "environment.yml"
COMPILE = [
    *("pip", "compile", "pyproject.toml", "--all-extras", "--universal", "--python-version", "3.11"),
    *("--constraint", TORCH, "--no-emit-package", "torch", "--generate-hashes", "--no-annotate", "--quiet"),
    *("--custom-compile-command", "make lock", "--output-file", LOCK),
]
ENVIRONMENT = """\
# Written by `make lock`: the pins of requirements.lock and requirements-torch.txt for conda and mamba, without the hashes.
name: hierlib
dependencies:
  - python=3.11
  - pip
  - make
  - nodejs
  - pip:
"""


def pins(text: str) -> list[str]:
    """`name==version`, with its marker where it has one, of every package of a requirements file."""
    return [line.rstrip("\\ ") for line in text.splitlines() if re.match(r"[\w.-]+==", line)]


def environment(pinned: list[str]) -> str:
    """The same pins for conda and mamba."""
    return ENVIRONMENT + "".join(f"      - {pin}\n" for pin in pinned)


def main(root: Path, options: list[str]) -> None:
    tool = Path(sys.executable).with_name("uv")
    subprocess.run([tool, *COMPILE, *options], cwd=root, check=True)
    both = pins((root / LOCK).read_text()) + pins((root / TORCH).read_text())
    (root / CONDA).write_text(environment(sorted(both)))


if __name__ == "__main__":
    main(Path(__file__).parents[1], sys.argv[1:])
