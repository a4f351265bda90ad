"""The registries of the five papers."""

import re
from pathlib import Path

import pytest

from hierlib.lab.project import Project
from hierlib.lab.registry import load_registry

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry(Project(ROOT))


def test_all_five_papers_are_registered_in_the_order_of_the_parts():
    assert list(REGISTRY) == ["fine-grained", "beyond-two-layers", "resnet-kernels", "bfc", "rnn"]


@pytest.mark.parametrize("paper", REGISTRY.values(), ids=REGISTRY.keys())
def test_a_registry_is_fit_to_print(paper):
    assert f"{{{paper.cite}," in (ROOT / "book" / "references.bib").read_text(), "its citation exists"
    texts = [text for entry in paper.claims for text in (entry.says, entry.place)]
    texts += [text for e in paper.errata for text in (e.place, e.printed, e.correct, e.why, e.effect)]
    for text in texts:
        assert text.count("$") % 2 == 0, text
        for formula in re.findall(r"\$([^$]+)\$", text):
            assert not set(formula) & set("<>|"), f"would break an HTML table: {formula}"


@pytest.mark.parametrize("paper", REGISTRY.values(), ids=REGISTRY.keys())
def test_an_erratum_whose_claim_has_a_page_points_at_the_cell_that_shows_it(paper):
    for erratum in paper.tested_errata():
        if page := paper.entry(erratum.claim).page:
            text = (ROOT / "notebooks" / paper.slug / f"{page}.md").read_text()
            _, found, below = text.partition(f"({paper.slug}-{erratum.id.lower()})=\n")
            assert found, f"{page}.md has no mark ({paper.slug}-{erratum.id.lower()})="
            assert "```{code-cell}" in below, f"no cell follows the mark of {erratum.id}"


@pytest.mark.parametrize("paper", REGISTRY.values(), ids=REGISTRY.keys())
def test_every_claim_of_a_paper_has_the_name_that_the_paper_gave_it(paper):
    assert [entry.id for entry in paper.claims if not entry.number and not entry.ours] == []
