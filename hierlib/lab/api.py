"""The page of the book that lists what `hierlib` offers: one line per public function and class, with its source beside it.

The package is read, never imported. Sources are plain HTML files in the static folder, so the links work without a network.
"""

import ast
import html
import re
from collections.abc import Iterator
from pathlib import Path

Definition = ast.FunctionDef | ast.ClassDef

HEAD = """\
# Functions and classes

Everything public in `hierlib`: name, arguments, first sentence of the docstring, in the order in which folders may import
one another. A name leads to its source, where the docstring goes on with paper, equation and shapes. All but `lab` works
with what `pip install .` brings; `lab` needs `pip install .[lab]`."""
ORDER = ["", "data", "nets", "targets", "kernels", "theory", "train", "measures", "figures", "papers", "lab"]
LONGEST = 88  # characters of a signature before its arguments are left out
SOURCES = "_static/source"
SOURCE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>:root {{ color-scheme: light dark }}
body {{ margin: 1rem auto; max-width: 64rem; padding: 0 1rem; font-family: sans-serif }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem }} b:target {{ background: #fc06 }}</style></head>
<body><p><a href="{index}">Functions and classes</a> / {title}</p><pre>{code}</pre></body></html>
"""


def api_files(package: Path) -> dict[str, str]:
    """The page `api.md` and the sources it links to: text by path below `book/`."""
    sources = {f"{SOURCES}/{source_name(package, path)}": source_page(package, path) for path in modules(package)}
    return {"api.md": api_page(package)} | sources


def api_page(package: Path) -> str:
    """The package as a MyST page: a section per folder, a heading per module, a line per public function or class."""
    parts, folder = [HEAD], None
    for path in modules(package):
        tree = ast.parse(path.read_text())
        if path.parent != folder:
            folder = path.parent
            title = dotted(package, folder).replace(".", " / ")  # spaces, so that a narrow screen can break it
            parts += [f"## {prose(title)}", prose(first_sentence(ast.parse((folder / "__init__.py").read_text())))]
        source = f"../{SOURCES}/{source_name(package, path)}"
        parts += [f"### {prose(path.stem)}", f'{prose(first_sentence(tree))} <a href="{source}">Source</a>']
        parts += ["\n".join(entry(node, source) for node in public(tree))]
    return "\n\n".join(parts) + "\n"


def entry(node: Definition, source: str) -> str:
    """One line of the page: the signature, which links to the source, and what the docstring says first."""
    return f'- <a href="{source}#{node.name}">`{signature(node)}`</a> {prose(first_sentence(node))}'


def modules(package: Path) -> list[Path]:
    """The files of a package in the order of its folders, a folder's own before those of the folders below it."""

    def place(path: Path) -> tuple[int, tuple[str, ...], str]:
        folders = path.relative_to(package).parts[:-1]
        top = folders[0] if folders else ""
        return ORDER.index(top) if top in ORDER else len(ORDER), folders, path.name

    return sorted((path for path in package.rglob("*.py") if path.stem != "__init__"), key=place)


def public(tree: ast.Module) -> Iterator[Definition]:
    """Functions and classes on the top level of a module whose name does not start with an underscore."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def signature(node: Definition) -> str:
    """`name(first, second=1, *, third)` without types; a class shows its fields, or what `__init__` takes."""
    if isinstance(node, ast.FunctionDef):
        inside = arguments(node.args)
    else:
        starts = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        fields = [ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)]
        inside = arguments(starts[0].args)[1:] if starts else fields
    whole = f"{node.name}({', '.join(inside)})"
    first = [part.partition("=")[0] for part in inside[:3]]
    return whole if len(whole) <= LONGEST else f"{node.name}({', '.join(first)}, …)"


def arguments(given: ast.arguments) -> list[str]:
    """The arguments of a function as they are written, without their types."""
    plain = [*given.posonlyargs, *given.args]
    values = [None] * (len(plain) - len(given.defaults)) + given.defaults
    written = [_with_default(argument, value) for argument, value in zip(plain, values, strict=True)]
    if given.vararg:
        written.append(f"*{given.vararg.arg}")
    elif given.kwonlyargs:
        written.append("*")
    written += [_with_default(argument, value) for argument, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return written + ([f"**{given.kwarg.arg}"] if given.kwarg else [])


def _with_default(argument: ast.arg, value: ast.expr | None) -> str:
    return argument.arg if value is None else f"{argument.arg}={ast.unparse(value)}"


def first_sentence(node: Definition | ast.Module) -> str:
    """Up to the first full stop that a capital letter follows (`et al. 2019` goes on), at most the first paragraph."""
    paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[^.]{3}\.) (?=[A-Z])", paragraph, maxsplit=1)[0]


def prose(text: str) -> str:
    """A docstring's sentence as Markdown: `code` stays code, every other sign is meant as it stands."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(
        piece if number % 2 else re.sub(r"([!-/:-@[-`{-~])", r"\\\1", piece) for number, piece in enumerate(pieces)
    )


def source_page(package: Path, path: Path) -> str:
    """A module as HTML in which the line of every public definition can be linked to."""
    text = path.read_text()
    lines = html.escape(text, quote=False).splitlines()
    for node in public(ast.parse(text)):
        lines[node.lineno - 1] = f'<b id="{node.name}">{lines[node.lineno - 1]}</b>'
    up = "../" * (len(path.relative_to(package).parts) + 1)
    return SOURCE.format(title=dotted(package, path.with_suffix("")), index=f"{up}book/api.html", code="\n".join(lines))


def source_name(package: Path, path: Path) -> str:
    return path.relative_to(package).with_suffix(".html").as_posix()


def dotted(package: Path, path: Path) -> str:
    return ".".join(path.relative_to(package.parent).parts)
