"""`tests/unit` mirrors the package, one to one; only the tests of `lab` go by what a user meets, not by module."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("data", "nets", "targets", "kernels", "theory", "train", "measures", "figures", "papers")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_module_has_its_tests_and_every_test_its_module(folder):
    package, tests = ROOT / "hierlib" / folder, ROOT / "tests" / "unit" / folder
    modules = {path.relative_to(package) for path in package.rglob("*.py") if path.name != "__init__.py"}
    tested = {path.relative_to(tests) for path in tests.rglob("test_*.py")}
    assert tested == {module.with_name(f"test_{module.name}") for module in modules}
