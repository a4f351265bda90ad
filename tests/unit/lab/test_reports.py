"""The generated pages say what registry and records say, and nothing else."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from hierlib.lab.layout import answer_box, errata_box, parts
from hierlib.lab.ledger import ledger
from hierlib.lab.markup import maths
from hierlib.lab.numbers import Acceptance, Accepted, AcceptedNumbers
from hierlib.lab.opponents import opponents
from hierlib.lab.page import FrontMatter
from hierlib.lab.record import Check, Hypothesis, Opponent, Record
from hierlib.lab.registry import Paper
from hierlib.lab.reports import errata, status
from hierlib.lab.state import Kept, State

PAPER = Paper(
    slug="toy", part=1, title="A toy", authors="A. Body", year=2000, arxiv="0", cite="toy", summary="none",
    claims=[
        dict(id="good", kind="lemma", number="Lemma 1", place="Sec. 1", says=r"$a \lt b$ & so", priority="A",
             expected="holds", page="first"),
        dict(id="wrong", kind="lemma", place="Sec. 2", says="false", priority="A", expected="refuted", page="first",
             uses=["good"]),
        dict(id="later", kind="figure", place="Fig. 1", says="a picture", priority="B"),
        dict(id="idle", kind="table", place="Tab. 1", says="a table", priority="B", expected="holds", page="second"),
        dict(id="never", kind="remark", place="end", says="a hope", priority="C", untestable="It has no content.",
             uses=["wrong"]),
        dict(id="own", kind="beyond", place="ours", says="more", priority="B", expected="holds", page="second"),
    ],
    errata=[
        {"id": "E1", "claim": "wrong", "class": "false", "standing": "in doubt", "place": "Sec. 2", "printed": "p",
         "correct": "q", "why": "because.", "effect": "Nothing follows."},
        {"id": "E2", "claim": "later", "place": "Fig. 1", "printed": "p", "correct": "q", "why": "maybe.",
         "effect": "None."},
    ],
)  # fmt: skip


def check(name, of, value, kind="check"):
    beaten = [Opponent(name="nobody", value=2.0, fails=True)]
    says = "" if kind == "control" else f"The {name} one is small"
    return Check(
        name=name,
        kind=kind,
        value=value,
        relation="at_most",
        bound=1.0,
        holds=value <= 1,
        of=[of],
        says=says,
        opponents=beaten,
    )


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


PAGE = SimpleNamespace(
    id="toy/first", text="# Is it so?\n", claims={"good": "holds", "wrong": "refuted"},
    front=FrontMatter(answer="Yes, $a < b$.", surprise="Not always."),
)  # fmt: skip
JOB = SimpleNamespace(profile="quick", parameters={"seed": 7}, page="toy/first")
ACCEPTED = AcceptedNumbers.model_validate(
    {
        "seeds": [3, 4],
        "values": {"tight": {"value": 0.8, "tolerance": 0.1, "rule": "<= 1", "holds": [True, True]}},
        "verdicts": {"good": {"all": "consistent", "by_seed": ["consistent", "holds"]}},
    }
)


def state(record=None, accepted=True, current=True, kept=(), **changes):
    page = SimpleNamespace(**vars(PAGE) | changes)
    return State(page, JOB, record, Acceptance(ACCEPTED, current) if accepted else None, list(kept))


def ledger_of(*states):
    known = {s.page.id: s for s in states} | {"toy/second": state(id="toy/second", accepted=False)}
    return ledger({"toy": PAPER}, known, "quick")


@pytest.fixture
def table():
    return ledger_of(state(record(), accepted=False))


def row(table, claim):
    return next(line for line in table.splitlines() if f"<code>toy/{claim}</code>" in line)


def test_the_ledger_shows_but_does_not_count_what_goes_beyond_the_paper(table):
    assert "not run" in row(table, "own")
    assert "6 claims" in table and "3 of 5 are tested" in table


def test_the_ledger_counts_what_is_tested(table):
    assert "| paper | claims | holds | refuted | open | not run | not yet tested |" in table
    assert "| [A toy](https://arxiv.org/abs/0), 2000 | 5 | 1 | 1 | 1 | 1 | 1 |" in table


def test_a_claim_stands_under_the_number_of_the_paper_and_shows_its_nearest_check(table):
    cells = row(table, "good")
    assert "href='../notebooks/toy/first.html'" in cells and "data-verdict='holds'" in cells and "Lemma 1" in cells
    assert "The tight one is small" in cells and "0.8, must be ≤ 1" in cells and "loose" not in cells
    assert "The broken one is small" in row(table, "wrong") and "refuted" in row(table, "wrong")


def test_claims_without_a_result_say_why(table):
    assert "not yet tested" in row(table, "later") and "data-tested='no'" in row(table, "later")
    assert "not run" in row(table, "idle")
    assert "open" in row(table, "never") and "It has no content." in row(table, "never")


def test_formulas_reach_mathjax_and_signs_are_escaped(table):
    assert r"\(a \lt b\) &amp; so" in row(table, "good")


def test_the_verdict_is_the_one_over_all_accepted_seeds():
    cells = row(ledger_of(state(record())), "good")
    assert "data-verdict='consistent'" in cells and "1 of 2 seeds" in cells and "earlier code" not in cells
    assert "earlier code" in row(ledger_of(state(record(), current=False)), "good")


def test_a_run_at_another_size_is_named_with_its_verdict():
    for current, said in ((True, "paper: holds"), (False, "paper (earlier code): holds")):
        kept = Kept(record(profile="paper"), current)
        assert said in row(ledger_of(state(record(), kept=[kept])), "good")
        assert f"Also run at profile {kept.profile}" in answer_box(state(record(), kept=[kept]), PAPER)


def test_the_answer_box_has_verdict_seeds_answer_and_caveat():
    box = answer_box(state(record()), PAPER)
    assert "Lemma 1 · <b>consistent</b> <small>1 of 2 seeds</small>" in box
    assert "**Answer.** Yes, $a < b$." in box and "**But.** Not always." in box and "over seeds 3, 4" in box
    assert "earlier code" in answer_box(state(record(), current=False), PAPER)


def test_what_rests_on_something_in_doubt_is_told_where_it_is_claimed():
    assert PAPER.shaken().keys() == {"never"}, "not the false claim itself, nor what it rests on"
    box = answer_box(state(record(), claims={"never": "open"}), PAPER)
    assert "**The printed proof of end rests on** Sec. 2 ({ref}`E1 <toy-e1>`)**, which is false as printed.** Nothing" in box


def test_a_proof_that_rests_on_several_things_in_doubt_gets_one_sentence():
    second = PAPER.errata[0].model_copy(update={"id": "E9"})
    box = answer_box(state(record(), claims={"never": "open"}), PAPER.model_copy(update={"errata": [*PAPER.errata, second]}))
    assert (
        "**Printed proofs on this page (end) rest on what is false as printed:** Sec. 2 ({ref}`E1 <toy-e1>`), Sec. 2 ("
        in box
    )


def test_a_page_is_given_the_titles_and_hypotheses_of_its_claims():
    missed = Hypothesis(name="width", says="$m$ large", needed="≥ 10", here="1", met=False, of=["good"], missed_by=10.0)
    made = parts(state(record(hypotheses=[missed])), PAPER)
    assert made["claims"]["good"]["title"] == "Lemma 1, Body 2000"
    assert "by a factor of 10" in made["claims"]["good"]["hypotheses"] and made["claims"]["wrong"]["hypotheses"] == ""
    assert "2 of 2 seeds" in made["verdict"] and "Lemma 1: <span class='hl-consistent'>" in made["verdict"]


def test_a_page_that_was_not_run_says_so():
    made = parts(state(accepted=False), PAPER)
    assert "has not been run at profile quick" in made["run"] and made["verdict"] == ""


def test_only_errata_that_were_put_to_a_test_are_printed():
    text = errata({"toy": PAPER})
    assert "{ref}`on its page <toy-e1>`" in text and "hl-erratum hl-paper-toy hl-class-false" in text
    assert "false as printed; what rests on it is in doubt" in text and "E2" not in text
    assert "E1" in errata_box(PAGE, PAPER) and "E2" not in errata_box(PAGE, PAPER)


def test_every_check_of_a_statement_stands_beside_the_opponents_that_fail_it():
    anybody = check("easy", "good", 0.5).model_copy(update={"opponents": [Opponent(name="anybody", value=0.9, fails=False)]})
    ours = check("law", "good", 0.5).model_copy(update={"role": "ours"})
    broken = check("control", "good", 5.0, kind="control").model_copy(update={"breaks": "tight", "removes": "the width"})
    kept = record(checks=[*RECORD.checks[:3], broken, anybody, ours])
    text = opponents({"toy": PAPER}, {"toy/first": state(kept), "toy/second": state(id="toy/second", accepted=False)})
    assert "2 checks hold against their opponents, 1 fail, and 1 hold without power" in text
    line = next(line for line in text.splitlines() if "<code>tight</code>" in line)
    assert "nobody: 2" in line and "the width: 5" in line and "must be ≤ 1" in line and "Lemma 1" in line
    assert "anybody: 0.9 <small>passes</small>" in text and "<code>law</code>" not in text


def test_the_status_names_the_age_of_the_oldest_number_and_what_was_accepted_with_earlier_code():
    old = record(age=timedelta(days=3))
    text = status([state(record(), current=False), state(old), state()])
    assert "2 runs with torch 2.13.0" in text and "3 days old" in text and "`0123456`" in text
    assert "to be renewed before a release: toy/first." in text and "| 3, 4 |" in text
    assert status([state()]) == "# Status\n\nNo page has been run yet.\n"


def test_a_claim_that_no_check_counts_for_is_shown_without_numbers():
    idle = record(checks=[check("broken", "wrong", 3.0)], verdicts={"good": "undecided", "wrong": "refuted"})
    assert "undecided" in row(ledger_of(state(idle, accepted=False)), "good")


SCRIPT = "<script>alert(1)</script>"


def test_nothing_from_registry_or_record_becomes_html():
    entry = PAPER.errata[0].model_copy(update={"printed": SCRIPT, "why": f"{SCRIPT} as $a < b$"})
    paper = PAPER.model_copy(update={"title": SCRIPT, "errata": [entry]})
    foreign = state(record(device=SCRIPT))
    known = {"toy/first": foreign, "toy/second": state(id="toy/second")}
    pages = [ledger({"toy": paper}, known, "quick"), errata({"toy": paper}), status([foreign])]
    assert all(SCRIPT not in page and "&lt;script>" in page for page in pages)
    assert "$a < b$" in pages[1], "a formula keeps its sign"


def test_a_check_that_differs_between_seeds_says_on_how_many_it_holds():
    entry = Accepted(value=1.0, tolerance=0.1)
    held = {"all": [True] * 3, "none": [False] * 3, "most": [True, True, False]}
    values = {name: entry.model_copy(update={"holds": holds}) for name, holds in held.items()}
    found = Acceptance(ACCEPTED.model_copy(update={"values": values, "verdicts": {}}), True).seeds
    assert found == {"all": "3 of 3", "none": "3 of 3", "most": "holds on 2 of 3"}


def test_formulas_and_code_in_the_words_of_a_check_are_typeset():
    assert maths("a $b<c$ of `d_e`") == r"a \(b&lt;c\) of <code>d_e</code>"
