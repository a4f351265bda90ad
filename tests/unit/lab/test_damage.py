"""Files that were damaged, and disks that are full."""

import resource

import pytest

from hierlib.lab.record import read_record
from hierlib.lab.store import broken_run


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {"a flipped bit": flip, "a truncated file": lambda content: content[:-100], "an empty file": lambda content: b""}


@pytest.mark.parametrize("file", ["record.json", "executed-*.ipynb"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_seen(ran, file, kind):
    project, _, job = ran.job()
    (record,) = ran.records()
    assert broken_run(project, job) is None
    victim = next(record.parent.glob(file))
    victim.write_bytes(DAMAGES[kind](victim.read_bytes()))
    assert broken_run(project, job) == record.parent and read_record(record) is None


@pytest.mark.parametrize("file", ["record.json", "executed-*.ipynb"])
def test_a_damaged_run_is_named_and_rebuilt(ran, file):
    (record,) = ran.records()
    victim = next(record.parent.glob(file))
    victim.write_bytes(flip(victim.read_bytes()))
    done = ran.hier("run")
    assert done.returncode == 0 and "1 run" in done.stdout
    assert f"damaged {record.parent.relative_to(ran.root)} does not match its digest; running the page again" in done.stdout
    assert ran.records() == [record] and read_record(record) is not None


def test_a_full_disk_fails_the_page_and_leaves_no_half_written_record(toy):
    toy.add_page("large", "print('x' * 100_000)")
    done = toy.hier("run", "toy/large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
    assert (done.returncode, done.stderr) == (1, "failed: toy/large: File too large\n")
    assert not [name for name in toy.files() if name.startswith("_build/runs/") and name.endswith((".json", ".ipynb"))]
    assert toy.hier("run", "toy/large").returncode == 0
    assert read_record(toy.records("large")[0]) is not None


def test_a_disk_without_room_for_anything_is_one_sentence_too(toy):
    done = toy.hier("run", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert (done.returncode, done.stderr) == (1, "failed: toy/squares: File too large\n")
    assert list(toy.working.iterdir()) == [] and toy.records() == []
