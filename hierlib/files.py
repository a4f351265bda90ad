"""Files that are either complete or not there."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: Path, accept: Callable[[Path], None] | None = None) -> Iterator[BinaryIO]:
    """Write under a temporary name beside `path`; it takes its own name only when complete, and accepted if asked.

    `accept` may raise to refuse the content. Whatever happens, no half-written file and no temporary one stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if accept:
            accept(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> bool:
    """Write a text file whole or not at all; leaves an equal file untouched. True when it changed."""
    content = text.encode()
    if path.is_file() and path.read_bytes() == content:
        return False
    with atomic_write(path) as file:
        file.write(content)
    return True
