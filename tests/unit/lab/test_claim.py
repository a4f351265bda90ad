"""A claim: checks with a bound, controls that must break them, and the verdict. What makes them evidence is in
test_evidence.py; here every check has a sentence, a source and an opponent that fails, so that its value decides."""

import json
import math

import pytest

from hierlib.lab.claim import Claim

FAILS = {"at_most": +9, "below": +9, "at_least": -9, "above": -9}  # how far beyond its bound the opponent of a check is


class Argued(Claim):
    """A claim whose checks are evidence without further words."""

    def check(self, name, value, **options):
        wrong = next((bound + FAILS[relation] for relation, bound in options.items() if relation in FAILS), 99.0)
        argued = {"says": f"{name} is so", "source": "paper", "opponents": {"somebody": wrong}}
        super().check(name, value, **argued | options)

    def control(self, name, value, **options):
        super().control(name, value, **{"removes": "a hypothesis"} | options)


@pytest.fixture
def claim(monkeypatch):
    """A claim as in a notebook that is run by hand."""
    monkeypatch.delenv("HIERLIB_RUN", raising=False)
    return Argued("toy/thm1")


@pytest.fixture
def run_of_two(monkeypatch, tmp_path):
    """A claim within a run of a page that tests two registered claims."""
    run = {"page": "toy/both", "profile": "smoke", "parameters": {"seed": 3}, "claims": {"thm1": "holds", "thm2": "holds"}}
    monkeypatch.setenv("HIERLIB_RUN", json.dumps(run | {"folder": str(tmp_path)}))
    return Argued("toy/both")


RELATIONS = [
    ({"at_most": 1.0}, 1.0, 1.1),
    ({"at_least": 1.0}, 1.0, 0.9),
    ({"below": 1.0}, 0.9, 1.0),
    ({"above": 1.0}, 1.1, 1.0),
    ({"within": (1.0, 2.0)}, 2.0, 2.1),
    ({"within": (1.0, 2.0)}, 1.0, 0.9),
]


@pytest.mark.parametrize("relation, inside, outside", RELATIONS)
def test_a_check_holds_up_to_its_bound_and_no_further(claim, relation, inside, outside):
    claim.check("inside", inside, **relation)
    claim.check("outside", outside, **relation)
    assert [check.holds for check in claim.checks] == [True, False]


@pytest.mark.parametrize("relation", [relation for relation, _, _ in RELATIONS])
@pytest.mark.parametrize("kind", ["check", "control"])
def test_not_a_number_satisfies_nothing_and_breaks_nothing(claim, relation, kind):
    claim.check("gap", math.nan if kind == "check" else 1.5, **relation)
    if kind == "control":
        claim.control("gap_without", math.nan, breaks="gap")
    assert not claim.checks[-1].holds


def test_an_infinite_control_is_no_success(claim):
    claim.check("gap", 0.0, at_most=1.0)
    claim.control("gap_without", math.inf, breaks="gap")
    assert claim.verdicts() == {"thm1": "undecided"}


@pytest.mark.parametrize("bounds", [{}, {"at_most": 1.0, "at_least": 0.0}, {"below": 1.0, "within": (0, 1)}])
def test_a_check_needs_exactly_one_relation(claim, bounds):
    with pytest.raises(ValueError, match="check 'gap' needs exactly one of at_most, at_least, below, above, within"):
        claim.check("gap", 0.5, **bounds)


@pytest.mark.parametrize("window", [(1, 1), (2, 1)])
def test_an_empty_window_is_refused(claim, window):
    with pytest.raises(ValueError, match="low < high"):
        claim.check("a", 1, within=window)


@pytest.mark.parametrize("tolerance", [0, -1, math.nan])
def test_a_comparison_needs_room(claim, tolerance):
    with pytest.raises(ValueError, match="positive tolerance"):
        claim.compare("a", 1, paper=1, tolerance=tolerance)


def test_a_bound_of_zero_is_a_bound(claim):
    claim.check("gap", -1.0, at_most=0)
    assert claim.checks[0].holds


def test_two_quantities_cannot_share_a_name(claim):
    claim.check("gap", 0.5, at_most=1)
    for again in (
        lambda: claim.check("gap", 0.5, at_least=0),
        lambda: claim.compare("gap", 0.5, paper=0.5, tolerance=0.1),
        lambda: claim.control("gap", 2.0, breaks="gap"),
    ):
        with pytest.raises(ValueError, match="there are two checks named 'gap'"):
            again()


def test_a_control_needs_a_check_above_it(claim):
    claim.compare("gap", 0.5, paper=0.5, tolerance=0.1)
    with pytest.raises(ValueError, match="control 'narrow' names 'gap', but there is no check of that name above it"):
        claim.control("narrow", 2.0, breaks="gap")


def test_a_control_succeeds_when_the_bound_of_its_check_is_violated(claim):
    claim.check("gap", 0.5, at_most=1)
    claim.control("gap_narrow", 2.0, breaks="gap")
    claim.control("gap_wide", 0.7, breaks="gap")
    assert [check.holds for check in claim.checks] == [True, True, False]


def test_a_control_of_a_wrong_print_succeeds_when_the_correction_meets_the_bound(claim):
    claim.check("exponent", 2.0, at_most=1)
    claim.control("exponent_of_the_square", 0.9, restores="exponent")
    assert claim.verdicts() == {"thm1": "refuted"}
    assert claim.checks[-1].statement() == "≤ 1"
    claim.control("exponent_of_the_cube", 1.5, restores="exponent")
    assert claim.verdicts() == {"thm1": "undecided"}


@pytest.mark.parametrize("names", [{}, {"breaks": "gap", "restores": "gap"}])
def test_a_control_either_breaks_or_restores(claim, names):
    claim.check("gap", 0.5, at_most=1)
    with pytest.raises(ValueError, match="control 'narrow' needs exactly one of breaks, restores"):
        claim.control("narrow", 2.0, **names)


def test_a_comparison_holds_within_its_tolerance_of_the_paper(claim):
    claim.compare("near", 0.75, paper=0.7, tolerance=0.1)
    claim.compare("far", 0.85, paper=0.7, tolerance=0.1)
    assert [(check.holds, check.paper) for check in claim.checks] == [(True, 0.7), (False, 0.7)]


@pytest.mark.parametrize(
    "checks, control, verdict",
    [
        ([True, True], True, "holds"),
        ([True, False], True, "partly"),
        ([False, False], True, "refuted"),
        ([True, True], False, "undecided"),
        ([False, False], False, "undecided"),
        ([], None, "undecided"),
    ],
)
def test_the_verdict_follows_from_checks_and_controls(claim, checks, control, verdict):
    for number, holds in enumerate(checks):
        claim.check(f"gap{number}", 0.5 if holds else 1.5, at_most=1)
    if control is not None:
        claim.control("gap_without", 2.0 if control else 0.0, breaks="gap0")
    assert claim.verdicts() == {"thm1": verdict}


def test_a_check_counts_for_the_claims_it_names_and_else_for_all(run_of_two):
    run_of_two.check("shared", 0.5, at_most=1)
    run_of_two.check("first", 0.5, at_most=1, of="thm1")
    run_of_two.check("second", 1.5, at_most=1, of=["thm2"])
    run_of_two.control("first_without", 0.5, breaks="first")
    assert run_of_two.verdicts() == {"thm1": "undecided", "thm2": "partly"}


def test_a_check_cannot_count_for_a_claim_of_another_page(run_of_two):
    with pytest.raises(ValueError, match="check 'gap' counts for 'thm3', which the registry does not give to this page"):
        run_of_two.check("gap", 0.5, at_most=1, of="thm3")


def test_a_page_cannot_speak_for_another(run_of_two):
    with pytest.raises(ValueError, match="this page is toy/both, but its claim says toy/thm1"):
        Claim("toy/thm1")


@pytest.mark.parametrize(
    "value, relation, margin",
    [
        (0.5, {"at_most": 2.0}, 0.75),
        (3.0, {"below": 2.0}, -0.5),
        (3.0, {"at_least": 2.0}, 0.5),
        (1.0, {"above": -2.0}, 1.5),
        (0.25, {"at_most": 0.0}, -1.0),  # the bound has no size: in units of the value
        (1.5, {"within": (1.0, 3.0)}, 0.5),
        (4.0, {"within": (1.0, 3.0)}, -1.0),
    ],
)
def test_a_margin_is_the_distance_to_the_bound_in_its_own_units(claim, value, relation, margin):
    claim.check("gap", value, **relation)
    assert claim.checks[0].margin == pytest.approx(margin)


def table_of(claim):
    claim.check("gap", 0.5, at_most=1, paper=0.25, interval=(0.4, 0.6))
    claim.check("slope", -0.9, within=(-0.6, -0.4))
    claim.control("gap_narrow", 2.0, breaks="gap")
    claim.control("gap_wide", 0.7, breaks="gap")
    return claim._table()


@pytest.mark.parametrize(
    "words",
    ["✓ holds", "✗ does not hold here", "✓ fails, as it must", "✗ does not fail", "≤ 1", "∈ [−0.6, −0.4]", "[0.4, 0.6]"],
)
def test_the_table_says_what_holds_and_what_does_not(claim, words):
    assert words in table_of(claim)


def test_the_table_escapes_what_it_is_given(claim):
    claim.check("<script>", 0.5, below=1)
    assert "<script>" not in claim._table() and "&lt; 1" in claim._table()


def test_close_hands_the_numbers_to_the_runner(run_of_two, tmp_path):
    run_of_two.check("gap", 0.5, at_most=1)
    run_of_two.close()
    found = json.loads((tmp_path / "claim.json").read_text())
    assert found["verdicts"] == {"thm1": "holds", "thm2": "holds"}
    assert found["checks"][0]["value"] == 0.5 and found["device"] == "cpu"


def test_by_hand_the_claims_are_those_that_the_checks_name(claim):
    claim.check("a", 1, at_most=2, of="thm1")
    claim.check("b", 3, at_most=2, of=["thm2"])
    assert claim.verdicts() == {"thm1": "holds", "thm2": "refuted"}


def test_close_by_hand_only_shows_the_table(claim, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    claim.check("gap", 0.5, at_most=1)
    claim.close()
    assert list(tmp_path.iterdir()) == []
