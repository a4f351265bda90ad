"""Every page has the shape of a page. (That it runs, and what it finds, is the business of `hier run` and `hier check`.)"""

import re
import shlex
from pathlib import Path

import jupytext
import papermill
import pytest
import yaml

from hierlib.lab.parameters import read_assignments
from hierlib.lab.project import Project
from hierlib.lab.selection import load

PROJECT = Project(Path(__file__).parents[2])
REGISTRY, LOADED = load(PROJECT)
PAGES = {page.id: page for page in LOADED}
TOC = yaml.safe_load((PROJECT.root / "_toc.yml").read_text())


ENTRIES = {(f"{paper.slug}/{e.page}", e.id): e for paper in REGISTRY.values() for e in paper.claims if e.page}


def title(page):
    return re.search(r"^# (.+)", page.text, re.MULTILINE)[1]


@pytest.fixture(params=PAGES.values(), ids=PAGES.keys())
def page(request):
    return request.param


def test_jupytext_and_papermill_read_it_as_hier_does(page):
    notebook = jupytext.reads(page.text, fmt="md:myst")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [(cell.source.strip(), cell.metadata.get("tags", [])) for cell in code] == [
        (c.source, c.tags) for c in page.cells
    ]
    inspected = papermill.inspect_notebook(notebook)
    assert {name: entry["inferred_type_name"] for name, entry in inspected.items()} == {
        name: parameter.type for name, parameter in page.parameters.items()
    }


def test_it_is_in_the_table_of_contents(page):
    chapters = [chapter for part in TOC["parts"] for chapter in part["chapters"]]
    listed = [section["file"] for chapter in chapters for section in chapter.get("sections", [])]
    assert f"notebooks/{page.id}" in listed


def test_it_asks_states_and_ends_as_every_page_does(page):
    titles = re.findall(r"^# (.+)", page.text, re.MULTILINE)
    assert titles[0].endswith("?"), "the title is the question that the page answers"
    assert "**What we measure.**" in page.text
    assert page.text.index("## Where it breaks") < page.text.index("## Exercises")
    boxes = set(re.findall(r"^`{3,}\{claim\} (\S+)", page.text, re.MULTILINE))
    assert boxes and boxes <= page.claims.keys(), "the printed statement of its claims"


def test_it_has_checks_and_a_verdict_and_what_makes_them_evidence(page):
    code = "\n".join(page.code)
    assert f'Claim("{page.id}")' in code
    assert code.count("claim.check(") >= 1
    assert code.rstrip().endswith("claim.close()")
    assert "opponents=" in code, "somebody who must fail"
    stated = [c for c in page.claims if ENTRIES[page.id, c].kind in ("theorem", "lemma", "corollary", "proposition")]
    assert not stated or "claim.assume(" in code, "its hypotheses, met or not"


def test_its_picture_comes_early_and_its_set_up_is_folded(page):
    first = next(i for i, cell in enumerate(page.cells) if re.search(r"^(publish|display)\(", cell.source, re.MULTILINE))
    assert all("hide-input" in cell.tags for cell in page.cells[: first + 1]), "what comes before the picture is folded"
    before = page.text.splitlines()[: page.cells[0].line]
    assert sum(len(line) for line in before[before.index(f"# {title(page)}") :]) < 1200, "a short opening"


def test_its_figures_say_what_is_seen(page):
    for cell in jupytext.reads(page.text, fmt="md:myst").cells:
        if cell.cell_type == "code" and re.search(r"^publish\(", cell.source, re.MULTILINE):
            assert len(cell.metadata["mystnb"].get("image", {}).get("alt", "")) > 40, cell.source.splitlines()[-1]


def test_its_code_fits_the_column(page):
    assert max(len(line) for cell in page.code for line in cell.splitlines()) <= 108


def test_every_figure_has_a_name_and_a_caption(page):
    for cell in jupytext.reads(page.text, fmt="md:myst").cells:
        if cell.cell_type == "code" and re.search(r"^publish\(", cell.source, re.MULTILINE):
            figure = cell.metadata["mystnb"]["figure"]
            assert figure["name"].startswith("fig-") and len(figure["caption"]) > 40
            assert cell.source.splitlines()[-1].startswith("publish("), "whatever follows would become part of the figure"


def test_every_random_draw_comes_from_a_named_stream(page):
    forbidden = r"manual_seed|np\.random|random\.seed|default_rng|torch\.(rand|randn|randint|randperm)\((?!.*generator=)"
    assert not re.search(forbidden, "\n".join(page.code))


def test_the_commands_it_suggests_are_valid(page):
    exercises = page.text.partition("## Exercises")[2]
    commands = re.findall(r"`hier run ([^`]+)`", exercises)
    assert commands
    assert exercises.count("*Expect") >= len(commands), "each with the outcome to expect"
    for command in commands:
        name, *words = shlex.split(command)
        assert name == page.id
        assignments = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
        page.values("quick", read_assignments(page.parameters, assignments, page.id))


def test_its_parameters_cell_says_what_quick_is(page):
    assert page.values("quick", {}) == {name: parameter.default for name, parameter in page.parameters.items()}
    assert page.parameters["seed"].default == 0
