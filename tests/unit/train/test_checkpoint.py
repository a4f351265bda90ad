"""Saved state is found by content, comes back as it was, and is either whole or not used."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from hierlib.train import checkpoint
from hierlib.train.checkpoint import Checkpoint, digest

STATE = {"epoch": 3, "weights": {"W": torch.arange(6.0).reshape(3, 2).mT}, "history": [{"loss": 0.5}], "gone": {1: (2, "a")}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(tmp_path / "kept"))
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    return tmp_path / "kept"


def test_a_state_comes_back_as_it_was(folder):
    Checkpoint("work", 1).save(STATE)
    found = Checkpoint("work", 1).load()
    assert torch.equal(found["weights"]["W"], STATE["weights"]["W"])
    assert found["weights"]["W"].stride() == STATE["weights"]["W"].stride(), "products of it round as before"
    assert {**found, "weights": None} == {**STATE, "weights": None}
    assert [path.suffix for path in folder.iterdir()] == [".pt"], "and nothing else lies there"


def test_other_work_has_another_file(folder):
    Checkpoint("work", 1).save(STATE)
    assert Checkpoint("work", 2).load() is None


def test_without_a_folder_nothing_is_saved(tmp_path, monkeypatch):
    monkeypatch.delenv("HIERLIB_CHECKPOINTS", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    saved = Checkpoint(object())  # whose content nobody needs to know
    saved.save(STATE)
    assert saved.load() is None and not list(tmp_path.iterdir())


def test_it_is_saved_every_half_minute_and_at_the_end_if_the_work_took_three_seconds(folder, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("HIERLIB_CHECKPOINTS", str(folder))
    clock = [100.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: clock[0])
    saved, times = Checkpoint("work"), []
    for second in range(75):
        clock[0] = 100.0 + second
        before = saved.saved
        saved.save({"second": second})
        times += [second] if saved.saved != before else []
    assert times == [30, 60] and Checkpoint("work").load() == {"second": 60}
    saved.save({"second": 74}, last=True)
    assert Checkpoint("work").load() == {"second": 74}
    Checkpoint("short").save({}, last=True)
    assert Checkpoint("short").load() is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_was_cut_is_not_used(folder, share):
    Checkpoint("work").save(STATE)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    assert Checkpoint("work").load() is None


def test_a_file_with_any_wrong_byte_is_not_used_and_is_replaced(folder):
    Checkpoint("work").save(STATE)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for place in range(0, len(whole), 37):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert Checkpoint("work").load() is None
    Checkpoint("work").save(STATE)
    assert Checkpoint("work").load()["epoch"] == 3


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\0" * 4096], ids=["nothing", "text", "zeros"])
def test_a_foreign_file_is_not_used(folder, content):
    folder.mkdir()
    Checkpoint("work").path.write_bytes(content)
    assert Checkpoint("work").load() is None


def test_a_folder_in_its_place_is_not_used(folder):
    Checkpoint("work").path.mkdir(parents=True)
    assert Checkpoint("work").load() is None


def test_objects_that_could_run_code_are_never_read(folder):
    Checkpoint("work").save({"harmful": partial(print, "run")})
    assert Checkpoint("work").load() is None


def scaled(factor):
    return lambda x: factor * x


def member(words):
    return lambda x: x in words


def counting_down():
    def count(n):
        return n and count(n - 1)

    return count


class Scaled(nn.Module):
    def __init__(self, factor: float):
        super().__init__()
        self.factor, self.layer = factor, nn.Linear(2, 2)
        nn.init.ones_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, x):
        return self.factor * self.layer(x)


def frozen() -> Scaled:
    module = Scaled(1.0)
    module.layer.bias.requires_grad_(False)
    return module


SAME = {
    "tensors": lambda: torch.arange(4.0),
    "tensors that are views": lambda: torch.arange(8.0).reshape(4, 2).T[0] / 2,
    "half precision": lambda: torch.ones((), dtype=torch.bfloat16),
    "arrays": lambda: np.arange(4000),
    "functions": lambda: scaled(2),
    "functions of sets": lambda: member(frozenset("abcdefgh")),
    "functions that call themselves": counting_down,
    "functions of torch": lambda: torch.relu,
    "partial functions": lambda: partial(scaled, 3),
    "methods": lambda: Scaled(1.0).layer.forward,
    "modules": lambda: Scaled(1.0),
    "numbers and names": lambda: (1, 2.0, None, True, "a", b"b", np.int64(3), torch.float32, torch.device("cpu")),
}


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_equal_content_has_equal_names(make):
    assert digest(make()) == digest(make())


DIFFERENT = {
    "values": (torch.zeros(4), torch.tensor([0, 0, 0, 1.0])),
    "shapes": (torch.zeros(4, 6), torch.zeros(6, 4)),
    "types": (torch.zeros(4), torch.zeros(4, dtype=torch.int32)),
    "grouping": ((1, (2, 3)), (1, 2, (3,))),
    "names": ({"a": 1}, {"b": 1}),
    "the middle of an array": (np.arange(4000), np.arange(4000) + (np.arange(4000) == 2000)),
    "what a function encloses": (scaled(2), scaled(3)),
    "what a function does": (lambda x: x + 1, lambda x: x - 1),
    "a constant of a function": (lambda x: x + 1, lambda x: x + 2),
    "an argument": (partial(scaled, 2), partial(scaled, 3)),
    "an attribute of a module": (Scaled(1.0), Scaled(2.0)),
    "what a module trains": (Scaled(1.0), frozen()),
    "an option of a module": (nn.Dropout(0.1), nn.Dropout(0.2)),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_different_content_has_different_names(one, other):
    assert digest(one) != digest(other)


def test_content_that_cannot_be_told_is_refused_in_one_sentence():
    with pytest.raises(TypeError, match=r"^a checkpoint is named by content, and that of a object is not known$"):
        digest(object())
