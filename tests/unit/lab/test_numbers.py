"""Numbers under regression: tolerances from the spread over seeds, and what `hier check` and `hier accept` do with them."""

import json
import math
import random

import pytest

from hierlib.lab.numbers import Move, accepted_value, compare, is_stale, read_acceptance

CHECKS = {"smallest": 10.0, "smallest_without_squaring": -10.0}


@pytest.fixture
def accepted(ran):
    """Writes accepted numbers for the page: (value, tolerance) by name, and the verdict over five seeds."""

    def write(verdict="holds", **values):
        path = ran.root / "tests" / "numbers" / "quick" / "toy" / "squares.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = {name: {"value": value, "tolerance": tolerance} for name, (value, tolerance) in values.items()}
        verdicts = {"thm1": {"all": verdict, "by_seed": [verdict] * 5}}
        path.write_text(json.dumps({"seeds": [0, 1, 2, 3, 4], "values": entries, "verdicts": verdicts}))
        return path

    return write


def comparison(toy):
    return compare(*toy.job())


def test_a_tolerance_is_the_reach_of_one_more_seed():
    # Student's t with 4 degrees of freedom has 99 % within 4.6041; one more value has variance s^2 (1 + 1/5).
    entry = accepted_value([1.0, 2.0, 3.0, 4.0, 5.0])
    assert entry.value == 3.0
    assert entry.tolerance == pytest.approx(4.60409 * math.sqrt(2.5 * 1.2), rel=1e-5)


def test_one_more_seed_falls_within_the_tolerance_99_times_in_100():
    draws = random.Random(0)
    inside = 0
    for _ in range(2000):
        *seeds, another = (draws.gauss(5, 2) for _ in range(6))
        entry = accepted_value(seeds)
        inside += abs(another - entry.value) <= entry.tolerance
    assert 0.98 < inside / 2000 < 1


@pytest.mark.parametrize("value, floor", [(200.0, 2e-4), (-200.0, 2e-4), (0.0, 1e-12)])
def test_a_constant_value_keeps_a_tolerance_for_rounding(value, floor):
    entry = accepted_value([value] * 5)
    assert entry.value == value and entry.tolerance == pytest.approx(floor)


def test_what_is_never_reached_is_accepted_as_such_and_reaching_it_is_a_move():
    entry = accepted_value([math.nan] * 5)
    assert Move("toy/squares", "samples", math.nan, entry.value, entry.tolerance).tolerances == 0
    assert Move("toy/squares", "samples", 100.0, entry.value, entry.tolerance).tolerances == math.inf


def test_a_moved_value_is_found_with_its_distance_in_tolerances(ran, accepted):
    accepted(smallest=(9.5, 0.2), smallest_without_squaring=(-10.0, 0.1))
    found = comparison(ran)
    assert {move.name: round(move.tolerances, 6) for move in found.moves} == {
        "smallest": 2.5,
        "smallest_without_squaring": 0,
    }
    assert found.problems == []


def test_a_value_that_is_no_number_has_moved_infinitely(ran, accepted, forge):
    accepted(**{name: (value, 0.1) for name, value in CHECKS.items()})
    checks = [check | {"value": math.nan} for check in ran.record()["checks"]]
    forge(checks=checks)
    assert [move.tolerances for move in comparison(ran).moves] == [math.inf, math.inf]


@pytest.mark.parametrize("expected, came_out", [("holds", "partly"), ("holds", "undecided"), ("partly", "holds")])
def test_a_changed_verdict_is_a_problem_in_either_direction(ran, accepted, expected, came_out):
    accepted(came_out, **{name: (value, 0.1) for name, value in CHECKS.items()})
    if expected != "holds":
        ran.edit(ran.registry, "expected: holds", f"expected: {expected}")
    (problem,) = comparison(ran).problems
    over = "over seeds [0, 1, 2, 3, 4]"
    assert problem == f"toy/squares: thm1 is expected to be {expected!r} and came out as {came_out!r} {over}"


@pytest.mark.parametrize(
    "known, odd", [({"smallest": 10.0}, "smallest_without_squaring"), (CHECKS | {"largest": 1.0}, "largest")]
)
def test_missing_and_new_quantities_are_problems(ran, accepted, known, odd):
    accepted(**{name: (value, 0.1) for name, value in known.items()})
    (problem,) = comparison(ran).problems
    assert problem == f"toy/squares: {odd} not on both sides; `hier accept toy/squares` renews them"


def test_a_page_that_was_not_run_or_not_accepted_is_a_problem(ran):
    assert comparison(ran).problems == ["toy/squares: no accepted numbers; `hier accept toy/squares` writes them"]
    ran.edit(ran.lock, "numpy==2.0.0", "numpy==2.0.1")
    assert comparison(ran).problems == ["toy/squares: not run with the present code; `hier run toy/squares` does"]


def test_damaged_numbers_are_a_problem(ran, accepted):
    accepted().write_text("{")
    (problem,) = comparison(ran).problems
    assert problem == "tests/numbers/quick/toy/squares.json is damaged; `hier accept toy/squares` writes it anew"


def test_check_prints_a_table_and_fails_when_a_number_moved(ran, accepted):
    accepted(smallest=(9.5, 0.2), smallest_without_squaring=(-10.0, 0.1))
    done = ran.hier("check")
    assert done.returncode == 1
    assert [word.strip() for word in done.stdout.splitlines()[3].split("│")[1:-1]] == [
        "toy/squares", "smallest", "10", "9.5", "0.2", "2.50",
    ]  # fmt: skip
    assert "1 numbers hold, 1 moved, 0 other problems" in done.stdout


FIVE = ("accept", "--seeds", "0,1,2,3,4")


@pytest.fixture
def accepting(ran, forge):
    """A project whose page was run on five seeds, and accepted on them; its numbers file and how to forge another run."""

    def run(**changes):
        for seed in range(5):
            forge(seed, parameters={**ran.record_of(0)["parameters"], "seed": seed}, **changes)
        return ran.call(*FIVE)

    return run


def numbers(toy):
    return json.loads((toy.root / "tests/numbers/quick/toy/squares.json").read_text())


def test_accept_runs_the_seeds_and_check_is_content_afterwards(ran):
    done = ran.hier(*FIVE)
    assert done.returncode == 0, done.stderr
    assert "4 run, 1 up to date\naccepted tests/numbers/quick/toy/squares.json" in done.stdout
    stored = numbers(ran)
    assert stored["seeds"] == [0, 1, 2, 3, 4]
    smallest, expected = stored["values"]["smallest"], accepted_value([10.0, 10.01, 10.02, 10.03, 10.04])
    assert (smallest["value"], smallest["tolerance"]) == (expected.value, expected.tolerance)
    assert smallest["by_seed"] == [10.0, 10.01, 10.02, 10.03, 10.04] and smallest["holds"] == [True] * 5
    assert smallest["rule"] == ">= 0"
    assert stored["verdicts"] == {"thm1": {"all": "holds", "by_seed": ["holds"] * 5}}
    assert ran.call("check").returncode == 0


def changed(toy, name, **changes):
    """The checks of the page's record, one of them changed."""
    return [check | (changes if check["name"] == name else {}) for check in toy.record_of(0)["checks"]]


def test_accept_refuses_a_page_whose_verdict_over_all_seeds_is_not_the_expected_one(ran, forge):
    for seed in range(5):
        fails = {"checks": changed(ran, "smallest", value=-1.0, holds=False), "verdicts": {"thm1": "refuted"}}
        forge(seed, **(fails if seed == 3 else {}))
    done = ran.call(*FIVE)
    assert done.returncode == 1
    assert "thm1 is partly over all seeds (holds, holds, holds, refuted, holds), not holds as the registry" in done.stderr
    assert not (ran.root / "tests").exists()


def test_a_widened_window_is_caught_by_check_and_by_accept(ran, accepting, forge):
    assert accepting().returncode == 0
    forge(0, checks=changed(ran, "smallest", bound=-5.0))
    (problem,) = comparison(ran).problems
    assert problem == "toy/squares: smallest must be >= -5 now; it was accepted as >= 0"
    done = accepting(checks=changed(ran, "smallest", bound=-5.0))
    assert done.returncode == 1
    assert "smallest was '>= 0' and is '>= -5': tell why in the history of toy.yml" in done.stderr
    history = (
        "history:\n  - {date: 2026-01-01, page: squares, what: smallest, old: '>= 0', new: '>= -5', why: of a reason}\n"
    )
    ran.registry.write_text(ran.registry.read_text() + history)
    assert accepting(checks=changed(ran, "smallest", bound=-5.0)).returncode == 0


def test_a_check_that_was_removed_is_caught(ran, accepting):
    assert accepting().returncode == 0
    more = [*ran.record_of(0)["checks"], ran.record_of(0)["checks"][0] | {"name": "largest"}]
    assert accepting(checks=more).returncode == 0
    assert "largest was '>= 0' and is 'removed'" in accepting().stderr


def test_an_edited_expected_verdict_is_caught(ran, accepting):
    assert accepting().returncode == 0
    ran.edit(ran.registry, "expected: holds", "expected: partly")
    (problem,) = comparison(ran).problems
    assert problem == "toy/squares: thm1 is expected to be 'partly' and came out as 'holds' over seeds [0, 1, 2, 3, 4]"
    failing = {"checks": changed(ran, "smallest", value=-1.0, holds=False), "verdicts": {"thm1": "partly"}}
    done = accepting(**failing)
    assert done.returncode == 1 and "expected thm1 was 'holds' and is 'partly': tell why" in done.stderr


def test_a_seed_that_changes_its_mind_is_a_problem(ran, accepting, forge):
    assert accepting().returncode == 0
    forge(2, checks=changed(ran, "smallest", holds=False), parameters={**ran.record_of(0)["parameters"], "seed": 2})
    (problem,) = comparison(ran).problems
    assert problem == "toy/squares: smallest fails on seed 2 and did not on 1 of 1 accepted seeds"


def test_acceptance_knows_the_code_that_made_it(ran, accepting):
    assert accepting().returncode == 0
    assert ran.call("accept", "--stale").stdout == "every page is accepted with the present code\n"
    project, _, job = ran.job()
    assert read_acceptance(project, job).current
    ran.edit(ran.squares, "scale * n + 0.01 * seed", "scale * n + 0.02 * seed")
    project, _, job = ran.job()
    assert not read_acceptance(project, job).current and is_stale(project, job)


def test_a_page_whose_data_cannot_be_had_is_left_out_with_the_reason(ran, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path / "empty"))
    ran.edit(ran.squares, "hier:\n", "hier:\n  data: [mnist]\n")
    found = comparison(ran)
    assert found.problems == [] and found.left_out == "toy/squares: left out, no mnist on this machine"


def test_accept_refuses_a_quantity_that_is_a_number_on_some_seeds_only(ran, forge):
    forge(0, checks=changed(ran, "smallest", value=math.nan))
    done = ran.hier(*FIVE, "toy/squares")
    assert done.returncode == 1 and "smallest is no number on seed 0" in done.stderr


WRONG = {
    "no tolerance": {"value": 1.0},
    "no value": {"tolerance": 1.0},
    "a tolerance of zero": {"value": 1.0, "tolerance": 0},
}


@pytest.mark.parametrize("entry", WRONG.values(), ids=WRONG)
def test_damaged_accepted_numbers_are_named_with_the_remedy(ran, accepted, entry):
    path = accepted(smallest=(10.0, 0.1))
    path.write_text(json.dumps({"seeds": [0], "values": {"smallest": entry}, "verdicts": {}}))
    said = ran.call("check").stderr
    assert "tests/numbers/quick/toy/squares.json is damaged; `hier accept toy/squares` writes it anew" in said
