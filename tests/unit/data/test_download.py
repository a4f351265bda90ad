import hashlib
from pathlib import Path

import pytest

from hierlib.data.catalogue import DataError
from hierlib.data.download import download

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


def test_a_server_that_accepts_and_never_answers_is_left_soon(target, server, monkeypatch):
    monkeypatch.setattr("hierlib.data.download.ANSWER_SECONDS", 0.3)
    server.says_nothing = True
    with pytest.raises(DataError, match=r"/archive does not answer \(not within 0.3 s\)$"):
        fetch_into(target, server)
    assert stored(target) == {}


def test_a_server_that_falls_silent_is_left_and_what_it_sent_is_kept(target, server, monkeypatch):
    monkeypatch.setattr("hierlib.data.download.STALL_SECONDS", 0.5)
    server.falls_silent = True
    with pytest.raises(DataError, match=rf"broke off after {HALF} of {len(CONTENT)} bytes \(nothing came for 0.5 s\); ask"):
        fetch_into(target, server)
    assert stored(target) == {"archive.part": CONTENT[:HALF]}
    server.falls_silent = False
    fetch_into(target, server)
    assert stored(target) == {"archive": CONTENT}


def test_a_download_that_never_comes_to_its_end_is_left_in_the_end(target, server, monkeypatch):
    monkeypatch.setattr("hierlib.data.download.LIMIT_SECONDS", 0)
    with pytest.raises(DataError, match=r"broke off after \d+ of \d+ bytes; ask again to continue$"):
        fetch_into(target, server)
    assert CONTENT.startswith(stored(target)["archive.part"])


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
