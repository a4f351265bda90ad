"""Where things are in a project, and the one kind of error that is the user's to mend."""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path


class UserError(Exception):
    """A mistake in what was asked or written: one sentence that names it and the choices. Exit code 2."""


class Project:
    """A folder with `book/claims/`, `notebooks/` and `requirements.lock`; results go below `_build/`."""

    def __init__(self, root: Path):
        self.root = root
        self.claims = root / "book" / "claims"
        self.notebooks = root / "notebooks"
        self.locks = (root / "requirements.lock", root / "requirements-torch.txt")  # torch is installed apart
        self.build = root / "_build"
        self.runs = self.build / "runs"
        self.failed = self.build / "failed"
        self.checkpoints = self.build / "checkpoints"  # of pages that were interrupted, by key
        self.meanings = self.build / "meanings.json"  # what `hier` has read of the package, to be faster the next time
        self.numbers = root / "tests" / "numbers"
        self.kept = root / "book" / "records"  # records of `paper` runs, committed with their provenance

    def relative(self, path: Path) -> str:
        """A path as the user would type it from the project's root."""
        return str(path.relative_to(self.root))


def find_project() -> Project:
    """The project around `HIERLIB_PROJECT`, else around the current folder."""
    here = Path(os.environ.get("HIERLIB_PROJECT") or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "book" / "claims").is_dir():
            return Project(folder)
    raise UserError("this is not inside the book's folder: no `book/claims/` here or above")


def nearest(word: str, choices: Iterable[str], what: str) -> str:
    """The end of a sentence: the nearest choice, or all of them when there are few, or how to see them."""
    options = list(choices)
    close = difflib.get_close_matches(word, options, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"the {what} are {', '.join(options)}" if len(options) <= 12 else f"`hier list` shows the {what}"
