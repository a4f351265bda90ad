"""The `hier` command."""

import sys
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from hierlib.lab.console import err, out, print_error, print_events, print_results
from hierlib.lab.project import UserError, find_project, nearest
from hierlib.lab.registry import load_registry
from hierlib.lab.selection import Request, jobs_for, load

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Run, check and render the pages of the book. Each page is a theorem or a figure, put to a test that can fail."
    "\n\nExample: [bold]hier run && hier book[/bold]",
)

Claims = Annotated[
    list[str] | None,
    typer.Argument(metavar="CLAIM", help="Claims, pages or whole papers, e.g. fine-grained/thm4.1; all when omitted."),
]
ProfileOption = Annotated[str, typer.Option(help="smoke (seconds), quick (the book), long, or paper (the paper's sizes).")]
DeviceOption = Annotated[str, typer.Option(help="cpu or cuda; pages without a device parameter stay on the CPU.")]


@app.command()
def run(
    claims: Claims = None,
    profile: ProfileOption = "quick",
    seed: Annotated[int | None, typer.Option(help="Seed of every random draw; the book uses 0.")] = None,
    device: DeviceOption = "cpu",
    parameter: Annotated[
        list[str] | None, typer.Option("-p", "--parameter", metavar="NAME=VALUE", help="Change a parameter; repeatable.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Pages at a time; by default one per core, one on a GPU.")] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Send pages to this Dask scheduler.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds after which a page is stopped.")] = 1800,
    force: Annotated[bool, typer.Option("--force", help="Run again even when nothing changed.")] = False,
) -> None:
    """Run pages whose code, parameters, modules or data changed; skip the others.

    Changed parameters never touch the book: their results are kept apart and shown here.

    Example: [bold]hier run fine-grained/thm4.1 -p n=200 -p seed=3[/bold]
    """
    from hierlib.lab import runner

    project = find_project()
    _, pages = load(project, claims)
    if profile == "long" and not claims:
        pages = [page for page in pages if profile in page.profiles]
    changes = (*(parameter or []), *([] if seed is None else [f"seed={seed}"]))
    work = jobs_for(project, pages, Request(profile, device, changes), here=scheduler is None)
    backend = backend_for(scheduler, device, jobs)
    failed = print_events(runner.run(project, work, backend, runner.Settings(timeout, force)))
    if changes:
        print_results(project, work, tables=bool(claims))
    if failed:
        raise typer.Exit(1)


@app.command("list")
def list_claims(
    paper: Annotated[str | None, typer.Argument(help="One paper, e.g. fine-grained; all when omitted.")] = None,
    untested: Annotated[bool, typer.Option("--untested", help="Only claims that no page tests yet.")] = False,
) -> None:
    """List the registered claims: where they stand in the paper, the page that tests them, the expected verdict.

    Example: [bold]hier list rnn --untested[/bold]
    """
    registry = load_registry(find_project())
    if paper and paper not in registry:
        raise UserError(f"there is no paper {paper!r}; {nearest(paper, registry, 'papers')}")
    if paper:
        chosen = registry[paper]
        out.print(f"[bold]{escape(chosen.title)}[/bold]\n{chosen.authors}, {chosen.year}\n{escape(chosen.summary)}")
    table = Table("claim", "place", "page", "expected", "what it says")
    for name, entries in registry.items():
        for entry in entries.claims:
            if (paper and name != paper) or (untested and (entry.page or entry.untestable)):
                continue
            page = entry.page or ("–" if entry.untestable else "not yet")
            table.add_row(f"{name}/{entry.id}", escape(entry.place), page, entry.expected or "", escape(entry.says))
    out.print(table)


@app.command()
def show(claim: Annotated[str, typer.Argument(metavar="CLAIM", help="A claim or page, e.g. fine-grained/thm4.1.")]) -> None:
    """Show what a page tests, its parameters in every profile, and what its last run found.

    Example: [bold]hier show fine-grained/thm4.1[/bold]
    """
    from hierlib.lab.job import make_job
    from hierlib.lab.store import stored_record

    project = find_project()
    registry, pages = load(project, [claim])
    for page in pages:
        paper = registry[page.id.partition("/")[0]]
        out.print(f"[bold]{page.id}[/bold]  {project.relative(page.path)}")
        for name in page.claims:
            entry = paper.entry(name)
            out.print(f"  {entry.kind} {name} ({escape(entry.place)}), expected: {entry.expected}\n    {escape(entry.says)}")
        table = Table("parameter", "type", "allowed", *page.profiles, "meaning")
        values = {profile: page.values(profile, {}) for profile in page.profiles}
        for p in page.parameters.values():
            shown = [str(values[profile][p.name]) for profile in page.profiles]
            table.add_row(p.name, p.type, escape(p.allowed), *map(escape, shown), escape(p.meaning))
        out.print(table)
        for profile in page.profiles:
            record = stored_record(project, make_job(project, page, profile, {}))
            found = f"{record.verdicts}, {record.seconds} s, {record.started}" if record else "not run"
            out.print(f"  {profile}: {escape(found)}")


@app.command()
def book(profile: ProfileOption = "quick", device: DeviceOption = "cpu") -> None:
    """Render the book from the last runs, with warnings as errors. Nothing is executed.

    Prose comes from the text notebooks as they are now, numbers from the runs that match the present code.

    Example: [bold]hier book && open _build/html/index.html[/bold]
    """
    from hierlib.lab.book import render

    project = find_project()
    registry, pages = load(project)
    jobs = jobs_for(project, pages, Request(profile, device))
    address = render(project, registry, pages, jobs, lambda line: out.print(escape(line)))
    out.print(f"the book is at {address}")


@app.command()
def check(claims: Claims = None, profile: ProfileOption = "quick", device: DeviceOption = "cpu") -> None:
    """Compare the last runs with the accepted numbers and the expected verdicts; fail when something moved.

    Example: [bold]hier check fine-grained[/bold]
    """
    from hierlib.lab.numbers import compare

    project = find_project()
    _, pages = load(project, claims)
    jobs = jobs_for(project, pages, Request(profile, device))
    comparisons = [compare(project, page, job) for page, job in zip(pages, jobs, strict=True)]
    moves = [move for comparison in comparisons for move in comparison.moves]
    problems = [problem for comparison in comparisons for problem in comparison.problems]
    for comparison in comparisons:
        if comparison.left_out:
            out.print(f"[yellow]{escape(comparison.left_out)}[/yellow]", soft_wrap=True)
    table = Table("page", "quantity", "now", "accepted", "tolerance", "moved by (tolerances)")
    for move in sorted(moves, key=lambda move: -move.tolerances):
        colour = "red" if move.tolerances > 1 else "green"
        shown = [f"{number:.5g}" for number in (move.value, move.accepted, move.tolerance)]
        table.add_row(move.page, move.name, *shown, f"[{colour}]{move.tolerances:.2f}[/{colour}]")
    out.print(table)
    moved = sum(move.tolerances > 1 for move in moves)
    out.print(f"{len(moves) - moved} numbers hold, {moved} moved, {len(problems)} other problems")
    for problem in problems:
        err.print(f"[red]{escape(problem)}[/red]", soft_wrap=True)
    if moved or problems:
        raise typer.Exit(1)


@app.command()
def accept(
    claims: Claims = None,
    profile: ProfileOption = "quick",
    device: DeviceOption = "cpu",
    seeds: Annotated[
        str | None,
        typer.Option(help="Seeds to accept on, at least five; 3 to 8 if omitted, as settings are chosen on 0 to 2."),
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only pages accepted with earlier code or not at all.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Pages at a time; as for `hier run`.")] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Send pages to this Dask scheduler.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds after which a page is stopped.")] = 1800,
) -> None:
    """Run pages on several seeds; store value, tolerance and outcome of every check, and the verdicts over all seeds.

    Refused when the verdict over all seeds is not the one that the registry expects, and when a rule changed that the
    registry's history does not tell of. Interrupted, the same command continues; the cheapest pages come first.

    Example: [bold]hier accept fine-grained/thm4.1[/bold]
    """
    from hierlib.lab import numbers, runner

    chosen = numbers.read_seeds(seeds or numbers.SEEDS)
    project = find_project()
    registry, pages = load(project, claims)
    standard = {job.page: job for job in jobs_for(project, pages, Request(profile, device), here=scheduler is None)}
    if stale:
        pages = [page for page in pages if numbers.is_stale(project, standard[page.id])]
        if not pages:
            out.print("every page is accepted with the present code")
    pages = sorted(pages, key=lambda page: numbers.last_seconds(project, standard[page.id]))
    failed = 0
    for page in pages:  # page by page: what is done stays done
        requests = {s: Request(profile, device, (f"seed={s}",)) for s in chosen}
        row = {s: jobs_for(project, [page], request, here=scheduler is None)[0] for s, request in requests.items()}
        backend = backend_for(scheduler, device, jobs)
        work = {job.key: job for job in (standard[page.id], *row.values())}.values()
        failed += print_events(runner.run(project, work, backend, runner.Settings(timeout)))
        try:
            history = registry[page.id.partition("/")[0]].history
            out.print(f"accepted {project.relative(numbers.calibrate(project, standard[page.id], row, history))}")
        except UserError as error:
            err.print(f"[red]{escape(str(error))}[/red]", soft_wrap=True)
            failed += 1
    if failed:
        raise typer.Exit(1)


@app.command()
def data(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="digits, mnist, cifar10 or cifar100; when omitted, what the pages need."),
    ] = None,
    profile: ProfileOption = "quick",
) -> None:
    """Fetch image data into the cache folder (HIERLIB_DATA), verified by digest; a broken download is continued.

    Example: [bold]hier data mnist cifar10[/bold]
    """
    from hierlib.data.catalogue import DataError, source
    from hierlib.data.fetch import fetch

    if not names:
        project = find_project()
        jobs = jobs_for(project, load(project)[1], Request(profile))
        names = sorted({name for job in jobs for name in job.data})
    try:
        for name in names:
            source(name)
    except DataError as error:
        raise UserError(str(error)) from None
    missing = 0
    for name in names:
        try:
            out.print(f"{name} is complete: {fetch(name, say=lambda line: out.print(escape(line)))}", soft_wrap=True)
        except DataError as error:
            err.print(f"[yellow]{escape(str(error))}[/yellow]", soft_wrap=True)
            missing += 1
    if missing:
        raise typer.Exit(1)


@app.command()
def new(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="A registered claim, e.g. fine-grained/lemC.3.")],
) -> None:
    """Write the skeleton of a page for a registered claim. It runs at once, and its check fails until you write it.

    Example: [bold]hier new fine-grained/lemC.3[/bold]
    """
    from hierlib.lab.skeleton import write_page

    project = find_project()
    registry = load_registry(project)
    path = write_page(project, registry, claim)
    out.print(f"wrote {project.relative(path)}; now give the claim `page: {path.stem}` and `expected:` in book/claims/, "
              f"add {project.relative(path.with_suffix(''))} to _toc.yml, and fill the page in", soft_wrap=True)  # fmt: skip


@app.command("new-paper")
def new_paper(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Short name of the paper, e.g. mean-field.")],
    title: Annotated[str, typer.Option(help="Its title.")] = "Title of the paper",
    authors: Annotated[str, typer.Option(help="Its authors, separated by commas.")] = "First Author, Second Author",
    year: Annotated[int, typer.Option(help="The year it appeared.")] = 2020,
    arxiv: Annotated[str, typer.Option(help="Its number on arXiv.")] = "0000.00000",
) -> None:
    """Add a paper: registry, opening page, part of the table of contents, citation, and one page that runs at once.

    Example: [bold]hier new-paper mean-field --title "A mean field view" --year 2018[/bold]
    """
    from hierlib.lab.skeleton import write_paper

    project = find_project()
    written = write_paper(project, load_registry(project), slug, title, authors, year, arxiv)
    out.print("wrote " + ", ".join(project.relative(path) for path in written), soft_wrap=True)
    out.print(f"`hier run {slug}` runs its first page; list the paper's claims in {project.relative(written[-1])}")


@app.command()
def clean(yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False) -> None:
    """Remove runs and checkpoints that no page of the present code would use again; their size is shown first.

    Example: [bold]hier clean[/bold]
    """
    from hierlib.lab.cleaning import leftovers, remove

    project = find_project()
    found = leftovers(project, load(project)[1])
    size = sum(leftover.size for leftover in found) / 1e6
    if not found:
        out.print("nothing to remove: everything under _build belongs to a page")
        return
    for leftover in found:
        out.print(f"{leftover.size / 1e6:8.1f} MB  {project.relative(leftover.path)}", soft_wrap=True)
    out.print(f"{len(found)} leftovers, {size:.1f} MB")
    if not yes and not (sys.stdin.isatty() and typer.confirm("Remove them?")):
        out.print("nothing was removed; `hier clean --yes` removes them")
        return
    for leftover in found:
        remove(leftover)
    out.print(f"removed {size:.1f} MB")


def backend_for(scheduler: str | None, device: str, jobs: int | None) -> Any:
    """Where pages run: on the cluster of that scheduler, else on this machine."""
    from hierlib.lab import runner

    if scheduler is None:
        return runner.local(runner.pages_at_once(device, jobs))
    from hierlib.lab.cluster import cluster

    return cluster(scheduler)


def main() -> None:
    """Entry point: a user's mistake is one sentence and exit code 2, an interruption is exit code 130."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
    except UserError as error:
        code = print_error(str(error), 2)
    except typer.TyperException as error:  # an unknown command or option, or a value that is not a number
        code = print_error(error.format_message(), 2)
    except OSError as error:
        code = print_error(str(error), 1)
    except KeyboardInterrupt:
        code = 130
    if code == 130:  # typer turns Ctrl-C into this code
        err.print("interrupted; what was finished is kept, the same command continues")
    sys.exit(code)


if __name__ == "__main__":
    main()
