"""The `hier` command of a tree, called as a user calls it."""

import os
import subprocess
import sys
from pathlib import Path


def tools(project: Path) -> dict[str, str]:
    """The environment in which `hierlib` is the one of `project`, scripts are those of this Python, and nobody spins."""
    before = os.environ.get("PYTHONPATH")
    scripts = str(Path(sys.executable).parent)
    return os.environ | {
        "PYTHONPATH": str(project) + (os.pathsep + before if before else ""),
        "PATH": scripts + os.pathsep + os.environ.get("PATH", os.defpath),
        "OMP_WAIT_POLICY": "PASSIVE",  # a thread that waits for another one must not count as work
    }


def hier(project: Path, *words: str, folder: Path | None = None) -> None:
    """Run a `hier` command of a tree, in it or in another folder that holds a project; failures raise with its output."""
    command = [str(Path(sys.executable).with_name("hier")), *words]
    subprocess.run(command, cwd=folder or project, env=tools(project), check=True, capture_output=True)
