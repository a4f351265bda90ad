"""Saved state of a training run, found by content.

    saved = Checkpoint("grid", trials, plan)      # everything that decides the result
    state = saved.load() or start
    ...                                           # after every epoch:
    saved.save(state)

The file is named by a digest of that content, so the same call finds its own state again and no other call does. It lies in
the folder that HIERLIB_CHECKPOINTS names; where that is not set, nothing is saved. A file begins with the digest of what
follows: a damaged one is recognised, and the work starts anew.
"""

import hashlib
import io
import os
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from numbers import Number
from pathlib import Path
from pickle import UnpicklingError
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, MethodType, NoneType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hierlib.files import atomic_write

SAVE_EVERY = 30.0  # seconds between two checkpoints
HEAD = hashlib.sha256().digest_size
PLAIN = (NoneType, Number, np.generic, str, bytes, slice, EllipsisType, torch.dtype, torch.device, torch.memory_format)


class Checkpoint:
    """The state of one run in a file of its own: a dict of tensors, numbers, strings, lists, tuples and dicts."""

    def __init__(self, *content: Any):
        folder = os.environ.get("HIERLIB_CHECKPOINTS")
        self.path = Path(folder) / f"{digest(torch.__version__, *content)}.pt" if folder else None
        self.saved = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The last saved state, on the CPU, or None where there is no file, or only a damaged one."""
        if self.path is None:
            return None
        try:
            file = self.path.read_bytes()
            if hashlib.sha256(file[HEAD:]).digest() != file[:HEAD]:
                return None
            state: dict[str, Any] = torch.load(io.BytesIO(file[HEAD:]), weights_only=True, map_location="cpu")
        except (OSError, UnpicklingError):  # not there; or whole, but with objects that could run code when they are read
            return None
        return state

    def save(self, state: dict[str, Any], last: bool = False) -> None:
        """Save if the last time was long ago, or the run is complete and took long enough to be worth a file."""
        if self.path is None or time.monotonic() - self.saved < SAVE_EVERY * (0.1 if last else 1):
            return
        buffer = io.BytesIO()
        torch.save(state, buffer)
        with atomic_write(self.path) as file:
            file.write(hashlib.sha256(buffer.getbuffer()).digest())
            file.write(buffer.getbuffer())
        self.saved = time.monotonic()


def digest(*content: Any) -> str:
    """32 hexadecimal digits that depend on the content: tensors by shape, type and values, modules by architecture and
    weights, functions by their code and what they enclose. Global variables that a function reads are not followed."""
    found = hashlib.sha256()
    for part in _parts(content, set()):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()[:32]


def _parts(value: Any, seen: set[int]) -> Iterator[bytes]:
    """What tells `value` from others, as bytes. `seen` holds functions on the way: one may enclose itself."""
    if isinstance(value, Tensor):
        yield repr((value.dtype, tuple(value.shape))).encode()
        yield value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    elif isinstance(value, np.ndarray):
        yield from (repr((value.dtype, value.shape)).encode(), value.tobytes())
    elif isinstance(value, nn.Module):
        yield repr(value).encode()
        for name, module in value.named_modules():
            plain = {key: entry for key, entry in vars(module).items() if isinstance(entry, (bool, int, float, str))}
            yield from _parts((name, type(module).forward, plain), seen)
        yield from _parts((value.state_dict(), {name: p.requires_grad for name, p in value.named_parameters()}), seen)
    elif isinstance(value, Mapping):
        yield from _parts([type(value).__name__, *value.items()], seen)
    elif isinstance(value, Set):
        yield repr(sorted(map(repr, value))).encode()
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        yield f"{type(value).__qualname__} of {len(value)}".encode()
        for entry in value:
            yield from _parts(entry, seen)
    elif isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords), seen)
    elif isinstance(value, MethodType):
        yield from _parts((value.__func__, value.__self__), seen)
    elif isinstance(value, FunctionType):
        yield f"{value.__module__}.{value.__qualname__}".encode()
        if id(value) not in seen:
            seen.add(id(value))
            enclosed = [cell.cell_contents for cell in value.__closure__ or ()]
            yield from _parts((value.__code__, value.__defaults__, value.__kwdefaults__, enclosed), seen)
    elif isinstance(value, CodeType):
        yield from _parts((value.co_code, value.co_consts, value.co_names), seen)
    elif isinstance(value, (type, BuiltinFunctionType)):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    elif isinstance(value, PLAIN):
        yield repr(value).encode()
    else:  # a printed form may hold an address, or the corners of an array
        raise TypeError(f"a checkpoint is named by content, and that of a {type(value).__name__} is not known")
