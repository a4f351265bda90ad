import re
import struct

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from hierlib.data import catalogue, images
from hierlib.data.catalogue import DataError
from hierlib.data.images import cifar2, load_images, near_duplicates, two_class, unit_norm
from hierlib.data.spheres import unit_sphere


def require(name: str) -> str:
    if catalogue.damaged(name):
        pytest.skip(f"no {name} in the cache: run `hier data {name}`")
    return name


@pytest.fixture(params=["digits", "mnist", "cifar10"])
def name(request) -> str:
    return require(request.param)


SHAPES = {"digits": (1500, 297, 1, 8, 8), "mnist": (60_000, 10_000, 1, 28, 28), "cifar10": (50_000, 10_000, 3, 32, 32)}


@pytest.mark.slow
def test_a_set_has_the_known_shape_and_kind(name):
    data, (train, test, *image) = load_images(name), SHAPES[name]
    assert data.train.shape == (train, *image) and data.test.shape == (test, *image)
    assert data.train.dtype == data.test.dtype == np.uint8
    assert data.train_labels.shape == (train,) and data.test_labels.shape == (test,)
    assert data.train_labels.dtype == data.test_labels.dtype == np.int64
    assert name in images.loaded


MNIST_TRAIN = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
MNIST_TEST = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "train", "test"), [("mnist", MNIST_TRAIN, MNIST_TEST), ("cifar10", [5000] * 10, [1000] * 10)]
)
def test_every_class_has_its_known_number_of_images(name, train, test):
    data = load_images(require(name))
    assert np.bincount(data.train_labels).tolist() == train
    assert np.bincount(data.test_labels).tolist() == test


def test_digits_are_those_of_scikit_learn_in_their_order():
    bundle, data = load_digits(), load_images("digits")
    assert np.array_equal(np.concatenate([data.train, data.test]).reshape(-1, 64), bundle.data)
    assert np.array_equal(np.concatenate([data.train_labels, data.test_labels]), bundle.target)


def test_mnist_is_read_as_its_header_says():
    data, folder = load_images(require("mnist")), catalogue.folder("mnist")
    raw = (folder / "t10k-images-idx3-ubyte").read_bytes()
    assert struct.unpack(">4I", raw[:16]) == (2051, 10_000, 28, 28)
    number, row, column = 1234, 14, 15
    assert data.test[number, 0, row, column] == raw[16 + 784 * number + 28 * row + column] > 0
    assert data.train_labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]


@pytest.mark.slow
def test_a_cifar_record_is_a_label_and_then_the_planes_red_green_blue():
    data, folder = load_images(require("cifar10")), catalogue.folder("cifar10")
    raw = (folder / "data_batch_2.bin").read_bytes()
    number, channel, row, column = 77, 1, 20, 9
    record = raw[3073 * number : 3073 * (number + 1)]
    assert data.train_labels[10_000 + number] == record[0]
    assert data.train[10_000 + number, channel, row, column] == record[1 + 1024 * channel + 32 * row + column]
    assert data.train_labels[0] == 6  # the first image is known to be a frog


def test_an_absent_set_is_one_sentence_and_not_counted_as_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"absent or damaged\): run `hier data cifar100`$"):
        load_images("cifar100")
    assert "cifar100" not in images.loaded


@pytest.mark.parametrize("center", [False, True])
def test_unit_norm_flattens_and_scales_every_image(center):
    pictures = np.random.default_rng(0).integers(0, 256, (5, 3, 4, 4), dtype=np.uint8)
    X = unit_norm(pictures, center)
    assert X.dtype == torch.float64
    for row, picture in zip(X.numpy(), pictures, strict=True):
        flat = [2 * int(pixel) / 255 - 1 if center else int(pixel) / 255 for pixel in picture.ravel()]
        assert np.allclose(row, np.array(flat) / sum(value**2 for value in flat) ** 0.5, rtol=1e-12)


@pytest.mark.slow
def test_two_classes_give_unit_rows_with_signs(name):
    X, y = two_class(name, 100, seed=0)
    pixels = np.prod(SHAPES[name][2:])
    assert X.shape == (100, pixels) and X.dtype == y.dtype == torch.float64
    assert (X.norm(dim=1) - 1).abs().max() < 1e-12
    assert set(y.tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("classes", [(0, 1), (1, 0), (3, 8)])
def test_the_first_class_is_plus_one_and_every_row_is_an_image_of_its_class(split, classes):
    X, y = two_class("digits", 40, seed=0, split=split, classes=classes)
    data = load_images("digits")
    pictures, labels = (data.train, data.train_labels) if split == "train" else (data.test, data.test_labels)
    nearest = (X @ unit_norm(pictures).T).max(dim=1)
    assert (nearest.values - 1).abs().max() < 1e-12
    assert [classes[0] if sign > 0 else classes[1] for sign in y] == labels[nearest.indices].tolist()


def test_the_seed_chooses_the_images():
    (X, y), (again, _), (other, _) = (two_class("digits", 50, seed) for seed in (0, 0, 1))
    assert torch.equal(X, again) and not torch.equal(X, other)
    smaller, labels = two_class("digits", 20, seed=0)
    assert torch.equal(X[:20], smaller) and torch.equal(y[:20], labels)  # a larger sample extends a smaller one


def test_asking_for_all_images_gives_each_once():
    data = load_images("digits")
    members = unit_norm(data.train[data.train_labels <= 1])
    X, _ = two_class("digits", len(members), seed=3)
    assert sorted(X.tolist()) == sorted(members.tolist())


def test_centering_reaches_the_rows():
    assert (two_class("digits", 10, seed=0)[0] >= 0).all()
    assert (two_class("digits", 10, seed=0, center=True)[0] < 0).all()  # digits are dark: at most 16 of 255


def test_more_images_than_there_are_is_one_sentence():
    there = int((load_images("digits").train_labels <= 1).sum())
    sentence = f"digits has {there} train images of the classes (0, 1), {there + 1} were asked for"
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        two_class("digits", there + 1, seed=0)


def test_cifar2_is_five_animals_against_the_rest():
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    positive = [kind for kind, sign in zip(names, cifar2(np.arange(10)), strict=True) if sign == 1]
    assert positive == ["bird", "cat", "deer", "dog", "horse"]
    assert set(cifar2(np.arange(10)).tolist()) == {-1, 1}


def test_near_duplicates_finds_a_parallel_and_an_antiparallel_pair_and_nothing_else():
    X = unit_sphere(30, 10, seed=0)
    X[20], X[11] = X[3], -X[5]
    X[7] = torch.nn.functional.normalize(X[8] + 1e-3 * X[9], dim=0)  # close, but not that close
    assert near_duplicates(X) == [(3, 20), (5, 11)]
