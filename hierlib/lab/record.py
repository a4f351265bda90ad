"""Records: what a run found, kept under its key with a digest of every file, so that damage is seen.

A finished run is a folder `_build/runs/<paper>/<page>/<key>/` with `record.json` and `executed.ipynb`. It appears
under its name in one rename, complete, or not at all.
"""

import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

from hierlib.lab.job import Job
from hierlib.lab.project import Project


def run_folder(project: Project, job: Job) -> Path:
    return project.runs / job.page / job.key


def stored_record(project: Project, job: Job) -> dict[str, Any] | None:
    """The record of a finished run, or None when there is none or it is damaged."""
    return read_record(run_folder(project, job) / "record.json")


def damage(project: Project, job: Job) -> Path | None:
    """The folder of a stored run that no longer matches its digests."""
    folder = run_folder(project, job)
    return folder if folder.exists() and stored_record(project, job) is None else None


def read_record(path: Path) -> dict[str, Any] | None:
    """A record whose own digest and whose files' digests are right, else None."""
    try:
        record: dict[str, Any] = json.loads(path.read_text())
        if record["digest"] != _digest(record):
            return None
        for name, expected in record["files"].items():
            beside = (path.parent / name).exists() or path.parent.name == record["key"]  # a kept record travels alone
            if beside and hashlib.sha256((path.parent / name).read_bytes()).hexdigest() != expected:
                return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return record


def seal(working: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Write `record.json` into a working folder, with the digests of the files beside it."""
    files = {"executed.ipynb": hashlib.sha256((working / "executed.ipynb").read_bytes()).hexdigest()}
    sealed = record | {"files": files}
    sealed["digest"] = _digest(sealed)
    (working / "record.json").write_text(json.dumps(sealed, indent=1, ensure_ascii=False) + "\n")
    return sealed


def store(project: Project, job: Job, working: Path, replace: bool = False) -> None:
    """Move a sealed working folder to its place. Of two runs of the same key the first one stays, unless asked."""
    target = run_folder(project, job)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and (replace or stored_record(project, job) is None):
        aside = target.with_name(f".replaced-{uuid.uuid4().hex[:8]}")
        os.replace(target, aside)
        shutil.rmtree(aside, ignore_errors=True)
    try:
        os.rename(working, target)
    except OSError:
        if stored_record(project, job) is None:
            raise
        shutil.rmtree(working, ignore_errors=True)


def _digest(record: dict[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
