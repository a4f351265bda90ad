"""`hier run`: what is run, what is skipped, what is kept."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from hierlib.lab.book import refresh_pair
from hierlib.lab.job import make_job, numbers_key
from hierlib.lab.record import as_json, read_record
from hierlib.lab.registry import load_registry
from hierlib.lab.runner import absent_data, threads_of_a_page
from hierlib.lab.state import kept_records, state_of


def paired(project, page, job):
    """The pair is written; returns the executed notebook."""
    return refresh_pair(project, state_of(project, page, job), load_registry(project)["toy"])


def test_a_page_runs_and_leaves_a_record_and_a_notebook(finished):
    toy, done = finished
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"^done toy/squares \(quick\) in \d+\.\d s\n1 run$", done.stdout, re.MULTILINE)
    (record,) = toy.records()
    (notebook,) = toy.record()["files"]
    assert sorted(path.name for path in record.parent.iterdir()) == [notebook, "record.json"]
    assert list(toy.working.iterdir()) == []


def test_a_record_says_what_was_found_and_what_it_rests_on(finished):
    toy, _ = finished
    record = toy.record()
    assert record["verdicts"] == {"thm1": "holds"}
    assert [(c["name"], c["kind"], c["value"], c["relation"], c["bound"], c["holds"]) for c in record["checks"]] == [
        ("smallest", "check", 10.0, "at_least", 0, True),
        ("smallest_without_squaring", "control", -10.0, "at_least", 0, True),
    ]
    assert record["parameters"] == {"seed": 0, "n": 10, "scale": 1.0, "widths": [4, 8], "rule": "sum"}
    assert (record["profile"], record["standard"], record["device"]) == ("quick", True, "cpu")
    assert {"python", "torch", "numpy", "scipy"} <= record["versions"].keys()
    assert record["seconds"] > 0 and record["peak_mb"] > 0 and record["threads"] >= 1
    project, _, job = toy.job()
    assert record["key"] == toy.records()[0].parent.name == job.key
    assert record["numbers_key"] == numbers_key(project, job) != job.key
    assert record["commit"] == "", "the toy project is in no git repository"


def test_a_page_gets_its_share_of_the_cores_or_what_the_user_says(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads_of_a_page(at_once) for at_once in (1, 2, 3, 16)] == [8, 4, 2, 1]
    for said, threads in (("1", 1), ("6", 6), ("", 4), ("0", 4), ("many", 4)):
        monkeypatch.setenv("OMP_NUM_THREADS", said)
        assert threads_of_a_page(2) == threads


def test_a_record_carries_the_digest_of_itself_and_of_its_notebook(ran):
    (path,) = ran.records()
    record = read_record(path)
    assert record is not None and json.loads(path.read_text()) == json.loads(as_json(record))
    path.write_text(path.read_text().replace('"value": 10.0', '"value": 11.0'))
    assert read_record(path) is None


def test_a_page_that_is_up_to_date_is_skipped(ran):
    before = ran.files()
    done = ran.hier("run")
    assert (done.returncode, done.stdout) == (0, "1 up to date\n")
    assert ran.files() == before


def test_edited_prose_runs_nothing_and_still_reaches_the_book(ran):
    ran.edit(ran.squares, "# A page about squares", "# Squares, told in other words")
    assert ran.call("run").stdout == "1 up to date\n"
    assert paired(*ran.job()) is not None
    pair = nbformat.read(ran.squares.with_suffix(".ipynb"), as_version=4)
    assert pair.cells[0].source == "# Squares, told in other words"
    assert any("✓ holds" in str(cell.get("outputs")) for cell in pair.cells), "the verdict table of the last run"
    assert not any("injected-parameters" in cell.metadata.get("tags", []) for cell in pair.cells)


EDITS = {
    "a code cell": ("squares", 'claim.check("smallest"', 'claim.check("least"'),
    "a parameter": ("squares", "n: int = 10", "n: int = 11"),
    "the lock file": ("lock", "numpy==2.0.0", "numpy==2.0.1"),
    "the claims of a page": ("registry", "priority: C", "priority: C\n    page: squares\n    expected: holds"),
}


@pytest.mark.parametrize("edited", EDITS)
def test_what_a_page_rests_on_makes_it_run_again_when_edited(toy, edited):
    file, old, new = EDITS[edited]
    before = toy.job()[2].key
    toy.edit(getattr(toy, file), old, new)
    assert toy.job()[2].key != before


@pytest.mark.parametrize(
    "old, new",
    [("says: Squares are", "says: All squares are"), ("year: 2020", "year: 2021"), ("expected: holds", "expected: partly")],
)
def test_words_in_the_registry_run_nothing(toy, old, new):
    before = toy.job()[2].key
    toy.edit(toy.registry, old, new)
    assert toy.job()[2].key == before


def test_an_edited_code_cell_runs_again_beside_the_old_run(ran):
    (old,) = ran.records()
    ran.edit(ran.squares, "scale * n +", "2 * scale * n +")
    assert "1 run" in ran.hier("run").stdout
    assert len(ran.records()) == 2 and read_record(old) is not None


def test_changed_parameters_are_shown_and_stay_out_of_the_book(ran):
    (standard,) = ran.records()
    before = standard.read_bytes()
    done = ran.hier("run", "toy/thm1", "-p", "n=20", "-p", "widths=[1, 2, 3]", "--seed", "3")
    assert done.returncode == 0
    assert "toy/squares: seed=3, n=20, scale=1.0, widths=[1, 2, 3], rule=sum" in done.stdout
    assert re.search(r"│ smallest +│ 20\.03 │ ≥ 0 +│ yes +│", done.stdout)
    (other,) = set(ran.records()) - {standard}
    record = json.loads(other.read_text())
    (notebook,) = record["files"]
    assert f"verdict: thm1 holds\nnotebook: {other.with_name(notebook).relative_to(ran.root)}" in done.stdout
    assert record["standard"] is False
    assert standard.read_bytes() == before
    paired(*ran.job())
    assert "20.03" not in ran.squares.with_suffix(".ipynb").read_text()


def test_force_runs_again_and_replaces_the_run(ran):
    (record,) = ran.records()
    before = record.read_bytes()
    assert "1 run" in ran.hier("run", "--force").stdout
    assert ran.records() == [record] and record.read_bytes() != before
    assert read_record(record) is not None


def test_only_a_standard_run_at_full_size_is_kept_for_the_repository(toy):
    kept = toy.root / "book" / "records" / "paper" / "toy" / "squares.json"
    assert toy.hier("run", "--profile", "paper", "-p", "n=3").returncode == 0
    assert not kept.exists()
    assert toy.hier("run", "--profile", "paper").returncode == 0
    assert read_record(kept) is None
    record = read_record(kept, alone=True)
    assert record is not None, "a kept record is valid without its notebook"
    assert record.parameters["n"] == 50


def test_a_long_run_is_only_of_pages_that_have_one_and_is_kept_too(toy):
    toy.add_page("cubes")
    toy.edit(toy.squares, "  paper: {n: 50}\n", "  paper: {n: 50}\n  long: {n: 20}\n")
    done = toy.hier("run", "--profile", "long")
    assert done.returncode == 0 and "1 run" in done.stdout and "cubes" not in done.stdout
    record = read_record(toy.root / "book" / "records" / "long" / "toy" / "squares.json", alone=True)
    assert record is not None and record.parameters["n"] == 20


def test_the_pair_is_the_text_with_outputs_and_jupytext_can_sync_it(ran):
    project, page, job = ran.job()
    sources = [cell.source.strip() for cell in jupytext.reads(page.text, fmt="md:myst").cells]
    paired(project, page, job)
    pair = nbformat.read(ran.squares.with_suffix(".ipynb"), as_version=4)
    assert [cell.source.strip() for cell in pair.cells] == sources
    assert any(cell.get("outputs") for cell in pair.cells)
    ran.edit(ran.squares, "# A page", "# Another page")
    shutil.copy(Path(__file__).parents[3] / "jupytext.toml", ran.root)  # it keeps `hier:` in the front matter
    command = Path(sys.executable).parent / "jupytext"
    subprocess.run([command, "--sync", ran.squares], check=True, capture_output=True)
    synced = ran.job()[1]
    assert "# Another page" in synced.text and synced.code == page.code
    assert synced.front == page.front and make_job(project, synced, "quick", {}).key == job.key


def test_a_kept_record_says_when_the_code_has_moved_on(ran):
    assert ran.hier("run", "--profile", "paper").returncode == 0
    project, page, _ = ran.job()
    assert kept_records(project, page)[0].current
    ran.edit(ran.squares, "claim.close()", "claim.close()  # a comment")
    project, page, _ = ran.job()
    assert kept_records(project, page)[0].current
    ran.edit(ran.squares, "scale * n +", "scale * n * n +")
    project, page, _ = ran.job()
    assert not kept_records(project, page)[0].current


def test_data_that_must_be_fetched_first_is_named(ran, tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path))
    job = ran.job()[2]._replace(data=["mnist"])
    (event,) = absent_data([job, job])
    assert event.job is job and event.message.startswith("data set mnist: train-images-idx3-ubyte, ")


LEAVES_TRACES = """
import os, sys, torch
torch.set_default_dtype(torch.float64)
os.environ["TRACE"] = "1"
sys.modules["trace"] = None
torch.manual_seed(7)
"""
FINDS_NONE = """
import os, sys
assert "torch" in sys.modules, "the warm process has imported it"
ours = [name for name in sys.modules if name.startswith("hierlib.")]
assert all(name.startswith(("hierlib.lab", "hierlib.files")) for name in ours)
import torch
assert torch.get_default_dtype() == torch.float32 and "TRACE" not in os.environ and "trace" not in sys.modules
claim.sanity("threads", torch.get_num_threads(), says="It has one", at_least=1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are forked from a warm process on Linux only")
def test_pages_that_share_a_warm_process_know_nothing_of_one_another(toy):
    toy.add_page("first", LEAVES_TRACES)
    toy.add_page("second", FINDS_NONE)
    done = toy.hier("run", "toy/first", "toy/second", "--jobs", "1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_page_whose_code_jupytext_reads_otherwise_is_refused(toy):
    toy.edit(toy.squares, "# A page about squares", "````{note}\n```{code-cell} ipython3\nx = 1\n```\n````")
    done = toy.hier("run")
    assert done.returncode == 1 and "jupytext and hier read different code cells in this page" in done.stderr


def test_the_verdicts_of_many_pages_are_one_line_each(ran):
    done = ran.hier("run", "--seed", "2")
    assert "toy/squares: thm1 holds\n" in done.stdout and "quantity" not in done.stdout
