import os
import subprocess
import sys
from pathlib import Path

import pytest

from hierlib.files import atomic_write, write_text


@pytest.fixture(params=["old content", None], ids=["replacing", "new"])
def target(request, tmp_path) -> Path:
    """A file that exists already or does not; afterwards it must be as it was, with nothing beside it."""
    path = tmp_path / "target"
    if request.param is not None:
        path.write_text(request.param)
    return path


def everything_in(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_what_was_written_arrives_under_the_right_name_and_nothing_stays_beside_it(target):
    with atomic_write(target) as file:
        file.write(b"new ")
        file.write(b"content")
    assert everything_in(target.parent) == {"target": "new content"}


def test_readers_see_the_old_state_until_the_new_one_is_complete(target):
    before = target.exists() and target.read_text()
    with atomic_write(target) as file:
        file.write(b"half")
        file.flush()
        assert (target.exists() and target.read_text()) == before


def test_missing_folders_are_made(tmp_path):
    write_text(tmp_path / "a" / "b" / "file", "content")
    assert (tmp_path / "a" / "b" / "file").read_text() == "content"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_while_writing_leaves_everything_as_it_was(target, error):
    before = everything_in(target.parent)
    with pytest.raises(error), atomic_write(target) as file:
        file.write(b"half")
        raise error
    assert everything_in(target.parent) == before


def test_refused_content_leaves_everything_as_it_was(target):
    def accept(path: Path) -> None:
        assert path.read_bytes() == b"complete but wrong"  # what is judged is the whole file, already on disk
        raise ValueError("refused")

    before = everything_in(target.parent)
    with pytest.raises(ValueError, match="refused"), atomic_write(target, accept) as file:
        file.write(b"complete but wrong")
    assert everything_in(target.parent) == before


def test_accepted_content_arrives(target):
    with atomic_write(target, accept=lambda path: None) as file:
        file.write(b"right")
    assert target.read_text() == "right"


WRITE_ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from hierlib.files import write_text
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text(Path(sys.argv[1]), "x" * int(sys.argv[2]))
except OSError:
    print("refused")
"""


@pytest.mark.parametrize("size", [2_000, 200_000], ids=["refused at the flush", "refused at the write"])
def test_a_disk_that_refuses_leaves_everything_as_it_was(target, size):
    before = everything_in(target.parent)
    command = [sys.executable, "-c", WRITE_ON_A_FULL_DISK, str(target), str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stderr
    assert everything_in(target.parent) == before


def test_equal_content_leaves_the_file_untouched(tmp_path):
    path = tmp_path / "file"
    assert write_text(path, "grün\n")
    os.utime(path, (1, 1))
    assert not write_text(path, "grün\n")
    assert path.stat().st_mtime == 1


def test_other_content_replaces_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    assert write_text(path, "new")
    assert path.read_text() == "new"
