"""Which modules of a package a piece of code really imports, found by reading it.

One edited module then re-runs exactly the pages that use it, and none that do not.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def imported_modules(cells: Iterable[str], package: Path) -> set[Path]:
    """Files of `package` (a folder with `__init__.py`) that the code cells import, transitively.

    A cell that is not Python (a slip, or `%%bash`) may import anything: it counts as if it imported everything.
    """
    found: set[Path] = set()
    waiting: list[Path] = []
    for cell in cells:
        try:
            waiting.extend(_mentioned(_without_magics(cell), package))
        except SyntaxError:
            waiting.extend(package.rglob("*.py"))
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_mentioned_in_file(path, package, path.stat().st_mtime_ns))
    return found


@cache
def _mentioned_in_file(path: Path, package: Path, modified: int) -> tuple[Path, ...]:
    return tuple(_mentioned(path.read_text(), package))


def _mentioned(code: str, package: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name, package)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from _files(node.module, package)
            for alias in node.names:  # `from package.folder import module`
                yield from _files(f"{node.module}.{alias.name}", package)


def _files(dotted: str, package: Path) -> Iterator[Path]:
    """The module and the `__init__.py` of every package above it; nothing for names that are not modules of ours."""
    head, *rest = dotted.split(".")
    if head != package.name:
        return
    folder = package
    yield folder / "__init__.py"
    for part in rest:
        if (folder / f"{part}.py").is_file():
            yield folder / f"{part}.py"
            return
        folder = folder / part
        if not (folder / "__init__.py").is_file():
            return
        yield folder / "__init__.py"


def _without_magics(code: str) -> str:
    """IPython's `%magic` and `!shell` lines are not Python."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in code.splitlines())
