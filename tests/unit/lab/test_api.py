"""The page that lists the package: complete, true to the code, and plain text to Sphinx whatever stands in a docstring."""

import importlib
import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hierlib.lab.api import ORDER, api_files, api_page

PACKAGE = Path(__file__).parents[3] / "hierlib"
TRICKY = '''\
"""What *stars*, under_scores_ and $dollars$ do: nothing. A second sentence."""

from typing import NamedTuple


class Point(NamedTuple):
    """A [link](nowhere) and <b>HTML</b> (see et al. 2019, eq. 3), `code_with_*`; fetch.py."""

    x_1: float
    x_2: float = 0.0


class Counter:
    def __init__(self, start: int, *, step: int = 1) -> None:
        """Not shown."""


def many(first: int, second: int, third=3, fourth_of_a_long_name=1234567, fifth_of_a_long_name=1234567, sixth=6) -> int:
    """# Not a heading

    Not the first paragraph.
    """


def power_(x: float, /, n: int = 2, *rest: int, name: str = "a", **others: int) -> float:
    """{doc}`nowhere` | a table | {cite}`nobody`"""


def _private() -> None:
    """Not listed."""
'''


@pytest.fixture
def package(tmp_path):
    """A package with one module whose docstrings are full of Markdown."""
    for folder in ("small", "small/kernels"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(f'"""The folder {folder}."""\n')
    (tmp_path / "small" / "kernels" / "tricky_one.py").write_text(TRICKY)
    (tmp_path / "small" / "above.py").write_text('"""First of all."""\n')
    return tmp_path / "small"


class Page(HTMLParser):
    """Text and links of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.text, self.links = "", []
        self.feed(html)

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if tag == "a" and name == "href"]


def rendered(files: dict[str, str], folder: Path) -> Page:
    """`api.md` as Sphinx renders it when every warning is an error and every reference must be found."""
    for name, text in files.items():
        (folder / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "book" / name).write_text(text)
    extensions = [
        "amsmath",
        "attrs_inline",
        "colon_fence",
        "deflist",
        "dollarmath",
        "linkify",
        "smartquotes",
        "substitution",
    ]
    settings = {
        "extensions": ["myst_parser"],
        "myst_enable_extensions": extensions,
        "html_theme": "basic",
        "root_doc": "book/api",
    }
    settings |= {"html_static_path": ["book/_static"], "html_sidebars": {"**": []}}
    (folder / "conf.py").write_text("".join(f"{name} = {value!r}\n" for name, value in settings.items()))
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", str(folder), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Page((folder / "html" / "book" / "api.html").read_text())


def test_the_line_of_a_function_has_its_arguments_without_types_and_the_first_sentence(package):
    lines = api_page(package).splitlines()
    assert any("`Point(x_1, x_2)`" in line for line in lines)
    assert any("`Counter(start, *, step=1)`" in line for line in lines)
    assert any("`power_(x, n=2, *rest, name='a', **others)`" in line for line in lines)
    assert any("`many(first, second, third, …)`" in line for line in lines)
    assert not any("_private" in line or "Not shown" in line or "second sentence" in line for line in lines)


def test_folders_stand_in_the_order_of_imports(package):
    headings = re.findall(r"^##+ (.*)", api_page(package), re.MULTILINE)
    assert headings == ["small", "above", r"small \/ kernels", r"tricky\_one"]
    assert sorted(ORDER[1:]) == sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_a_source_holds_the_code_and_a_mark_at_every_public_name(package):
    page = api_files(package)["_static/source/kernels/tricky_one.html"]
    assert '<b id="Point">class Point(NamedTuple):</b>' in page and "_private" in page and 'id="_private"' not in page
    assert TRICKY in Page(page).text
    assert Page(page).links == ["../../../book/api.html"]


@pytest.mark.slow
def test_signs_that_mean_something_to_markdown_are_shown_as_they_are(package, tmp_path):
    text = rendered(api_files(package), tmp_path / "site").text
    for shown in (
        "What *stars*, under_scores_ and $dollars$ do: nothing.",
        "A [link](nowhere) and <b>HTML</b> (see et al. 2019, eq. 3), code_with_*; fetch.py.",
        "# Not a heading",
        "{doc}nowhere | a table | {cite}nobody",
        "tricky_one",
    ):
        assert shown in text, shown


@pytest.mark.slow
def test_the_page_of_this_package_renders_without_a_warning_and_every_link_arrives(tmp_path):
    files = api_files(PACKAGE)
    page = rendered(files, tmp_path)
    assert sum(map(len, files.values())) < 1_500_000
    assert (tmp_path / "html" / "book" / "api.html").stat().st_size < 600_000
    sources = [link for link in page.links if "_static/source" in link]
    assert len(sources) > 400
    for link in sources:
        path, _, name = link.partition("#")
        text = (tmp_path / "html" / "book" / path).resolve().read_text()
        assert not name or f'<b id="{name}">' in text, link
        index = (tmp_path / "html" / "book" / path).resolve().parent / Page(text).links[0]
        assert index.resolve() == (tmp_path / "html" / "book" / "api.html").resolve()


@pytest.mark.parametrize("name", ["kernels.relu", "train.grid", "files", "lab.claim"])
def test_the_page_lists_what_python_finds_in_a_module(name):
    module = importlib.import_module(f"hierlib.{name}")
    page = api_page(PACKAGE)
    for member, value in vars(module).items():
        ours = getattr(value, "__module__", None) == module.__name__ and not member.startswith("_")
        if ours and (inspect.isfunction(value) or inspect.isclass(value)):
            assert f'source/{name.replace(".", "/")}.html#{member}">`{member}(' in page
        if ours and inspect.isfunction(value):
            names = list(inspect.signature(value).parameters)
            assert f"`{member}({names[0] if names else ')'}" in page
