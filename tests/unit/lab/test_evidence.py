"""What the engine enforces so that a verdict is worth something. Each way to fool a reader is caught here by its name."""

import json
import math

import pytest

from hierlib.lab.claim import Claim
from hierlib.lab.verdicts import of_all_seeds


@pytest.fixture
def claim(monkeypatch, tmp_path):
    """A claim of a page that follows the rules."""
    run = {"page": "toy/thm1", "profile": "quick", "parameters": {"seed": 0}, "claims": ["thm1"]}
    monkeypatch.setenv("HIERLIB_RUN", json.dumps(run | {"folder": str(tmp_path)}))
    return Claim("toy/thm1")


PAPER = {"says": "The error is small", "source": "paper"}


def verdict(claim):
    return claim.verdicts()["thm1"]


# The ways to fool a reader


def test_a_crippled_learner_that_passes_takes_the_power_from_the_check(claim):
    claim.check("error", 0.2, at_most=1.0, opponents={"second block frozen": 0.9}, **PAPER)
    assert not claim.checks[0].power and verdict(claim) == "undecided"
    assert "without power: decides nothing" in claim._table() and "passes too" in claim._table()
    assert "hl-fails" not in claim._table() and "hl-holds" not in claim._table(), "it neither failed nor held"


def test_a_constant_predictor_empties_the_cells_it_passes(claim):
    ours = {"linear": 0.1, "quadratic": 0.05, "cubic": 0.04}
    constant = {"linear": 0.8, "quadratic": 0.1, "cubic": 0.05}
    claim.check("error", ours, at_most=0.3, opponents={"the best constant": constant}, **PAPER)
    check = claim.checks[0]
    assert check.cells == (1, 3) and check.value == 0.1 and verdict(claim) == "holds"
    assert "1 of 3 cells count" in claim._table()


def test_where_no_cell_counts_that_is_the_finding_and_no_verdict(claim):
    constant = {"a": 0.2, "b": 0.1}
    claim.check("error", {"a": 0.1, "b": 0.05}, at_most=0.3, opponents={"the best constant": constant}, **PAPER)
    (check,) = claim.checks
    assert check.cells == (0, 2) and verdict(claim) == "undecided"
    assert (check.value, check.opponents[0].value) == (0.1, 0.1), "the table still shows what was measured"
    table = claim._table()
    assert "no cell in which all opponents fail" in table and "nan" not in table and "never gets there" not in table
    claim.open("On these data the bound never gets below what a constant achieves.")
    assert verdict(claim) == "open"


def test_a_cell_in_which_the_claim_fails_counts_though_an_opponent_passes_it(claim):
    ours, frozen = {"k = 4": 0.1, "k = 3": 1.2}, {"k = 4": 2.0, "k = 3": 0.9}
    claim.check("error", ours, at_most=1.0, opponents={"second block frozen": frozen}, **PAPER)
    assert claim.checks[0].cells == (2, 2) and claim.checks[0].value == 1.2 and verdict(claim) == "refuted"


def test_a_failing_cell_needs_no_opponent(claim):
    claim.check("error", {"a": 0.5, "b": 3.0}, at_most=1.0, **PAPER)
    assert claim.checks[0].cells == (1, 2) and verdict(claim) == "refuted"


def test_a_lookup_table_of_the_training_points_is_an_opponent_like_any_other(claim):
    claim.check("share", 0.33, at_least=0.29, opponents={"lookup table": 0.31}, **PAPER)
    assert verdict(claim) == "undecided"


@pytest.mark.parametrize("relation", [{"at_most": 1.0}, {"at_least": 1.0}, {"within": (0.0, 2.0)}])
def test_a_censored_threshold_satisfies_nothing(claim, relation):
    claim.check("samples", math.nan, opponents={"frozen": None}, **relation, **PAPER)
    assert not claim.checks[0].holds and verdict(claim) == "refuted"
    assert "not reached" in claim._table() and "nan" not in claim._table()


def test_a_censored_cell_fails_the_whole_check(claim):
    opponents = {"frozen": {"a": None, "b": 3.0}}
    claim.check("samples", {"a": 0.5, "b": math.nan}, at_most=1.0, opponents=opponents, **PAPER)
    assert claim.checks[0].cells == (2, 2) and not claim.checks[0].holds


def test_an_opponent_that_never_gets_there_has_failed_but_one_without_a_number_has_not(claim):
    claim.check("slope", 0.5, at_most=1.0, opponents={"frozen": None}, **PAPER)
    claim.check("slope_again", 0.5, at_most=1.0, opponents={"frozen": math.nan}, **PAPER)
    assert [check.power for check in claim.checks] == [True, False]


def test_an_identity_posing_as_a_check_does_not_decide(claim):
    claim.sanity("closed_form", 1e-15, says="Both ways agree", at_most=1e-9)
    claim.check("triangle", 0.1, says="Parts bound the whole", at_most=1.0, role="step")
    claim.check("sharper", 0.1, says="A law of ours", at_most=1.0, role="ours", source="theory", opponents={"zero": 2.0})
    assert verdict(claim) == "undecided"


# What a check owes its reader


@pytest.mark.parametrize(
    "missing, words",
    [
        ({"source": "paper"}, "has no sentence"),
        ({"says": "Small"}, "does not say where its bound comes from"),
        ({"says": "Small", "source": "choice"}, "but no reason"),
    ],
)
def test_a_check_without_its_argument_is_refused(claim, missing, words):
    with pytest.raises(ValueError, match=words):
        claim.check("error", 0.1, at_most=1.0, **missing)


def test_a_control_names_the_hypothesis_that_it_removes(claim):
    claim.check("error", 0.1, at_most=1.0, opponents={"zero": 2.0}, **PAPER)
    with pytest.raises(ValueError, match="which hypothesis it removes"):
        claim.control("error_narrow", 3.0, breaks="error")
    claim.control("error_narrow", 3.0, breaks="error", removes="the width")
    assert verdict(claim) == "holds" and "without: the width" in claim._table()


def test_contrary_evidence_is_a_failing_check_and_lowers_the_verdict(claim):
    claim.check("error", 0.1, at_most=1.0, opponents={"zero": 2.0}, **PAPER)
    claim.check("elsewhere", 5.0, at_most=1.0, **PAPER)
    assert verdict(claim) == "partly"


# Intervals decide


@pytest.mark.parametrize(
    "interval, holds",
    [
        ((-0.30, -0.20), True),
        ((-0.24, -0.20), False),  # excludes the prediction
        ((-0.60, 0.10), False),  # wider than the window: it determines nothing
        ((math.nan, math.nan), False),
    ],
)
def test_in_a_window_the_interval_must_contain_the_prediction(claim, interval, holds):
    window = {"within": (-0.32, -0.18), "predicts": -0.25, "interval": interval}
    claim.check("exponent", -0.22, opponents={"fixed scale": 0.0}, **window, **PAPER)
    assert claim.checks[0].holds == holds


@pytest.mark.parametrize("interval, holds", [((0.4, 0.9), True), ((0.4, 1.2), False)])
def test_at_a_bound_the_whole_interval_must_be_on_the_right_side(claim, interval, holds):
    claim.check("error", 0.7, at_most=1.0, interval=interval, opponents={"zero": 2.0}, **PAPER)
    assert claim.checks[0].holds == holds


def test_a_window_with_an_interval_names_its_prediction_and_contains_it(claim):
    with pytest.raises(ValueError, match="predicts="):
        claim.check("exponent", -0.2, within=(-0.3, -0.1), interval=(-0.3, -0.1), **PAPER)
    with pytest.raises(ValueError, match="outside its own window"):
        claim.check("exponent", -0.2, within=(-0.3, -0.1), predicts=-0.5, **PAPER)


# Hypotheses and the five words


def check(claim, name, holds):
    claim.check(name, 0.5 if holds else 1.5, at_most=1.0, opponents={"zero": 2.0}, **PAPER)


@pytest.mark.parametrize(
    "checks, met, word",
    [
        ([True, True], True, "holds"),
        ([True, True], False, "consistent"),
        ([True, False], True, "partly"),
        ([True, False], False, "partly"),
        ([False, False], True, "refuted"),
        ([False, False], False, "partly"),  # outside the hypotheses nothing is refuted
    ],
)
def test_the_verdict_follows_from_checks_and_hypotheses(claim, checks, met, word):
    claim.assume("width", "$m$ large", at_least=1e13, here=1e14 if met else 16384)
    for number, holds in enumerate(checks):
        check(claim, f"error{number}", holds)
    assert verdict(claim) == word


def test_a_missed_hypothesis_says_by_how_much(claim):
    claim.assume("width", "$m$ large", at_least=1e13, here=1e4)
    claim.assume("scale", "small", at_most=0.1, here=0.2)
    claim.assume("constant", "$m$ large enough", here="16384", met=False, because="the paper does not state its constant")
    width, scale, constant = claim.hypotheses
    assert width.missed_by == pytest.approx(1e9) and scale.missed_by == pytest.approx(2) and constant.missed_by is None
    assert "by a factor of 10·10⁸" not in claim._table() and "by a factor of 1·10⁹" in claim._table()


@pytest.mark.parametrize("given", [{}, {"at_least": 1.0, "met": True}, {"met": True}])
def test_a_hypothesis_is_compared_or_argued(claim, given):
    with pytest.raises(ValueError, match=r"exactly one of at_least, at_most, met|not why"):
        claim.assume("width", "large", here=1.0, **given)


def test_a_hypothesis_of_one_claim_is_none_of_another(monkeypatch):
    monkeypatch.delenv("HIERLIB_RUN", raising=False)
    claim = Claim("toy/both")
    claim.assume("width", "large", at_least=10, here=1, of="thm1")
    for name in ("thm1", "thm2"):
        claim.check(f"error_{name}", 0.5, at_most=1.0, opponents={"zero": 2.0}, of=name, **PAPER)
    assert claim.verdicts() == {"thm1": "consistent", "thm2": "holds"}


@pytest.mark.parametrize(
    "value, interval, relation, loose",
    [
        (0.05, None, "at_most", True),
        (0.0, None, "at_most", True),
        (0.5, None, "at_most", False),
        (0.0, (0.0, 0.9), "at_most", False),  # no failure in a few draws
        (-0.3, None, "at_most", False),  # an exponent, which has no factor
        (20.0, None, "at_least", True),
        (20.0, (5.0, 35.0), "at_least", False),
    ],
)
def test_a_bound_met_with_a_factor_of_ten_to_spare_is_called_loose(claim, value, interval, relation, loose):
    claim.check("error", value, interval=interval, opponents={"other": None}, **{relation: 1.0}, **PAPER)
    assert claim.checks[0].loose == loose and ("loosely" in claim._table()) == loose


# Over seeds


def records(forged, *seeds):
    """Records of one page on several seeds, as far as the verdict over all of them needs."""
    return [forged(**seed) for seed in seeds]


@pytest.fixture
def forged(claim):
    from hierlib.lab.record import Record

    def make(value: float | dict = 0.5, opponent: float | dict = 2.0):
        claim.checks.clear()
        claim.check("error", value, at_most=1.0, opponents={"zero": opponent}, **PAPER)
        return Record(
            page="toy/thm1", profile="quick", standard=True, parameters={"seed": 0}, data=[], claims=["thm1"], key="",
            numbers_key="", commit="", threads=1, checks=list(claim.checks), verdicts=claim.verdicts(), versions={},
            device="cpu", started="", seconds=1.0, peak_mb=1, files={},
        )  # fmt: skip

    return make


def test_one_seed_that_fails_is_a_check_that_fails(forged):
    assert of_all_seeds(records(forged, {}, {}, {})) == {"thm1": "holds"}
    assert of_all_seeds(records(forged, {}, {"value": 1.5}, {})) == {"thm1": "partly"}
    assert of_all_seeds(records(forged, {"value": 2.5}, {"value": 1.5})) == {"thm1": "refuted"}


def test_an_opponent_that_passes_on_one_seed_takes_the_power_on_all(forged):
    assert of_all_seeds(records(forged, {}, {"opponent": 0.9})) == {"thm1": "undecided"}


def test_a_failure_is_not_forgiven_because_no_cell_counts_on_another_seed(forged):
    failed, idle = {"value": {"a": 1.5}, "opponent": {"a": 2.0}}, {"value": {"a": 0.5}, "opponent": {"a": 0.9}}
    assert of_all_seeds(records(forged, failed, idle)) == {"thm1": "partly"}
    assert of_all_seeds(records(forged, idle, failed)) == {"thm1": "partly"}
