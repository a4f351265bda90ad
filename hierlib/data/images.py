"""Image sets as arrays, and the two-class views that the papers use.

Arora et al. 2019 (appendix A) take the first two classes of MNIST and CIFAR-10, labels +1 and -1, every image scaled
to norm one. Allen-Zhu and Li 2019 and 2020 use CIFAR-2: bird, cat, deer, dog and horse against the rest.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hierlib.data import catalogue
from hierlib.streams import stream

CIFAR2_ANIMALS = (2, 3, 4, 5, 7)  # bird, cat, deer, dog, horse
loaded: set[str] = set()  # sets opened in this process: a record names the data its numbers rest on


class Images(NamedTuple):
    """uint8 images (n, channels, height, width) and int64 labels (n,), for training and for testing."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def load_images(name: str) -> Images:
    """Load digits, mnist, cifar10 or cifar100 from the cache folder after checking its digests."""
    images = _read(name, catalogue.folder(name))
    loaded.add(name)
    return images


@cache  # checking the digests takes most of the time: once per process is enough
def _read(name: str, here: Path) -> Images:
    catalogue.verified(name)
    if name == "digits":
        return _digits()
    if name == "mnist":
        return Images(
            _idx(here / "train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28),
            _idx(here / "train-labels-idx1-ubyte", 8).astype(np.int64),
            _idx(here / "t10k-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28),
            _idx(here / "t10k-labels-idx1-ubyte", 8).astype(np.int64),
        )
    label_bytes = 2 if name == "cifar100" else 1  # cifar100 stores the coarse label before the fine one
    train = [f for f in catalogue.source(name).files if "test" not in f]
    test = [f for f in catalogue.source(name).files if "test" in f]
    parts = []
    for files in (train, test):
        records = np.concatenate([np.fromfile(here / f, np.uint8).reshape(-1, label_bytes + 3072) for f in files])
        parts += [records[:, label_bytes:].reshape(-1, 3, 32, 32), records[:, label_bytes - 1].astype(np.int64)]
    return Images(*parts)


def _idx(path: Path, header: int) -> np.ndarray:
    return np.fromfile(path, np.uint8, offset=header)


def _digits() -> Images:
    """scikit-learn's 1797 8x8 digits; it has no official split, so the last 297 are the test set."""
    from sklearn.datasets import load_digits

    bundle = load_digits()
    images, labels = bundle.images.astype(np.uint8)[:, None], bundle.target.astype(np.int64)
    return Images(images[:1500], labels[:1500], images[1500:], labels[1500:])


def unit_norm(images: np.ndarray, center: bool = False) -> Tensor:
    """Flatten and scale every image to norm one, in float64: (n, c, h, w) -> (n, c h w).

    Pixels run from 0 to 255. `center` moves them to [-1, 1] first; the papers do not say whether they did.
    """
    X = torch.from_numpy(images.reshape(len(images), -1).astype(np.float64)) / 255
    if center:
        X = 2 * X - 1
    return X / X.norm(dim=1, keepdim=True)


def two_class(
    name: str, n: int, seed: int, split: str = "train", classes: tuple[int, int] = (0, 1), center: bool = False
) -> tuple[Tensor, Tensor]:
    """n random images of two classes as unit rows X (n, d); y (n,) is +1 for the first class, -1 for the other."""
    data = load_images(name)
    images, labels = (data.train, data.train_labels) if split == "train" else (data.test, data.test_labels)
    members = np.flatnonzero(np.isin(labels, classes))
    if n > len(members):
        raise ValueError(f"{name} has {len(members)} {split} images of the classes {classes}, {n} were asked for")
    order = torch.randperm(len(members), generator=stream(seed, "images", name, split, *classes))[:n].numpy()
    chosen = members[order]
    y = torch.where(torch.from_numpy(labels[chosen]) == classes[0], 1.0, -1.0).double()
    return unit_norm(images[chosen], center), y


def cifar2(labels: np.ndarray) -> np.ndarray:
    """CIFAR-2 labels from CIFAR-10 labels: +1 for bird, cat, deer, dog, horse, -1 for the rest (Allen-Zhu and Li)."""
    return np.where(np.isin(labels, CIFAR2_ANIMALS), 1, -1)


def near_duplicates(X: Tensor) -> list[tuple[int, int]]:
    """Pairs of unit rows that are parallel or antiparallel, |cosine| > 1 - 1e-9: they make H_inf singular."""
    cosine = (X @ X.T).abs_().triu_(diagonal=1)
    return [(int(i), int(j)) for i, j in (cosine > 1 - 1e-9).nonzero()]
