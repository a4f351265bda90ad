"""Which modules of a package a piece of code really imports, and what they mean; found by reading, without importing.

A module means its syntax tree without docstrings and comments, together with the files of the same name beside it
(`label_designer.js` belongs to `label_designer.py`). So a comment, a docstring or a version number re-runs nothing, and a
changed formula re-runs exactly the pages that use its module.
"""

import ast
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hierlib.files import write_text
from hierlib.lab.project import UserError

ASSETS = (".js", ".css", ".html")
Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """A file of a package: its name within it (`kernels/relu.py`), the names it imports, the digest of what it means."""

    name: str
    imports: frozenset[str]
    digest: str


def parsed(cells: Iterable[str]) -> ast.Module | None:
    """The syntax tree of code cells, one after the other, without docstrings; None when one of them is not Python."""
    try:
        return without_docstrings(ast.parse("\n".join(map(_without_magics, cells))))
    except (SyntaxError, ValueError):
        return None


def imported_modules(cells: Iterable[str], package: Path) -> list[Module]:
    """Modules of `package` (a folder with `__init__.py`) that code cells import, directly or through one another.

    A cell that is not Python (a slip, or `%%bash`) may import anything: it counts as if it imported everything. Cells
    without the word are not parsed: that would take longer than everything else.
    """
    tree = parsed(cell for cell in cells if "import" in cell or cell.lstrip().startswith("%%"))
    found: dict[str, Module] = {}
    waiting = (
        list(package_files(package)) if tree is None else [f for dotted in _dotted(tree) for f in _files(dotted, package)]
    )
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = read_module(name, package)
            waiting.extend(found[name].imports)
    return list(found.values())


def modules_digest(modules: Iterable[Module]) -> str:
    """One digest of what the modules mean."""
    lines = sorted(f"{module.name}\0{module.digest}" for module in modules)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:20]


def package_digest(package: Path) -> str:
    """One digest of every file of the package, to the letter: two machines with the same one run the same code."""
    total = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.suffix in (".py", *ASSETS)):
        total.update(f"{path.relative_to(package).as_posix()}\0".encode() + path.read_bytes())
    return total.hexdigest()[:20]


def meaning(node: Any) -> str:
    """A syntax tree as text, without positions.

    Not `ast.dump`: empty fields are left out here, so that the text is the same on every version of Python, the next of
    which may add fields (3.12 did) or print them otherwise (3.13 does).
    """
    if isinstance(node, ast.AST):
        given = [(name, value) for name in node._fields if (value := getattr(node, name, None)) is not None and value != []]
        return f"{type(node).__name__}({','.join([f'{name}={meaning(value)}' for name, value in given])})"
    if isinstance(node, list):
        return f"[{','.join([meaning(item) for item in node])}]"
    return repr(node)


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in (tree, *_statements(tree)):
        if isinstance(node, Scope) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                node.body = node.body[1:]
    return tree


def read_module(name: str, package: Path) -> Module:
    """What a module imports and means, read once per process and state of its files."""
    path = f"{package}/{name}"
    stem = path.removesuffix(".py")
    stamps = [(file, _modified(file)) for file in (path, *(stem + end for end in ASSETS))]
    return _read_module(name, tuple((file, stamp) for file, stamp in stamps if stamp), package)


@cache
def _read_module(name: str, files: tuple[tuple[str, int], ...], package: Path) -> Module:
    content = [Path(file).read_bytes() for file, _ in files]
    known = hashlib.sha256(b"\0".join(content)).hexdigest()
    if known not in memory:
        try:
            tree = without_docstrings(ast.parse(content[0]))
        except (SyntaxError, ValueError) as error:
            raise UserError(f"{package.name}/{name}, line {getattr(error, 'lineno', 1)}: not valid Python") from None
        total = hashlib.sha256(meaning(tree).encode())
        for asset in content[1:]:
            total.update(asset)
        memory[known] = [total.hexdigest(), *sorted(set(_dotted(tree)))]
    digest, *mentioned = memory[known]
    return Module(name, frozenset(file for dotted in mentioned for file in _files(dotted, package)), digest)


# What was read before, by content: the digest of the files of a module -> the digest of its meaning, and what it mentions.
memory: dict[str, list[str]] = {}
recalled: set[str] = set()


def recall(file: Path) -> None:
    """Take over what earlier processes read; a line is found by content, so it may be missing but never outdated."""
    try:
        stored = json.loads(file.read_bytes())
        if stored["reader"] == _reader():
            memory.update(stored["modules"])
            recalled.update(stored["modules"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # then the modules are read again


def keep(file: Path) -> None:
    """Leave what was read to the next process, which then answers half a second earlier."""
    if memory.keys() <= recalled:
        return
    try:
        write_text(file, json.dumps({"reader": _reader(), "modules": memory}))
    except OSError:  # a full or read-only disk is a reason to be slower, not to stop
        pass


@cache
def _reader() -> str:
    """A digest of this file: another way of reading gives other meanings."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _modified(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except FileNotFoundError:
        return 0


def _statements(node: Any) -> Iterator[ast.AST]:
    """All statements below a node, however deep; expressions are passed over, no import or definition is in them."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, field, None)
        for statement in below if isinstance(below, list) else ():
            yield statement
            yield from _statements(statement)


def _dotted(tree: ast.Module) -> Iterator[str]:
    """Every name that a piece of code imports, in full; some are modules, some are names in modules."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(dotted: str, package: Path) -> Iterator[str]:
    """The module and the `__init__.py` of every package above it; nothing for names that are not modules of ours."""
    head, *rest = dotted.split(".")
    if head != package.name:
        return
    there = package_files(package)
    yield "__init__.py"
    for depth, part in enumerate(rest):
        above = "".join(f"{name}/" for name in rest[:depth])
        if f"{above}{part}.py" in there:
            yield f"{above}{part}.py"
            return
        if f"{above}{part}/__init__.py" not in there:
            return
        yield f"{above}{part}/__init__.py"


@cache
def package_files(package: Path) -> frozenset[str]:
    """The modules that a package has, as names within it."""
    return frozenset(path.relative_to(package).as_posix() for path in package.rglob("*.py"))


def _without_magics(code: str) -> str:
    """IPython's `%magic` and `!shell` lines are not Python."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in code.splitlines())
