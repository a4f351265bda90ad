"""What people ask before they run anything: `hier list`, `hier show`, `hier new`, `--help`."""

import math

import pytest

COMMANDS = ["run", "list", "show", "book", "check", "accept", "data", "new"]


def test_list_shows_every_claim_with_place_page_and_expected_verdict(pristine):
    rows = [line for line in pristine.hier("list").stdout.splitlines() if "│ toy/" in line]
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in rows]
    assert cells == [
        ["toy/thm1", "Theorem 1", "squares", "holds", "Squares are not negative."],
        ["toy/fig2", "Figure 2", "not yet", "", "Nobody has tested this yet."],
    ]


def test_list_untested_shows_only_claims_that_wait_for_a_page(toy):
    toy.edit(
        toy.registry, "claims:\n", "claims:\n  - {id: r1, kind: remark, place: p, says: s, priority: C, untestable: u}\n"
    )
    said = toy.hier("list", "toy", "--untested").stdout
    assert "toy/fig2" in said and "toy/thm1" not in said and "toy/r1" not in said


def test_show_prints_the_parameters_of_all_profiles(pristine):
    said = pristine.hier("show", "toy/thm1").stdout
    assert "Squares are not negative." in said and "quick: not run" in said
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines() if "│ " in line]
    assert ["n", "int", "1..100", "2", "10", "50", "how many numbers"] in rows
    assert ["widths", "list", "1..64", *["[4, 8]"] * 3, "two sizes"] in rows


def test_show_tells_what_the_last_run_found(finished):
    assert "quick: {'thm1': 'holds'}" in finished[0].hier("show", "toy/thm1").stdout


def test_a_new_page_runs_at_once_and_its_check_fails_until_it_is_written(toy):
    done = toy.hier("new", "toy/fig2")
    assert done.returncode == 0 and done.stdout.startswith("wrote notebooks/toy/fig2.md; now give the claim `page: fig2`")
    toy.edit(toy.registry, "priority: C", "priority: C\n    page: fig2\n    expected: holds")
    done = toy.hier("run", "toy/fig2", "--profile", "smoke")
    assert (done.returncode, done.stderr) == (0, "")
    record = toy.record("fig2")
    assert record["verdicts"] == {"fig2": "undecided"}
    assert all(math.isnan(check["value"]) and not check["holds"] for check in record["checks"])


@pytest.mark.parametrize("command", [[], *([command] for command in COMMANDS)], ids=lambda words: "hier " + " ".join(words))
def test_help_shows_an_example(pristine, command):
    done = pristine.call(*command, "--help")
    assert done.returncode == 0 and "Example: hier" in done.stdout


def test_no_command_at_all_gets_the_help(pristine):
    assert pristine.call().stdout == pristine.call("--help").stdout
