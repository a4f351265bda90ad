"""The lock: exact, with hashes, the same on every machine; torch apart."""

import re
import runpy
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
LOCK = (ROOT / "requirements.lock").read_text()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED = runpy.run_path(str(ROOT / "tools" / "lock.py"))["pins"](LOCK)
TORCH = (ROOT / "requirements-torch.txt").read_text().strip()


def pinned(python: str) -> dict[str, str]:
    """Version by package of the environment on Linux, for one version of Python."""
    here = {"python_version": python[:4], "python_full_version": python, "sys_platform": "linux"}
    found = {}
    for requirement in map(Requirement, [*LOCKED, TORCH]):
        if requirement.marker is None or requirement.marker.evaluate(here | {"platform_python_implementation": "CPython"}):
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} twice for Python {python}"
            (found[name],) = (each.version for each in requirement.specifier)
    return found


def test_every_package_has_hashes_and_no_line_names_where_it_comes_from():
    entries = re.split(r"\n(?=\S)", LOCK.split("\n", 2)[2].strip())
    assert len(entries) == len(LOCKED)
    for entry in entries:
        head, *hashes = entry.split(" \\\n")
        assert hashes and all(re.fullmatch(r"\s+--hash=sha256:[0-9a-f]{64}", line) for line in hashes), head
    assert not re.search(r"://|^-", LOCK, re.MULTILINE)


def test_torch_stands_apart_without_build_or_hash_and_none_of_its_cuda_packages_is_locked():
    assert re.fullmatch(r"torch==\d+\.\d+\.\d+", TORCH), "no local part: a GPU machine gets its own build"
    assert not [pin for pin in LOCKED if pin.startswith(("torch==", "nvidia", "cuda", "triton"))]


def test_the_lock_holds_what_torch_needs_on_any_machine():
    """The build of torch that is installed here says what it needs; CUDA's packages aside, that is what uv was told."""
    (told,) = PYPROJECT["tool"]["uv"]["dependency-metadata"]
    assert f"torch=={told['version']}" == TORCH
    if version("torch").partition("+")[0] != told["version"]:
        return
    needs = [need for need in requires("torch") or [] if "extra ==" not in need]
    needs = [need for need in needs if not re.match("nvidia|cuda|triton", need)]
    assert {str(Requirement(need)) for need in needs} == {str(Requirement(need)) for need in told["requires-dist"]}


def test_every_range_in_pyproject_admits_the_pin_on_the_oldest_and_the_newest_python():
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *(need for extra in project["optional-dependencies"].values() for need in extra)]
    for python in ("3.11.9", "3.13.0"):
        pins = pinned(python)
        for requirement in map(Requirement, wanted):
            assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), requirement


def test_the_numbers_come_from_one_version_of_each_library_on_every_python():
    decide = ("torch", "numpy", "scipy", "scikit-learn", "matplotlib")
    old, new = pinned("3.11.9"), pinned("3.13.0")
    assert {name: old[name] for name in decide} == {name: new[name] for name in decide}
    for name in decide:
        assert f"\n{name}=={old[name]}" in f"\n{LOCK}\n{TORCH}", "a plain line that the key of a page can read"


def test_conda_gets_the_same_pins():
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert sorted([*LOCKED, TORCH]) == next(entry["pip"] for entry in entries if isinstance(entry, dict))
