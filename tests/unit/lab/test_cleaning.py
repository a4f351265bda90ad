"""`hier clean`: what nothing will read again, its size first, and nothing else."""

import shutil

import pytest


@pytest.fixture
def cluttered(ran):
    """A current run, one with another seed, and beside them what earlier code, a removed page and a crash left."""
    assert ran.hier("run", "--seed", "3").returncode == 0
    current, other = ran.records()
    old = current.parent.with_name("0" * 20)
    shutil.copytree(current.parent, old)
    removed = ran.root / "_build" / "runs" / "toy" / "removed" / "a"
    shutil.copytree(current.parent, removed)
    checkpoint = ran.root / "_build" / "checkpoints" / ("1" * 20)
    checkpoint.mkdir(parents=True)
    (checkpoint / "state.pt").write_bytes(b"0" * 2_000_000)
    failed = ran.root / "_build" / "failed" / "toy" / "removed.ipynb"
    failed.parent.mkdir(parents=True)
    failed.write_text("{}")
    return ran, [current, other], [old, removed, checkpoint, failed]


def test_the_size_is_shown_first_and_nothing_goes_without_a_yes(cluttered):
    toy, _, leftovers = cluttered
    before = toy.files()
    done = toy.hier("clean")
    assert done.returncode == 0 and toy.files() == before
    assert all(str(path.relative_to(toy.root)) in done.stdout for path in leftovers)
    assert "4 leftovers, 2.0 MB\nnothing was removed; `hier clean --yes` removes them" in done.stdout


def test_what_is_current_stays_also_with_another_seed(cluttered):
    toy, current, leftovers = cluttered
    assert "removed 2.0 MB" in toy.hier("clean", "--yes").stdout
    assert toy.records() == sorted(current) and not any(path.exists() for path in leftovers)
    assert toy.call("run").stdout == "1 up to date\n"
    assert toy.call("clean").stdout == "nothing to remove: everything under _build belongs to a page\n"


def test_changed_code_makes_its_runs_leftovers(cluttered):
    toy, _, _ = cluttered
    toy.edit(toy.squares, "scale * n +", "2 * scale * n +")
    assert "6 leftovers" in toy.call("clean").stdout


def test_a_checkpoint_that_its_page_would_go_on_from_stays(ran):
    ran.add_page(
        "long",
        "import os, pathlib\nhere = pathlib.Path(os.environ['HIERLIB_CHECKPOINTS'])\n"
        "(here / 'state').write_text('half')\nraise ValueError",
    )
    assert ran.hier("run", "toy/long", "-p", "n=7").returncode == 1
    (folder,) = (ran.root / "_build" / "checkpoints").iterdir()
    assert "nothing to remove" in ran.call("clean").stdout
    ran.edit(ran.root / "notebooks" / "toy" / "long.md", "raise ValueError", "raise OSError")
    assert str(folder.relative_to(ran.root)) in ran.call("clean").stdout


def test_a_page_that_saved_nothing_leaves_no_folder_for_checkpoints(ran):
    ran.add_page("raises", "raise ValueError")
    assert ran.hier("run", "toy/raises").returncode == 1
    assert list((ran.root / "_build" / "checkpoints").glob("*")) == []
