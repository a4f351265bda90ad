"""Which modules a page rests on: an edited module runs exactly the pages that import it."""

import pytest

from hierlib.lab import imports
from hierlib.lab.imports import imported_modules, meaning, modules_digest, package_digest, parsed
from hierlib.lab.project import UserError

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
    return {module.name for module in imported_modules(cells, package)}


def digest(package, *cells):
    return modules_digest(imported_modules(cells, package))


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
    before = digest(package, "from package.nets.wide import f")
    (package / edited).write_text(TREE[edited] + "edited = 1\n")
    assert (digest(package, "from package.nets.wide import f") != before) is noticed


def test_an_import_added_to_a_module_is_followed(package):
    before = digest(package, "import package.alone")
    (package / "alone.py").write_text("import package.nets.deep\n")
    added = digest(package, "import package.alone")
    (package / "nets/deep.py").write_text("edited = 1\n")
    assert len({before, added, digest(package, "import package.alone")}) == 3


FORMULA = "def area(r):\n    return 3.14 * r**2\n"
SAME = {
    "a comment": "# the area\ndef area(r):  # of a circle\n    return 3.14 * r**2\n",
    "docstrings": '"""Circles."""\n\n\ndef area(r):\n    """Of a circle."""\n    return 3.14 * r**2\n',
    "layout": "def area(\n    r,\n):\n    return (3.14 * r ** 2)\n",
}
OTHER = {
    "another constant": FORMULA.replace("3.14", "3.15"),
    "another order": FORMULA.replace("3.14 * r**2", "r**2 * 3.14"),
    "a default": FORMULA.replace("(r)", "(r=1)"),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_does_not_change_the_meaning_does_not_change_the_digest(package, text):
    (package / "alone.py").write_text(FORMULA)
    before = digest(package, "import package.alone")
    (package / "alone.py").write_text(text)
    assert digest(package, "import package.alone") == before


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_what_changes_the_meaning_changes_the_digest(package, text):
    (package / "alone.py").write_text(FORMULA)
    before = digest(package, "import package.alone")
    (package / "alone.py").write_text(text)
    assert digest(package, "import package.alone") != before


def test_files_of_the_same_name_belong_to_a_module(package):
    before = digest(package, "import package.alone")
    (package / "alone.js").write_text("let a = 1")
    added = digest(package, "import package.alone")
    (package / "alone.js").write_text("let a = 22")
    (package / "other.js").write_text("of no module")
    assert len({before, added, digest(package, "import package.alone")}) == 3


def test_the_text_of_a_meaning_is_the_same_on_every_python():
    tree = parsed(["def f(x: int = 1) -> None:\n    return None"])
    assert meaning(tree) == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='x',annotation=Name(id='int',ctx=Load()))],"
        "defaults=[Constant(value=1)]),body=[Return(value=Constant())],returns=Constant())])"
    )


def test_the_digest_of_a_package_is_to_the_letter(package):
    before = package_digest(package)
    (package / "nets/deep.py").write_text("# a comment\n")
    assert package_digest(package) != before


def test_a_module_that_is_not_python_is_named_with_its_line(package):
    (package / "alone.py").write_text("x = 1\nx = = 2\n")
    with pytest.raises(UserError, match=r"package/alone\.py, line 2: not valid Python"):
        digest(package, "import package.alone")


@pytest.fixture
def forgetful(monkeypatch):
    """As a new process: nothing was read yet."""

    def forget():
        imports.memory.clear()
        imports.recalled.clear()
        imports._read_module.cache_clear()

    monkeypatch.setattr(imports, "memory", {})
    monkeypatch.setattr(imports, "recalled", set())
    imports._read_module.cache_clear()
    return forget


def test_what_was_read_is_left_to_the_next_process(package, tmp_path, forgetful, monkeypatch):
    file, code = tmp_path / "meanings.json", "from package.nets.wide import f"
    first = digest(package, code), found(package, code)
    imports.keep(file)
    forgetful()
    imports.recall(file)
    monkeypatch.setattr(imports, "meaning", lambda node: pytest.fail("it was read before"))
    assert (digest(package, code), found(package, code)) == first
    (package / "nets" / "wide.py").write_text(TREE["nets/wide.py"] + "edited = 1\n")
    with pytest.raises(pytest.fail.Exception):
        digest(package, code)


@pytest.mark.parametrize("content", ["", "[]", '{"reader": "another", "modules": {"x": ["y"]}}', '{"reader": 1}'])
def test_what_another_reader_or_nobody_wrote_is_not_believed(tmp_path, forgetful, content):
    file = tmp_path / "meanings.json"
    file.write_text(content)
    imports.recall(file)
    assert imports.memory == {}
