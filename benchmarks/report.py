"""RESULTS.md: what was measured replaces the line of its name, what was refused leaves the older line where it is."""

import os
import platform
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.timing import LIMIT, LeftOut, Result

HEAD = f"""\
# Benchmarks

Written by `make bench`; `python -m benchmarks NAME` measures one part again. The sides of a comparison take turns, on as
many threads as the line says. A number is the median over the turns; its error is half of the 95 % interval of that
median, relative to it. Above {LIMIT:.0%} the line is refused, because the machine was disturbed: the older one stays.

Last written on {{machine}}.
"""


class Line(NamedTuple):
    """A row of the table, as text."""

    what: str
    measured: str
    error: str
    wanted: str
    met: str
    date: str
    torch: str
    threads: str


class Circumstances(NamedTuple):
    """What every line that is written today has in common."""

    date: str
    torch: str
    threads: int


Book = dict[str, list[Line]]  # the parts of the report by name


def read(text: str) -> Book:
    """The parts of RESULTS.md. Rows of four cells, as they were written before errors were, are read as well."""
    book: Book = {}
    part = ""
    for row in text.splitlines():
        if row.startswith("## "):
            part = row.removeprefix("## ").strip()
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")] if row.startswith("|") else []
        if cells[:1] == ["what"] or all(set(cell) <= set("-: ") for cell in cells):
            continue
        if len(cells) == 4:
            what, measured, wanted, met = cells
            cells = [what, measured, "", wanted, met, "", "", ""]
        if len(cells) == len(Line._fields):
            book.setdefault(part, []).append(Line(*cells))
    return book


def write(book: Book) -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    parts = [HEAD.format(machine=machine)]
    for part, lines in book.items():
        rows = [Line._fields, ["---"] * len(Line._fields), *lines]
        table = "".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |\n" for row in rows)
        parts.append((f"## {part}\n\n" if part else "") + table)
    return "\n".join(parts)


def renewed(book: Book, part: str, results: Sequence[Result | LeftOut], here: Circumstances) -> Book:
    """The report after a part was measured: its lines of today, older ones where today's were refused or left out."""
    older = {line.what: line for lines in book.values() for line in lines}
    lines = []
    for result in results:
        if isinstance(result, Result) and not result.disturbed:
            lines.append(as_line(result, here))
        elif result.name in older:
            lines.append(older[result.name])
    measured = {result.name for result in results}
    others = {name: [line for line in rows if line.what not in measured] for name, rows in book.items() if name != part}
    places = [*book, part] if part not in book else list(book)
    return {name: lines if name == part else others[name] for name in places if name == part or others[name]}


def as_line(result: Result, here: Circumstances) -> Line:
    return Line(
        result.name,
        result.measured,
        "-" if result.error is None else f"± {result.error:.1%}",
        result.wanted or "-",
        {True: "yes", False: "**no**", None: "-"}[result.met],
        here.date,
        here.torch,
        str(result.threads or here.threads),
    )


def sentence(result: Result | LeftOut, book: Book) -> str:
    """What the user is told about a line."""
    old = next((line for lines in book.values() for line in lines if line.what == result.name), None)
    stays = f"the line{f' of {old.date}' if old.date else ''} in RESULTS.md stays" if old else "there is no older line"
    if isinstance(result, LeftOut):
        return f"left out  {result.name}: {result.why}; {stays}"
    if result.disturbed:
        load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        return (
            f"refused   {result.name}: {result.measured}, but only known to ± {result.error:.0%} "
            f"(at most {LIMIT:.0%}): the machine was disturbed ({load}); {stays}"
        )
    error = "" if result.error is None else f", ± {result.error:.1%}"
    wanted = f" (wanted: {result.wanted})" if result.wanted else ""
    return f"{'NOT met' if result.met is False else 'ok':9s} {result.name}: {result.measured}{error}{wanted}"
