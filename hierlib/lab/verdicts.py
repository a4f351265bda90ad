"""From checks to a verdict: what satisfies a bound, what decides, and which of the five words follows.

    holds        the hypotheses are met, and every check that decides holds
    consistent   the same, but a hypothesis is out of reach
    partly       a check that decides fails
    refuted      all of them fail, inside the hypotheses
    open         nothing that we can run decides it
    undecided    no verdict: nothing decides, or a control did not come out as it must. The page is broken.

A check that *fails* always decides. A check that *holds* decides only if an opponent fails it: what anything passes says
nothing. Checks of a step, of our own sharper laws and of identities never decide.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hierlib.lab.record import Check, Hypothesis, Opponent, Record, Verdict

Pair = tuple[float, float]


def satisfies(value: float, relation: str, bound: Any) -> bool:
    """Whether `value relation bound` is true; false for not-a-number."""
    if relation == "within":
        return bool(bound[0] <= value <= bound[1])
    tests = {"at_most": value <= bound, "at_least": value >= bound, "below": value < bound, "above": value > bound}
    return bool(tests[relation])


def settled(value: float, relation: str, bound: Any, interval: Pair | None, predicts: float | None) -> bool:
    """Whether a measured value meets its bound, with the interval that it is known to.

    In a window around a predicted number, the interval must contain that number and be no wider than the window; at a
    one-sided bound, the whole interval must be on the right side.
    """
    if not satisfies(value, relation, bound):
        return False
    if interval is None:
        return True
    if relation != "within":
        return all(satisfies(end, relation, bound) for end in interval)
    assert predicts is not None, "a window with an interval names the number it is about"
    return interval[0] <= predicts <= interval[1] and interval[1] - interval[0] <= bound[1] - bound[0]


def faced(name: str, value: float | None, relation: str, bound: Any) -> Opponent:
    """An opponent at a bound. None means that it never got there, which is failing; not-a-number is no evidence."""
    if value is None:
        return Opponent(name=name, value=None, fails=True)
    fails = not math.isnan(value) and not satisfies(value, relation, bound)
    return Opponent(name=name, value=float(value), fails=fails)


def counted(
    values: Mapping[str, float], opponents: Mapping[str, Mapping[str, float | None]], relation: str, bound: Any
) -> list[str]:
    """The cells that count: those with power, in which every opponent fails, and those in which the value itself fails."""
    return [
        cell
        for cell, value in values.items()
        if not satisfies(value, relation, bound)
        or (opponents and all(faced(name, found[cell], relation, bound).fails for name, found in opponents.items()))
    ]


def worst(values: Sequence[float], relation: str, bound: Any) -> float:
    """The value nearest to violating the bound, or furthest beyond it; not-a-number if one is, or if there is none."""
    if not values or any(math.isnan(value) for value in values):
        return math.nan
    if relation in ("at_most", "below"):
        return max(values)
    if relation in ("at_least", "above"):
        return min(values)
    centre = (bound[0] + bound[1]) / 2
    return max(values, key=lambda value: abs(value - centre))


def decides(check: Check) -> bool:
    """Whether a check counts for the verdict."""
    if check.kind == "control" or check.role != "statement":
        return False
    if check.cells is not None and check.cells[0] == 0:
        return False
    return check.power or not check.holds


def verdict(checks: Sequence[Check], hypotheses: Sequence[Hypothesis] = (), undecidable: bool = False) -> Verdict:
    """The word for one claim, from the checks and hypotheses that belong to it."""
    if not all(check.holds for check in checks if check.kind == "control"):
        return "undecided"
    judged = [check.holds for check in checks if decides(check)]
    if undecidable and not judged:
        return "open"
    if not judged:
        return "undecided"
    met = all(hypothesis.met for hypothesis in hypotheses)
    if all(judged):
        return "holds" if met else "consistent"
    return "refuted" if met and not any(judged) else "partly"


def verdicts_of(
    claims: Sequence[str], checks: Sequence[Check], hypotheses: Sequence[Hypothesis], undecidable: Mapping[str, str]
) -> dict[str, Verdict]:
    """The verdict of every claim of a page."""
    return {
        claim: verdict(
            [check for check in checks if claim in check.of],
            [hypothesis for hypothesis in hypotheses if claim in hypothesis.of],
            claim in undecidable,
        )
        for claim in claims
    }


def of_all_seeds(records: Sequence[Record]) -> dict[str, Verdict]:
    """The verdicts of a page over several seeds: a check holds if it always does, an opponent fails if it always does."""
    first = records[0]
    checks = [_together([_named(record.checks, check.name) for record in records]) for check in first.checks]
    met = {h.name: all(_named(record.hypotheses, h.name).met for record in records) for h in first.hypotheses}
    hypotheses = [hypothesis.model_copy(update={"met": met[hypothesis.name]}) for hypothesis in first.hypotheses]
    found = verdicts_of(first.claims, checks, hypotheses, first.undecidable)
    # What holds on some seeds and fails on others is not refuted.
    mixed = {claim for claim in found if any(record.verdicts.get(claim) != "refuted" for record in records)}
    return {claim: "partly" if word == "refuted" and claim in mixed else word for claim, word in found.items()}


def _together(checks: Sequence[Check]) -> Check:
    """One check over several seeds: it fails if it fails on one where it decides; cells are those of the worst seed."""
    if failing := next((check for check in checks if decides(check) and not check.holds), None):
        return failing
    opponents = [
        opponent.model_copy(update={"fails": all(_named(check.opponents, opponent.name).fails for check in checks)})
        for opponent in checks[0].opponents
    ]
    cells = None if checks[0].cells is None else min(check.cells or (0, 0) for check in checks)
    return checks[0].model_copy(
        update={"holds": all(check.holds for check in checks), "opponents": opponents, "cells": cells}
    )


def _named(things: Sequence[Any], name: str) -> Any:
    return next(thing for thing in things if thing.name == name)
