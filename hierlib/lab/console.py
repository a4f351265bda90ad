"""What `hier` prints while pages run, and after."""

from contextlib import closing
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from hierlib.lab.project import Project

out, err = Console(highlight=False), Console(stderr=True, highlight=False)


def complain(sentence: str, code: int) -> int:
    """One sentence on what is wrong; returns the exit code that goes with it."""
    err.print(f"[red]hier:[/red] {escape(sentence)}", soft_wrap=True)
    return code


def follow(events: Any) -> int:
    """Print events as they come: moving lines on a terminal, plain lines elsewhere. Returns the number of failures."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    counts = dict.fromkeys(("done", "skipped", "failed", "unavailable"), 0)
    lines = {
        "done": "[green]done[/green]",
        "failed": "[red]failed[/red]",
        "unavailable": "[yellow]skipped[/yellow]",
        "damaged": "[yellow]damaged[/yellow]",
    }
    failures = []
    live = Progress(*columns, console=out, disable=not out.is_terminal, transient=True)
    with live as progress, closing(events):  # closing: an interruption while printing stops the pages too
        tasks: dict[str, Any] = {}
        for event in events:
            seed = event.job.parameters["seed"]
            label = f"{event.job.page} ({event.job.profile}{f', seed {seed}' if seed else ''})"
            if event.kind == "started":
                tasks[event.job.key] = progress.add_task(label)
                if not out.is_terminal:
                    out.print(f"started {label}", soft_wrap=True)
                continue
            if event.job.key in tasks:
                progress.remove_task(tasks.pop(event.job.key))
            if event.kind in counts:
                counts[event.kind] += 1
            if event.kind == "failed":
                failures.append(event.message)
            if event.kind == "done":
                out.print(f"{lines['done']} {label} in {event.seconds:.1f} s", soft_wrap=True)
            elif event.kind in lines:
                out.print(f"{lines[event.kind]} {escape(event.message)}", soft_wrap=True)
    said = {"done": "run", "skipped": "up to date", "unavailable": "without data", "failed": "failed"}
    out.print(", ".join(f"{counts[kind]} {words}" for kind, words in said.items() if counts[kind]) or "nothing to run")
    for message in failures:
        err.print(f"[red]failed:[/red] {escape(message)}", soft_wrap=True)
    return len(failures)


def show_results(project: Project, work: list[Any]) -> None:
    """The checks of runs that stay out of the book, and where their notebooks are."""
    from hierlib.lab.claim import Check
    from hierlib.lab.record import run_folder, stored_record

    for job in work:
        if (record := stored_record(project, job)) is None:
            continue
        changed = ", ".join(f"{name}={value}" for name, value in job.parameters.items())
        out.print(f"{job.page}: {escape(changed)}", soft_wrap=True)
        table = Table("quantity", "value", "must be", "holds?")
        for entry in record["checks"]:
            check = Check(**{name: value for name, value in entry.items() if name != "margin"})
            table.add_row(check.name, f"{check.value:.4g}", escape(check.statement()), "yes" if check.holds else "no")
        out.print(table)
        out.print(f"notebook: {project.relative(run_folder(project, job) / 'executed.ipynb')}", soft_wrap=True)
