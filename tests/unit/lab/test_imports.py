"""Which modules a page rests on: an edited module runs exactly the pages that import it."""

import pytest

from hierlib.lab.imports import imported_modules
from hierlib.lab.page import module_digest

TREE = {
    "__init__.py": "",
    "alone.py": "",
    "nets/__init__.py": "",
    "nets/wide.py": "import numpy\n\n\ndef f():\n    from package.theory import bounds\n",
    "nets/deep.py": "",
    "theory/__init__.py": "from package.theory.constants import PI\n",
    "theory/bounds.py": "import package.alone\n",
    "theory/constants.py": "PI = 3\n",
}


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "package"
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def found(package, *cells):
    return {str(path.relative_to(package)) for path in imported_modules(cells, package)}


THEORY = {"theory/__init__.py", "theory/constants.py"}
WIDE = {"__init__.py", "nets/__init__.py", "nets/wide.py", "theory/bounds.py", "alone.py"} | THEORY


@pytest.mark.parametrize(
    "code, files",
    {
        "import package.alone": {"__init__.py", "alone.py"},
        "from package.alone import x": {"__init__.py", "alone.py"},
        "from package import alone": {"__init__.py", "alone.py"},
        "from package import alone as other": {"__init__.py", "alone.py"},
        "from package.nets import deep": {"__init__.py", "nets/__init__.py", "nets/deep.py"},
        "from package.theory import PI": {"__init__.py"} | THEORY,
        "from package.nets.wide import f": WIDE,
        "if True:\n    import package.nets.wide as wide": WIDE,
        "import numpy\nfrom packages import alone": set(),
        "x = 'import package.alone'": set(),
    }.items(),
)
def test_modules_are_found_directly_and_through_one_another(package, code, files):
    assert found(package, code) == files


def test_magics_are_no_obstacle(package):
    assert found(package, "%matplotlib inline\n!ls\nimport package.alone\n  %time x") == {"__init__.py", "alone.py"}


def test_a_cell_that_is_not_python_may_import_anything(package):
    assert found(package, "import package.alone", "%%bash\nfor x in *; do python $x; done") == set(TREE)


@pytest.mark.parametrize("edited, noticed", [("nets/wide.py", True), ("alone.py", True), ("nets/deep.py", False)])
def test_only_an_edited_module_that_is_used_changes_the_digest(package, edited, noticed):
    cells = ["from package.nets.wide import f"]
    before = module_digest(cells, package)
    (package / edited).write_text(TREE[edited] + "# edited\n")
    assert (module_digest(cells, package) != before) is noticed


def test_an_import_added_to_a_module_is_followed(package):
    cells = ["import package.alone"]
    before = module_digest(cells, package)
    (package / "alone.py").write_text("import package.nets.deep\n")
    added = module_digest(cells, package)
    (package / "nets/deep.py").write_text("# edited\n")
    assert len({before, added, module_digest(cells, package)}) == 3
