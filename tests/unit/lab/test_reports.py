"""The generated pages say what registry and records say, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

from hierlib.lab.record import Check, Record
from hierlib.lab.registry import Paper
from hierlib.lab.reports import Kept, errata, ledger, status

PAPER = Paper(
    slug="toy", part=1, title="A toy", authors="A. Body", year=2000, arxiv="0", cite="toy", summary="none",
    claims=[
        dict(id="good", kind="lemma", place="Sec. 1", says=r"$a \lt b$ & so", priority="A", expected="holds", page="first"),
        dict(id="wrong", kind="lemma", place="Sec. 2", says="false", priority="A", expected="refuted", page="first"),
        dict(id="later", kind="figure", place="Fig. 1", says="a picture", priority="B"),
        dict(id="idle", kind="table", place="Tab. 1", says="a table", priority="B", expected="holds", page="second"),
        dict(id="never", kind="remark", place="end", says="a hope", priority="C", untestable="It has no content."),
        dict(id="own", kind="beyond", place="ours", says="more", priority="B", expected="holds", page="second"),
    ],
    errata=[
        dict(id="E1", claim="wrong", place="Sec. 2", printed="p", correct="q", why="because.", effect="Statement false."),
        dict(id="E2", claim="later", place="Fig. 1", printed="p", correct="q", why="maybe.", effect="Notation only."),
    ],
)  # fmt: skip


def check(name, of, value, kind="check"):
    return Check(name=name, kind=kind, value=value, relation="at_most", bound=1.0, holds=value <= 1, of=[of])


RECORD = Record(
    page="toy/first", profile="quick", standard=True, parameters={"seed": 7}, data=[], claims=["good", "wrong"], key="k",
    numbers_key="n", commit="0123456789ab+", threads=1, versions={"torch": "2.13.0"}, device="cpu", started="", seconds=12.3,
    peak_mb=300, files={}, verdicts={"good": "holds", "wrong": "refuted"},
    checks=[
        check("loose", "good", 0.1),
        check("tight", "good", 0.8),
        check("broken", "wrong", 3.0),
        check("control", "good", 5.0, kind="control"),
    ],
)  # fmt: skip


def record(age=timedelta(), **changes):
    return RECORD.model_copy(update={"started": (datetime.now(UTC) - age).isoformat(timespec="seconds")} | changes)


@pytest.fixture
def table():
    return ledger({"toy": PAPER}, {"toy/first": record(), "toy/second": None}, {}, "quick")


def row(table, claim):
    return next(line for line in table.splitlines() if f">toy/{claim}<" in line or f"<td>toy/{claim}<" in line)


def test_the_ledger_shows_but_does_not_count_what_goes_beyond_the_paper(table):
    assert "not run" in row(table, "own")
    assert "6 claims" in table and "2 of 5 tested." in table


def test_the_ledger_counts_what_is_tested(table):
    assert "2 of 5 tested." in table
    assert "| paper | claims | holds | refuted | not run | not yet tested | cannot be tested |" in table
    assert "| [A toy](https://arxiv.org/abs/0), 2000 | 5 | 1 | 1 | 1 | 1 | 1 |" in table


def test_a_tested_claim_shows_its_tightest_check_and_never_a_control(table):
    cells = row(table, "good")
    assert "href='../notebooks/toy/first.html'" in cells and "data-verdict='holds'" in cells
    assert "tight" in cells and "20&nbsp;%" in cells and "loose" not in cells and "control" not in cells


def test_a_refuted_claim_has_a_negative_margin(table):
    assert "-200&nbsp;%" in row(table, "wrong") and "refuted" in row(table, "wrong")


def test_claims_without_a_result_say_why(table):
    assert "not yet tested" in row(table, "later")
    assert "not run" in row(table, "idle")
    assert "cannot be tested" in row(table, "never") and "It has no content." in row(table, "never")


def test_formulas_reach_mathjax_and_signs_are_escaped(table):
    assert r"\(a \lt b\) &amp; so" in row(table, "good")


def test_a_kept_run_at_the_size_of_the_paper_is_named():
    for current, said in ((True, "<td>quick, paper</td>"), (False, "<td>quick, paper (earlier code)</td>")):
        kept = Kept(record(profile="paper"), current)
        table = ledger({"toy": PAPER}, {"toy/first": record()}, {"toy/first": kept}, "quick")
        assert said in row(table, "good")


def test_an_erratum_links_its_evidence_only_where_a_page_has_run():
    text = errata({"toy": PAPER}, {"toy/first": record()})
    first, second = text.split("**E2.")
    assert "{ref}`toy/first <toy-e1>`, verdict *refuted*" in first
    assert "Not yet put to a test." in second


def test_the_status_names_the_age_of_the_oldest_number():
    old = record(age=timedelta(days=3))
    text = status({"toy/first": record(), "toy/second": old, "toy/none": None}, {})
    assert "2 runs with torch 2.13.0" in text and "3 days old" in text and "`0123456`" in text
    assert status({"toy/first": None}, {}) == "# Status\n\nNo page has been run yet.\n"


def test_a_claim_that_no_check_counts_for_is_shown_without_numbers():
    idle = record(checks=[check("broken", "wrong", 3.0)], verdicts={"good": "undecided", "wrong": "refuted"})
    assert "undecided" in row(ledger({"toy": PAPER}, {"toy/first": idle}, {}, "quick"), "good")


SCRIPT = "<script>alert(1)</script>"


def test_nothing_from_registry_or_record_becomes_html():
    entry = PAPER.errata[0].model_copy(update={"printed": SCRIPT, "why": f"{SCRIPT} as $a < b$"})
    paper = PAPER.model_copy(update={"title": SCRIPT, "errata": [entry]})
    foreign = record(device=SCRIPT)
    pages = [ledger({"toy": paper}, {"toy/first": foreign}, {}, "quick"), errata({"toy": paper}, {"toy/first": foreign})]
    pages.append(status({"toy/first": foreign}, {}))
    assert all(SCRIPT not in page and "&lt;script>" in page for page in pages)
    assert "$a < b$" in pages[1], "a formula keeps its sign"
