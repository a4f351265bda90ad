"""The keys of the real pages are about meaning: what re-runs a page, and what makes a full-size record outdated."""

import shutil
from pathlib import Path

import pytest

from hierlib.lab import job
from hierlib.lab.project import Project
from hierlib.lab.selection import load

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of package, pages and lock, whose files may be edited."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("hierlib", "notebooks", "book/claims"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    for lock in ROOT.glob("requirements*"):
        shutil.copy(lock, root)
    return root


def keys(root):
    """Both keys of every page at full size."""
    project = Project(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "PACKAGE", root / "hierlib")
        jobs = [job.make_job(project, page, "paper", {}) for page in load(project)[1]]
        return {j.page: (j.key, job.numbers_key(project, j)) for j in jobs}


@pytest.fixture(scope="module")
def before(copy):
    return keys(copy)


@pytest.fixture
def edited(copy, before):
    """Edits files of the copy and tells which pages run again, and which full-size records are outdated."""
    originals = {}

    def edit(file, old, new):
        path = copy / file
        originals.setdefault(path, path.read_text())
        assert old in originals[path], f"{file} has no {old!r}"
        path.write_text(originals[path].replace(old, new, 1))
        after = keys(copy)
        return tuple({page for page in before if before[page][which] != after[page][which]} for which in (0, 1))

    yield edit
    for path, text in originals.items():
        path.write_text(text)


NOTHING = {
    "a docstring": ("hierlib/streams.py", '"""Named random streams.', '"""Streams of random numbers, named.'),
    "a comment": ("hierlib/figures/style.py", "\nfrom ", "\n# a comment\nfrom "),
    "the expected verdict": ("book/claims/fine-grained.yml", "expected: holds", "expected: partly"),
    "prose on a page": ("notebooks/fine-grained/eq3.md", "\n## ", "\nA sentence more.\n\n## "),
    "a package that only renders": ("requirements.lock", "\npapermill==", "\npapermill==9."),
}


@pytest.mark.parametrize("file, old, new", NOTHING.values(), ids=NOTHING)
def test_words_re_run_nothing_and_outdate_nothing(edited, file, old, new):
    assert edited(file, old, new) == (set(), set())


PICTURES = {
    "a colour": ("hierlib/figures/style.py", "#0072B2", "#0072B3"),
    "the verdict table": ("hierlib/lab/tables.py", "what must hold", "what has to hold"),
    "the package that draws": ("requirements.lock", "\nmatplotlib==", "\nmatplotlib==9."),
}


@pytest.mark.parametrize("file, old, new", PICTURES.values(), ids=PICTURES)
def test_what_only_draws_runs_pages_again_and_outdates_no_full_size_record(edited, before, file, old, new):
    assert edited(file, old, new) == (set(before), set())


def test_a_drawing_of_one_page_runs_that_page_again_and_outdates_nothing(edited):
    drawing = "hierlib/papers/resnet_kernels/drawings/where_is_g"
    assert edited(f"{drawing}.js", "const ", "const  ") == ({"resnet-kernels/where-is-g"}, set())


FORMULAS = {
    "width_window": ("hierlib/papers/resnet_kernels/width_window.py", "/ 8", "/ 9", {"resnet-kernels/tab1"}),
    "progress": ("hierlib/papers/fine_grained/progress.py", "1e-12", "1e-13", {"fine-grained/thm3.1"}),
    "a page's own cell": ("notebooks/fine-grained/eq3.md", "claim = Claim(", "x = 1\nclaim = Claim(", {"fine-grained/eq3"}),
}


@pytest.mark.parametrize("file, old, new, pages", FORMULAS.values(), ids=FORMULAS)
def test_a_changed_formula_runs_exactly_the_pages_that_use_it(edited, file, old, new, pages):
    assert edited(file, old, new) == (pages, pages)


def test_a_package_that_computes_concerns_every_page(edited, before):
    assert edited("requirements.lock", "\nnumpy==", "\nnumpy==9.") == (set(before), set(before))
