"""What an installed hierlib is: its version, its files, and the packages that it may import."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hierlib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Modules whose distribution has another name; `distributed` is what dask's extra brings.
DISTRIBUTION = {"yaml": "pyyaml", "PIL": "pillow", "sklearn": "scikit-learn", "distributed": "dask"}
# An opponent of the benchmarks that runs in an environment of its own.
APART = "benchmarks/neural_tangents_peer.py"


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


CORE = names(PROJECT["dependencies"])
EXTRAS = {extra: names(lines) for extra, lines in PROJECT["optional-dependencies"].items()}


def imports(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Distribution of every import that is not ours or Python's, and whether it stands inside a function or a type check."""
    for node in ast.iter_child_nodes(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
        for module in modules:
            top = module.partition(".")[0]
            if top not in sys.stdlib_module_names and top not in ("hierlib", "benchmarks", "tests"):
                yield canonicalize_name(DISTRIBUTION.get(top, top)), inside
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from imports(node, inside or typing or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def files(folder: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", [*files("hierlib"), *files("benchmarks"), *files("tests"), *files("tools")])
def test_every_package_that_is_imported_is_declared(path):
    if path != APART:
        used = {package for package, _ in imports(ast.parse((ROOT / path).read_text()))}
        allowed = CORE | EXTRAS["lab"] | EXTRAS["book"]
        assert used <= (allowed if path.startswith("hierlib/") else allowed | EXTRAS["dev"])


@pytest.mark.parametrize("path", [path for path in files("hierlib") if not path.startswith("hierlib/lab/")])
def test_outside_lab_nothing_but_the_core_is_needed_to_import(path):
    """What an extra brings (display in a notebook, image files) is imported by the function that needs it."""
    assert {package for package, inside in imports(ast.parse((ROOT / path).read_text())) if not inside} <= CORE


def test_no_package_is_declared_twice_and_the_core_is_bounded_on_both_sides():
    declared = [*CORE, *(name for extra in EXTRAS.values() for name in extra)]
    assert len(declared) == len(set(declared))
    for requirement in map(Requirement, PROJECT["dependencies"]):
        assert {each.operator for each in requirement.specifier} == {">=", "<"}, requirement


def test_version_changelog_and_citation_agree():
    assert hierlib.__version__ == version("hierlib") == PROJECT["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## \[(\d[\d.]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert (cited["version"], str(cited["date-released"])) == (PROJECT["version"], newest[2])
    assert newest[1] == PROJECT["version"]


def test_an_unknown_name_of_the_package_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = hierlib.nonsense


@pytest.mark.slow
def test_a_wheel_holds_every_module_script_and_style_sheet_and_says_that_it_is_typed(tmp_path):
    shutil.copytree(ROOT / "hierlib", tmp_path / "hierlib", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    build = "from setuptools.build_meta import build_wheel; build_wheel('.')"
    subprocess.run([sys.executable, "-c", build], cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    kinds = (".py", ".js", ".css", ".typed")
    source = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hierlib").rglob("*") if path.suffix in kinds}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("hierlib/")}
    assert packed == source
    assert "hierlib/py.typed" in packed
