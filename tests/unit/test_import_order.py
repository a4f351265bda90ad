"""Imports point one way: each folder may use those before it, `lab` imports no mathematics, only pages import `papers`."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "hierlib"
ORDER = ["data", "nets", "targets", "kernels", "theory", "train", "measures", "figures", "papers", "lab"]
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """First and second part of every module of ours that a file imports: `kernels`, `papers.fine_grained`, `streams`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names = [node.module or ""]
        for name in names:
            parts = name.split(".")
            if parts[0] == "hierlib" and len(parts) > 1:
                found.add(".".join(parts[1 : 3 if parts[1] == "papers" else 2]))
    return found


def test_every_folder_of_the_package_has_its_place_in_the_order():
    assert sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")) == sorted(ORDER)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_comes_before_its_folder(module):
    folder, *rest = module.split("/")
    place = ORDER.index(folder) if rest else -1
    for name in imported(PACKAGE / module):
        other, *paper = name.split(".")
        if other not in ORDER:
            assert other in ("streams", "files"), f"{module} imports {name}"
        elif folder == "lab":
            assert other in ("data", "lab"), f"{module} imports mathematics: {name}"
        elif other == "papers":
            assert folder == "papers" and paper == [rest[0]], f"{module} imports another paper: {name}"
        else:
            assert ORDER.index(other) <= place, f"{module} imports {name}, which comes after it"
