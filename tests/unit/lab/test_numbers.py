"""Numbers under regression: tolerances from the spread over seeds, and what `hier check` and `hier accept` do with them."""

import json
import math
import random

import pytest

from hierlib.lab.numbers import accepted_value, compare

CHECKS = {"smallest": 10.0, "smallest_without_squaring": -10.0}


@pytest.fixture
def accepted(ran):
    """Writes accepted numbers for the page: (value, tolerance) by name."""

    def write(**values):
        path = ran.root / "tests" / "numbers" / "quick" / "toy" / "squares.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = {name: {"value": value, "tolerance": tolerance} for name, (value, tolerance) in values.items()}
        path.write_text(json.dumps({"seeds": [0, 1, 2, 3, 4], "values": entries}))
        return path

    return write


def comparison(toy):
    project, _, job = toy.job()
    return compare(project, job)


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
    assert accepted_value([value] * 5).model_dump() == {"value": value, "tolerance": pytest.approx(floor)}


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
def test_a_changed_verdict_is_a_problem_in_either_direction(ran, accepted, forge, expected, came_out):
    accepted(**{name: (value, 0.1) for name, value in CHECKS.items()})
    if expected != "holds":
        ran.edit(ran.registry, "expected: holds", f"expected: {expected}")
    forge(verdicts={"thm1": came_out})
    (problem,) = comparison(ran).problems
    assert problem == f"toy/squares: thm1 is expected to be {expected!r} and came out as {came_out!r}"


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


def test_accept_runs_the_seeds_and_check_is_content_afterwards(ran):
    done = ran.hier("accept")
    assert done.returncode == 0
    assert "4 run, 1 up to date\naccepted tests/numbers/quick/toy/squares.json" in done.stdout
    stored = json.loads((ran.root / "tests/numbers/quick/toy/squares.json").read_text())
    assert stored["seeds"] == [0, 1, 2, 3, 4]
    assert stored["values"]["smallest"] == accepted_value([10.0, 10.01, 10.02, 10.03, 10.04]).model_dump()
    assert ran.call("check").returncode == 0


def test_accept_refuses_a_page_whose_verdict_depends_on_the_seed(ran, forge):
    for seed in range(1, 5):
        forge(seed, verdicts={"thm1": "partly" if seed == 3 else "holds"})
    done = ran.call("accept")
    assert done.returncode == 1
    assert done.stderr == "toy/squares not accepted: seed 3 gives {'thm1': 'partly'}\n"
    assert not (ran.root / "tests").exists()


def test_a_page_whose_data_cannot_be_had_is_left_out_with_the_reason(ran, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path / "empty"))
    ran.edit(ran.squares, "hier:\n", "hier:\n  data: [mnist]\n")
    found = comparison(ran)
    assert found.problems == [] and found.left_out == "toy/squares: left out, no mnist on this machine"


def test_accept_refuses_a_quantity_that_is_no_number(ran, forge):
    forge(checks=[check | {"value": math.nan} for check in ran.record()["checks"]])
    done = ran.hier("accept", "toy/squares")
    assert done.returncode == 1 and "seed 0 gives no number for smallest" in done.stderr


WRONG = {
    "no tolerance": {"value": 1.0},
    "no value": {"tolerance": 1.0},
    "a tolerance of zero": {"value": 1.0, "tolerance": 0},
}


@pytest.mark.parametrize("entry", WRONG.values(), ids=WRONG)
def test_damaged_accepted_numbers_are_named_with_the_remedy(ran, accepted, entry):
    path = accepted(smallest=(10.0, 0.1))
    path.write_text(json.dumps({"seeds": [0], "values": {"smallest": entry}}))
    said = ran.call("check").stderr
    assert "tests/numbers/quick/toy/squares.json is damaged; `hier accept toy/squares` writes it anew" in said
