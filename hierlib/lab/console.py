"""What `hier` prints while pages run, and after."""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.store import run_folder, stored_record

out, err = Console(highlight=False), Console(stderr=True, highlight=False)

WORDS = {
    "done": "[green]done[/green]",
    "failed": "[red]failed[/red]",
    "unavailable": "[yellow]skipped[/yellow]",
    "damaged": "[yellow]damaged[/yellow]",
    "fetching": "[yellow]damaged[/yellow]",
}
COUNTED = {"done": "run", "skipped": "up to date", "unavailable": "without data", "failed": "failed"}


def print_error(sentence: str, code: int) -> int:
    """One sentence on what is wrong; returns the exit code that goes with it."""
    err.print(f"[red]hier:[/red] {escape(sentence)}", soft_wrap=True)
    return code


def print_events(events: Any) -> int:
    """Print what happens as it comes: moving lines on a terminal, plain lines elsewhere. Returns the number of failures."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    counts: Counter[str] = Counter()
    failures = []
    live = Progress(*columns, console=out, disable=not out.is_terminal, transient=True)
    with live as progress, closing(events):  # closing: an interruption while printing stops the pages too
        tasks: dict[str, Any] = {}
        for event in events:
            seed = event.job.parameters["seed"]
            label = f"{event.job.page} ({event.job.profile}{f', seed {seed}' if seed else ''})"
            if event.status == "started":
                tasks[event.job.key] = progress.add_task(label)
                if not out.is_terminal:
                    out.print(f"started {label}", soft_wrap=True)
                continue
            if event.job.key in tasks:
                progress.remove_task(tasks.pop(event.job.key))
            counts[event.status] += 1
            if event.status == "failed":
                failures.append(event.message)
            if event.status == "done":
                out.print(f"{WORDS['done']} {label} in {event.seconds:.1f} s", soft_wrap=True)
            elif event.status in WORDS:
                out.print(f"{WORDS[event.status]} {escape(event.message)}", soft_wrap=True)
    said = [f"{counts[status]} {words}" for status, words in COUNTED.items() if counts[status]]
    out.print(", ".join(said) or "nothing to run")
    for message in failures:
        err.print(f"[red]failed:[/red] {escape(message)}", soft_wrap=True)
    return len(failures)


def print_results(project: Project, jobs: Iterable[Job], tables: bool) -> None:
    """Verdicts of runs that stay out of the book; with `tables`, their checks and where their notebooks are as well."""
    for job in jobs:
        if (record := stored_record(project, job)) is None:
            continue
        verdicts = ", ".join(f"{claim} {verdict}" for claim, verdict in record.verdicts.items())
        if not tables:
            out.print(f"{job.page}: {verdicts}", soft_wrap=True)
            continue
        values = ", ".join(f"{name}={value}" for name, value in job.parameters.items())
        out.print(f"{job.page}: {escape(values)}", soft_wrap=True)
        table = Table("quantity", "value", "must be", "holds?")
        for check in record.checks:
            table.add_row(check.name, f"{check.value:.4g}", escape(check.statement()), "yes" if check.holds else "no")
        out.print(table)
        out.print(f"verdict: {verdicts}", soft_wrap=True)
        out.print(f"notebook: {project.relative(run_folder(project, job).notebook_of(record))}", soft_wrap=True)
