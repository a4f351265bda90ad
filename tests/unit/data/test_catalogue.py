import hashlib
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
    with pytest.raises(DataError, match=r"\(labels-idx1-ubyte absent or damaged\): run `hier data tiny`$"):
        catalogue.verified("tiny")


def test_the_md5_of_a_file_is_that_of_its_bytes(tmp_path):
    content = bytes(range(256)) * 10_000
    (tmp_path / "file").write_bytes(content)
    assert catalogue.md5(tmp_path / "file") == hashlib.md5(content).hexdigest()


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
        assert all(len(digest) == 32 and int(digest, 16) for digest in digests)
        assert len(set(digests)) == len(digests)
