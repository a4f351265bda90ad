import pytest

from benchmarks.report import Circumstances, Line, read, renewed, sentence, write
from benchmarks.timing import LeftOut, Result

HERE = Circumstances("2030-01-02", "2.13.0", 1)
OLD_FORM = """\
# Benchmarks

Written by `make bench` on 2026-11-16: Linux x86_64, 2 cores, Python 3.11.7, torch 2.13.0+cpu.

| what | measured | wanted | met |
|---|---|---|---|
| speed | 3 x as fast | at least 2 x | yes |
| memory | 4 GB | under 3 GB | **no** |
"""


def line(what: str, measured: str = "7 x") -> Line:
    return Line(what, measured, "1.0%", "-", "yes", "2029-01-01", "2.12.0", "2")


@pytest.fixture
def book() -> dict[str, list[Line]]:
    return {"first": [line("a"), line("b")], "second": [line("c")]}


def test_what_is_written_can_be_read_again(book):
    assert read(write(book)) == book


def test_the_form_without_errors_can_be_read():
    assert read(OLD_FORM) == {
        "": [
            Line("speed", "3 x as fast", "", "at least 2 x", "yes", "", "", ""),
            Line("memory", "4 GB", "", "under 3 GB", "**no**", "", "", ""),
        ]
    }


def test_a_line_carries_error_date_torch_and_threads():
    new = renewed({}, "first", [Result("a", "8 x", "at least 9 x", False, 0.0312)], HERE)
    assert new == {"first": [Line("a", "8 x", "± 3.1%", "at least 9 x", "**no**", "2030-01-02", "2.13.0", "1")]}
    text = write(new)
    assert "| a | 8 x | ± 3.1% | at least 9 x | **no** | 2030-01-02 | 2.13.0 | 1 |\n" in text


def test_a_refused_line_and_one_left_out_leave_the_older_ones(book):
    results = [
        Result("a", "994.7 x", "at least 4 x", True, 0.6),
        LeftOut("b", "no peer"),
        Result("new", "2 x", "", None, 0.9),
    ]
    assert renewed(book, "first", results, HERE) == book


def test_only_the_measured_part_changes_and_keeps_its_place(book):
    new = renewed(book, "first", [Result("b", "8 x", "", None, 0.01)], HERE)
    assert list(new) == ["first", "second"] and new["second"] == book["second"]
    assert [(row.what, row.measured) for row in new["first"]] == [("b", "8 x")]  # nobody measures `a` any more


def test_a_line_of_the_old_form_moves_to_its_part():
    new = renewed(read(OLD_FORM), "first", [Result("speed", "9 x", "", None, 0.9), Result("b", "1", "", None, None)], HERE)
    assert [row.what for row in new[""]] == ["memory"]
    assert [(row.what, row.measured) for row in new["first"]] == [("speed", "3 x as fast"), ("b", "1")]


def test_a_refusal_is_a_sentence_that_says_why(book):
    said = sentence(Result("a", "994.7 x", "at least 4 x", True, 0.6), book)
    assert said.startswith("refused   a: 994.7 x, but only known to ± 60% (at most 10%): the machine was disturbed (load ")
    assert said.endswith("; the line of 2029-01-01 in RESULTS.md stays")
    assert sentence(Result("z", "1", "", None, 0.6), book).endswith("; there is no older line")
    assert sentence(LeftOut("c", "no peer"), book) == "left out  c: no peer; the line of 2029-01-01 in RESULTS.md stays"


def test_a_line_that_is_not_met_says_so(book):
    assert sentence(Result("a", "1.0 x", "at least 4 x", False, 0.012), book) == (
        "NOT met   a: 1.0 x, ± 1.2% (wanted: at least 4 x)"
    )
    assert sentence(Result("a", "1 GB", "", None, None), book) == "ok        a: 1 GB"
