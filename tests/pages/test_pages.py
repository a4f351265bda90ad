"""Every page has the shape of a page. (That it runs, and what it finds, is the business of `hier run` and `hier check`.)"""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from hierlib.lab.page import load_pages, parse_value, resolve
from hierlib.lab.project import Project
from hierlib.lab.registry import load_registry

PROJECT = Project(Path(__file__).parents[2])
REGISTRY = load_registry(PROJECT)
PAGES = load_pages(PROJECT, REGISTRY)
TOC = yaml.safe_load((PROJECT.root / "_toc.yml").read_text())


@pytest.fixture(params=PAGES.values(), ids=PAGES.keys())
def page(request):
    return request.param


def code_of(page) -> list[str]:
    return [cell.source for cell in page.notebook.cells if cell.cell_type == "code"]


def test_it_is_in_the_table_of_contents(page):
    listed = [chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]]
    assert f"notebooks/{page.id}" in listed


def test_it_asks_states_and_ends_as_every_page_does(page):
    titles = re.findall(r"^# (.+)", page.text, re.MULTILINE)
    assert titles[0].endswith("?"), "the title is the question that the page answers"
    assert re.search(r"^```\{prf:\w+\} .*\d{4}", page.text, re.MULTILINE), "the claim, with paper and number in its title"
    assert "**What we measure.**" in page.text
    assert page.text.index("## Where it breaks") < page.text.index("## Try it")


def test_it_has_checks_a_control_and_a_verdict(page):
    code = "\n".join(code_of(page))
    assert f'Claim("{page.id}")' in code
    assert code.count("claim.check(") >= 1
    assert code.count("claim.control(") >= 1
    assert code.rstrip().endswith("claim.close()")


def test_its_code_fits_the_column(page):
    assert max(len(line) for cell in code_of(page) for line in cell.splitlines()) <= 108


def test_every_figure_has_a_name_and_a_caption(page):
    for cell in page.notebook.cells:
        if cell.cell_type == "code" and re.search(r"^publish\(", cell.source, re.MULTILINE):
            figure = cell.metadata["mystnb"]["figure"]
            assert figure["name"].startswith("fig-") and len(figure["caption"]) > 40
            assert cell.source.splitlines()[-1].startswith("publish("), "whatever follows would become part of the figure"


def test_every_random_draw_comes_from_a_named_stream(page):
    forbidden = r"manual_seed|np\.random|random\.seed|default_rng|torch\.(rand|randn|randint|randperm)\((?!.*generator=)"
    assert not re.search(forbidden, "\n".join(code_of(page)))


def test_the_commands_it_suggests_are_valid(page):
    commands = re.findall(r"`hier run ([^`]+)`", page.text.partition("## Try it")[2])
    assert commands
    for command in commands:
        name, *words = shlex.split(command)
        assert name == page.id
        assignments = [words[i + 1] for i, word in enumerate(words) if word == "-p"]
        resolve(page, "quick", dict(parse_value(page, assignment) for assignment in assignments))


def test_its_parameters_cell_says_what_quick_is(page):
    assert resolve(page, "quick", {}) == {name: parameter.default for name, parameter in page.parameters.items()}
    assert page.parameters["seed"].default == 0
