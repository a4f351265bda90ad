"""`hier` answers at once: at 44 pages within a second of CPU, and at 150 within one and a half."""

import re
import resource
from pathlib import Path

import pytest

from hierlib.lab.record import Check, Record
from hierlib.lab.selection import Request
from hierlib.lab.store import run_folder

PAGES = sorted((Path(__file__).parents[3] / "notebooks").glob("*/*.md"))
LIMITS = {44: 1.0, 150: 1.5}  # CPU seconds


def forge(project, job):
    """A run of the job as if it had been made."""
    folder = run_folder(project, job)
    folder.path.mkdir(parents=True)
    folder.notebook.write_text("{}")
    checks = [
        Check(name=f"check {i}", kind="check", value=0, relation="at_most", bound=1, holds=True, of=["a"]) for i in range(12)
    ]
    kept = {name: getattr(job, name) for name in ("page", "profile", "standard", "parameters", "data", "key")}
    made = {"numbers_key": "", "commit": "", "threads": 1, "versions": {}, "device": "cpu", "started": "", "seconds": 1}
    folder.seal(Record(**kept, **made, claims=[], checks=checks, verdicts={}, peak_mb=1, files={}))


@pytest.fixture(scope="module", params=LIMITS)
def tree(make_toy, request):
    """A project with that many pages: those of the book, several times over, each with a stored run."""
    toy = make_toy()
    toy.squares.unlink()
    claims = []
    for number in range(request.param):
        text = re.sub(r"Claim\(\"[^\"]*\"\)", f'Claim("toy/page{number}")', PAGES[number % len(PAGES)].read_text())
        (toy.root / "notebooks" / "toy" / f"page{number}.md").write_text(text)
        claims.append(
            f"  - {{id: page{number}, kind: lemma, place: p, says: s, priority: A, expected: holds, page: page{number}}}"
        )
    head = toy.registry.read_text().partition("claims:\n")[0]
    toy.registry.write_text(head + "claims:\n" + "\n".join(claims) + "\n")
    project, pages = toy.load()
    for page in pages.values():
        forge(project, Request("quick").job(project, page))
    return toy, LIMITS[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "list", "show toy/page1"])
def test_a_command_with_nothing_to_run_answers_at_once(tree, command):
    toy, limit = tree

    def cpu_seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = toy.hier(*command.split())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0 and (command != "run" or "up to date" in done.stdout), done.stderr
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cpu_seconds() for _ in range(3)) < limit
