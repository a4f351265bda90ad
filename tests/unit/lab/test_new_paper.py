"""A sixth paper costs nothing in `lab`: one command adds it, its page runs, and the book renders."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
MISTAKES = {
    "a path": (["../up"], "'../up' cannot be the short name of a paper: lower-case letters, digits and hyphens"),
    "a paper that is there": (["toy"], "there is a paper 'toy' already; `hier list toy` shows its claims"),
    "a quotation mark": (["sixth", "--title", 'A "new" one'], "no quotation marks, braces or backslashes here"),
    "no table of contents": (["sixth"], "there is no _toc.yml to add the paper to"),
}


@pytest.mark.parametrize("words, sentence", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_with_one_sentence_and_writes_nothing(pristine, refused, words, sentence):
    assert sentence in refused(pristine, "new-paper", *words, within=True)


@pytest.fixture
def book(toy):
    """The toy project as a copy of the book: its prose, pages and configuration, and nothing that was built."""
    shutil.rmtree(toy.root)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in tracked.split("\0"):
        if name.startswith(("book/", "notebooks/", "_", "jupytext.toml", "requirements")):
            (toy.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, toy.root / name)
    return toy


@pytest.mark.slow
def test_a_paper_is_added_runs_and_is_rendered_with_the_rest(book):
    done = book.hier(
        "new-paper", "sixth", "--title", "A sixth paper", "--authors", "Ada Author, Ben Author", "--year", "2024"
    )
    assert done.returncode == 0, done.stderr
    toc = yaml.safe_load((book.root / "_toc.yml").read_text())
    assert [part["caption"] for part in toc["parts"]][-3:] == ["VI. A sixth paper", "Together", "Sources"]
    assert (done := book.hier("run", "sixth", "--profile", "smoke")).returncode == 0, done.stderr
    assert "sixth/thm1" in book.hier("list", "sixth").stdout
    assert (done := book.hier("book", "--profile", "smoke")).returncode == 0, done.stderr
    page = (book.root / "_build" / "html" / "notebooks" / "sixth" / "thm1.html").read_text()
    assert "Theorem 1" in page and "deviation_without_it" in page
    assert "sixth/thm1" in (book.root / "_build" / "html" / "book" / "ledger.html").read_text()
