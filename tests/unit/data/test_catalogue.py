import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from hierlib.data import catalogue
from hierlib.data.catalogue import DataError


@pytest.fixture
def tiny(make_set):
    made_up = make_set()
    made_up.folder.mkdir(parents=True)
    for name, content in made_up.files.items():
        (made_up.folder / name).write_bytes(content)
    return made_up


@pytest.mark.parametrize("ask", [catalogue.source, catalogue.digest, catalogue.damaged, catalogue.verified])
def test_an_unknown_set_is_refused_with_the_list_of_those_there_are(ask):
    with pytest.raises(DataError, match=f"^there is no data set 'cifar'; the sets are {', '.join(catalogue.SETS)}$"):
        ask("cifar")


def test_a_complete_set_is_verified(tiny):
    assert catalogue.damaged("tiny") == []
    assert catalogue.verified("tiny") == tiny.folder


def test_a_set_without_files_is_always_there():
    assert catalogue.damaged("digits") == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b"L" + path.read_bytes()[1:]),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["absent", "cut short", "one byte changed", "a folder"],
)
def test_a_damaged_file_is_named_with_the_command_that_repairs_it(tiny, spoil):
    spoil(tiny.folder / "labels-idx1-ubyte")
    assert catalogue.damaged("tiny") == ["labels-idx1-ubyte"]
    assert catalogue.damaged("tiny") == ["labels-idx1-ubyte"]  # what is wrong is not stamped as right
    with pytest.raises(DataError, match=r"\(labels-idx1-ubyte absent or damaged\): run `hier data tiny`$"):
        catalogue.verified("tiny")


@pytest.mark.parametrize("kind", ["md5", "sha256"])
def test_a_file_is_right_when_its_bytes_have_the_digest(tmp_path, kind):
    content = bytes(range(256)) * 10_000
    (tmp_path / "file").write_bytes(content)
    expected = hashlib.new(kind, content).hexdigest()
    assert catalogue.is_right(tmp_path / "file", expected)
    assert not catalogue.is_right(tmp_path / "file", expected[:-1] + ("0" if expected[-1] != "0" else "1"))


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """Names of the files whose digest is computed."""
    names, judge = [], catalogue.is_right
    monkeypatch.setattr(catalogue, "is_right", lambda path, expected: names.append(path.name) or judge(path, expected))
    return names


def test_a_set_that_was_verified_is_not_read_again_to_know_whether_to_fetch_it(tiny, read):
    assert catalogue.damaged("tiny") == []
    assert sorted(read) == sorted(tiny.files)
    read.clear()
    assert catalogue.damaged("tiny") == [] and read == []


def test_numbers_never_rest_on_a_stamp(tiny, read):
    catalogue.verified("tiny")
    read.clear()
    catalogue.verified("tiny")
    assert sorted(read) == sorted(tiny.files)


def overwrite(path: Path) -> None:
    path.write_bytes(b"L" + path.read_bytes()[1:])


def overwrite_and_turn_back_the_clock(path: Path) -> None:
    before = path.stat()
    overwrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"L" + path.read_bytes()[1:])
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", [overwrite, overwrite_and_turn_back_the_clock, replace])
def test_other_content_of_the_same_size_is_noticed_behind_a_stamp(tiny, change):
    assert catalogue.damaged("tiny") == []
    time.sleep(0.02)  # more than a tick of the file system's clock
    change(tiny.folder / "labels-idx1-ubyte")
    assert catalogue.damaged("tiny") == ["labels-idx1-ubyte"]


def test_only_what_changed_is_read_again(tiny, read):
    catalogue.damaged("tiny")
    read.clear()
    time.sleep(0.02)
    (tiny.folder / "labels-idx1-ubyte").touch()
    assert catalogue.damaged("tiny") == [] and read == ["labels-idx1-ubyte"]
    assert catalogue.damaged("tiny") == [] and read == ["labels-idx1-ubyte"]


def test_decay_that_a_stamp_hides_is_found_by_loading_and_then_by_the_driver(tiny):
    wrong = tiny.folder / "labels-idx1-ubyte"
    overwrite(wrong)
    now = wrong.stat()
    entry = [catalogue.SETS["tiny"].files[wrong.name], now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns]
    (tiny.folder / ".verified.json").write_text(json.dumps({wrong.name: entry}))
    assert catalogue.damaged("tiny") == []
    with pytest.raises(DataError, match=r"labels-idx1-ubyte absent or damaged"):
        catalogue.verified("tiny")
    assert catalogue.damaged("tiny") == [wrong.name]


def test_a_new_digest_in_the_catalogue_makes_the_stamp_worthless(tiny, monkeypatch):
    catalogue.damaged("tiny")
    entry = catalogue.SETS["tiny"]
    monkeypatch.setitem(catalogue.SETS, "tiny", entry._replace(files={**entry.files, "labels-idx1-ubyte": "0" * 64}))
    assert catalogue.damaged("tiny") == ["labels-idx1-ubyte"]


@pytest.mark.parametrize("rubbish", [b"", b"[]", b"{", b"\xff\xfe", b'{"labels-idx1-ubyte": 3}'])
def test_a_damaged_stamp_costs_nothing_but_time(tiny, rubbish):
    (tiny.folder / ".verified.json").write_bytes(rubbish)
    assert catalogue.damaged("tiny") == []


def test_a_folder_that_takes_no_stamp_is_read_every_time(tiny, read):
    (tiny.folder / ".verified.json").mkdir()
    for _ in range(2):
        assert catalogue.damaged("tiny") == []
    assert len(read) == 2 * len(tiny.files)


def test_asking_for_an_absent_set_writes_nothing(make_set):
    tiny = make_set()
    assert catalogue.damaged("tiny") == list(tiny.files)
    assert not tiny.folder.exists()


def test_the_digest_of_a_set_changes_with_any_of_its_files(tiny, monkeypatch):
    before, entry = catalogue.digest("tiny"), catalogue.SETS["tiny"]
    assert catalogue.digest("tiny") == before
    for name in entry.files:
        monkeypatch.setitem(catalogue.SETS, "tiny", entry._replace(files={**entry.files, name: "0" * 32}))
        assert catalogue.digest("tiny") != before


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HIERLIB_DATA": "/data", "XDG_CACHE_HOME": "/cache"}, Path("/data/mnist")),
        ({"HIERLIB_DATA": "~/data"}, Path.home() / "data" / "mnist"),
        ({"XDG_CACHE_HOME": "/cache"}, Path("/cache/hierlib/mnist")),
        ({}, Path.home() / ".cache" / "hierlib" / "mnist"),
    ],
)
def test_the_environment_says_where_the_files_live(environment, expected, monkeypatch):
    for name in ("HIERLIB_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert catalogue.folder("mnist") == expected


def test_every_archive_and_file_of_the_catalogue_has_a_digest():
    for entry in catalogue.SETS.values():
        digests = [*entry.files.values(), *(digest for _, digest in entry.urls.values())]
        assert all(len(digest) in (32, 64) and int(digest, 16) for digest in digests)
        assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_sets_whose_files_we_have_had_in_hand_are_known_by_sha256(name):
    assert all(len(digest) == 64 for digest in catalogue.SETS[name].files.values())
