"""A malformed registry or page: exit code 2 and one sentence with file, line and what would be right."""

import pytest

LAST = "    priority: C\n"  # how the registry ends
ERRATUM = "errata:\n  - {id: E1, claim: thm9, place: p. 1, printed: a, correct: b, why: c, effect: d}\n"
ABOUT_THM1 = ERRATUM.replace("thm9", "thm1")


def classed(text: str) -> str:
    """An erratum about thm1 of that class."""
    return ABOUT_THM1.replace("place:", f"class: {text}, place:")


REGISTRY_MISTAKES = {
    "broken YAML": ("title: A toy", "title: [A toy", 4, "not valid YAML (did not find expected ',' or ']')"),
    "a control character": ("title: A toy", "title: A\x01toy", 3, "a control character ('\\x01') that no text needs"),
    "a path for an id": ("- id: fig2", "- id: ../fig2", 17, "claims.1.id: string should match pattern"),
    "an unknown key": (
        "    says: Nobody",
        "    sais: Nobody",
        20,
        "there is no such key; did you mean 'says'?",
    ),
    "an unknown key at the top": ("summary:", "zzz: 1\nsummary:", 8, "zzz: there is no such key; the keys are slug, part,"),
    "a missing key": ("    place: Figure 2\n", "", 17, "claims.1.place: field required"),
    "a wrong kind": ("kind: figure", "kind: picture", 18, "claims.1.kind: input should be 'theorem', 'lemma',"),
    "a wrong type": ("year: 2020", "year: twenty", 5, "year: input should be a valid integer"),
    "a key that stands twice": ("year: 2020", "year: 2020\nyear: 2021", 6, "not valid YAML (the key 'year' stands twice)"),
    "a duplicate id": ("- id: fig2", "- id: thm1", 17, "claim thm1 is registered twice"),
    "a page without expected": (
        "    expected: holds\n",
        "",
        10,
        "claim thm1 has a page but no expected verdict (holds,",
    ),
    "an unknown verdict": (
        "expected: holds",
        "expected: true",
        15,
        "input should be 'holds', 'consistent', 'partly', 'refuted' or 'open'",
    ),
    "refuted without erratum": (
        "expected: holds",
        "expected: refuted",
        10,
        "thm1 is expected to be refuted but no erratum",
    ),
    "a page and untestable": (
        LAST,
        LAST + "    page: a\n    untestable: b\n",
        17,
        "fig2 has both a page and a reason",
    ),
    "erratum of no claim": (LAST, LAST + ERRATUM, 23, "erratum E1 names the claim 'thm9', which is not registered"),
    "a tested erratum without a class": (LAST, LAST + ABOUT_THM1, 23, "E1 is put to a test but has no class (false, gap,"),
    "an unknown class": (LAST, LAST + classed("wrong"), 23, "input should be 'false', 'gap', 'slip', 'reading' or 'remark'"),
    "a gap without a standing": (LAST, LAST + classed("gap"), 23, "E1 is false or a gap exactly if it has a standing (in"),
    "false and yet expected to hold": (
        LAST,
        LAST + classed("'false', standing: repaired"),
        23,
        "E1 calls thm1 false, whose expected verdict is holds",
    ),
    "a proof that rests on nothing known": (LAST, LAST + "    uses: [thm9]\n", 17, "claim fig2 uses 'thm9', which is not"),
    "a history of no page": (
        LAST,
        LAST + "history:\n  - {date: 2026-01-01, page: cubes, what: a, old: b, new: c, why: d}\n",
        23,
        "there is no page 'cubes'",
    ),
    "another paper's name": ("slug: toy\n", "slug: joy\n", 1, "slug is 'joy', the file 'toy'"),
}

PAGE_MISTAKES = {
    "no front matter": ("---\njupytext", "jupytext", 1, "a page starts with its front matter between two lines of ---"),
    "broken YAML": ('ipynb"}', 'ipynb"} [', 2, "not valid YAML (did not find expected key)"),
    "an unknown key": ("\nhier:", "\nheir:", 4, "heir: there is no such key; did you mean 'hier'?"),
    "an unknown profile": ("  smoke: ", "  somke: ", 5, "hier.somke: there is no such key; did you mean 'smoke'?"),
    "a profile's unknown parameter": ("smoke: {n: 2}", "smoke: {m: 2}", 5, "there is no parameter 'm'; the parameters are"),
    "a profile's wrong type": ("paper: {n: 50}", "paper: {n: x}", 6, "n must be of type int, got 'x'"),
    "a profile out of range": ("paper: {n: 50}", "paper: {n: 500}", 6, "n = 500 is out of range; allowed is [1..100]"),
    "no type": ("n: int = 10", "n = 10", 15, "parameter n needs a type, one of int, float, str, bool, list"),
    "an unknown type": ("n: int = 10", "n: tuple = 10", 15, "parameter n needs a type, one of int, float, str, bool, list"),
    "no comment": ("# how many numbers [1..100]", "", 15, "parameter n needs a comment that says what it is"),
    "only a range": ("# how many numbers [", "# [", 15, "parameter n needs a comment that says what it is"),
    "a malformed range": ("[1..100]", "[1-100]", 15, "[1-100] is not a range; write [low..high], [low..] or [word|word]"),
    "a range without numbers": ("[0..2.5]", "[a..e]", 16, "[a..e] is not a range; write [low..high]"),
    "a range for words": ("[sum|mean]", "[0..1]", 18, "rule = 'sum' is out of range; allowed is [0..1]"),
    "words for a number": ("[1..100]", "[few|many]", 15, "n = 10 is out of range; allowed is [few|many]"),
    "a value out of its range": ("n: int = 10", "n: int = 0", 15, "n = 0 is out of range; allowed is [1..100]"),
    "a computed value": ("n: int = 10", "n: int = 2 * 5", 15, "the value of n must be a plain number, word or list"),
    "half a kernelspec": ("display_name: Python 3, ", "", 3, "kernelspec.display_name: field required"),
    "another format": ('"md:myst,ipynb"', '"md:myst,ipnb"', 2, "jupytext.formats: input should be 'md:myst,ipynb'"),
    "a control character": ("# A page", "# A\x00page", 10, "a control character ('\\x00') that no text needs"),
    "code among the parameters": (
        "n: int = 10",
        "print(10)",
        15,
        "a line of the cell tagged `parameters` reads name: type =",
    ),
    "a slip among the parameters": ("n: int = 10", "n: int = = 10", 15, "the cell tagged `parameters` is not Python"),
    "options that are no YAML": (":tags: [parameters]", ":tags: [parameters", 13, "the options of this code cell are not"),
}


@pytest.mark.parametrize("mistake", REGISTRY_MISTAKES)
def test_a_malformed_registry_is_named_with_file_and_line(toy, refused, mistake):
    old, new, line, sentence = REGISTRY_MISTAKES[mistake]
    toy.edit(toy.registry, old, new)
    answer = refused(toy, "list", within=True)
    assert answer.startswith(f"hier: toy.yml, line {line}: ") and sentence in answer


@pytest.mark.parametrize("mistake", PAGE_MISTAKES)
def test_a_malformed_page_is_named_with_file_and_line(toy, refused, mistake):
    old, new, line, sentence = PAGE_MISTAKES[mistake]
    toy.edit(toy.squares, old, new)
    answer = refused(toy, "run", within=True)
    assert answer.startswith(f"hier: toy/squares.md, line {line}: ") and sentence in answer


def test_a_page_must_have_its_answer_in_the_front_matter(toy, refused):
    toy.edit(toy.squares, "  answer: Yes.\n", "")
    assert "toy/squares.md: the front matter has no `answer`" in refused(toy, "run", within=True)


def test_a_registered_page_must_exist(toy, refused):
    toy.squares.unlink()
    assert "toy.yml, line 16: claim thm1 names the page 'squares', which does not exist" in refused(toy, "run", within=True)


def test_a_page_must_be_registered(toy, refused):
    toy.squares.with_name("cubes.md").write_text(toy.squares.read_text())
    assert "toy/cubes.md: no claim in book/claims/toy.yml names this page" in refused(toy, "run", within=True)


def test_a_page_must_have_one_cell_of_parameters(toy, refused):
    toy.edit(toy.squares, ":tags: [parameters]\n", "")
    assert "toy/squares.md: a page has one cell tagged `parameters`, this one has 0" in refused(toy, "run", within=True)


def test_a_malformed_page_is_nobody_elses_problem(toy):
    toy.add_page("cubes")
    toy.edit(toy.squares, "display_name: Python 3, ", "")
    assert toy.call("show", "toy/cubes").returncode == 0 and toy.call("list").returncode == 0


def test_a_page_must_have_a_seed(toy, refused):
    toy.edit(toy.squares, "seed: int", "sead: int")
    assert "the cell tagged `parameters` must have a line `seed: int = 0`" in refused(toy, "run", within=True)


def test_declared_data_must_be_in_the_catalogue(toy, refused):
    toy.edit(toy.squares, "\nhier:\n", "\nhier:\n  data: [mnits]\n")
    assert "toy/squares: there is no data set 'mnits'; did you mean 'mnist'?" in refused(toy, "run", within=True)


@pytest.mark.parametrize("file, command", [("registry", "list"), ("squares", "run")])
def test_a_file_that_is_not_text_is_named(toy, refused, file, command):
    path = getattr(toy, file)
    path.write_bytes(path.read_bytes()[:40] + b"\xff\xfe")
    assert ": not valid UTF-8 text" in refused(toy, command, within=True)
