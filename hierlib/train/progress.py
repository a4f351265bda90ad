"""The bar that a trainer shows while it runs."""

import os
from typing import Any

from tqdm import tqdm


def bar(name: str | None, **options: Any) -> "tqdm[Any]":
    """A tqdm bar called `name`. Silent without a name, where TQDM_DISABLE is set, and where nobody watches (no terminal)."""
    silent = not name or os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    return tqdm(desc=name, disable=True if silent else None, leave=False, **options)
