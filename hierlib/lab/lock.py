"""Resolve the dependencies of pyproject.toml into `requirements.lock` and `environment.yml`: `make lock`."""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from hierlib.files import write_text

HEAD = "# Written by `make lock` from pyproject.toml; every package of the environment, pinned.\n"


def resolve(root: Path) -> list[str]:
    """All packages that pip would install, as `name==version`, without the local part of a version (2.13.0+cpu)."""
    wanted = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
            "--report",
            str(report),
        ]
        subprocess.run([*command, *wanted], check=True)
        packages = json.loads(report.read_text())["install"]
    names = [(p["metadata"]["name"].lower().replace("_", "-"), p["metadata"]["version"].partition("+")[0]) for p in packages]
    return sorted(f"{name}=={version}" for name, version in names)


def environment(pins: list[str]) -> str:
    """The same pins for conda and mamba."""
    lines = "".join(f"      - {pin}\n" for pin in pins)
    return HEAD + "name: hierlib\ndependencies:\n  - python=3.11\n  - pip\n  - make\n  - nodejs\n  - pip:\n" + lines


if __name__ == "__main__":
    here = Path.cwd()
    resolved = resolve(here)
    write_text(here / "requirements.lock", HEAD + "\n".join(resolved) + "\n")
    write_text(here / "environment.yml", environment(resolved))
