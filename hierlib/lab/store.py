"""Where finished runs are kept: `_build/runs/<paper>/<page>/<key>/`, with `record.json` and the notebook that it names.

The record is what makes a run count: it appears under its name in one rename, last, or not at all.
"""

import os
import shutil
from pathlib import Path

from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.record import Record, RunFolder, read_record


def run_folder(project: Project, job: Job) -> RunFolder:
    return RunFolder(project.runs / job.page / job.key)


def stored_record(project: Project, job: Job) -> Record | None:
    """The record of a finished run, or None when there is none or it is damaged."""
    return read_record(run_folder(project, job).record)


def broken_run(project: Project, job: Job) -> Path | None:
    """The folder of a stored run that no longer matches its digests."""
    folder = run_folder(project, job)
    return folder.path if folder.path.exists() and stored_record(project, job) is None else None


def store(project: Project, job: Job, working: RunFolder, replace: bool = False) -> None:
    """Move a sealed run to its place. Of two runs of the same key the first one stays, unless asked.

    Where there is a run already, the notebook goes beside its notebook and then one rename puts the new record in the place
    of the old one: at every moment the folder holds a complete run.
    """
    target = run_folder(project, job)
    target.path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(working.path, target.path)
        return
    except OSError:
        if not target.path.is_dir():
            raise
    if replace or stored_record(project, job) is None:
        record = read_record(working.record)
        assert record is not None, "only sealed runs are stored"
        os.replace(working.notebook_of(record), target.notebook_of(record))
        os.replace(working.record, target.record)
        for path in target.path.iterdir():
            if path not in (target.record, target.notebook_of(record)):
                path.unlink(missing_ok=True)
    shutil.rmtree(working.path, ignore_errors=True)
