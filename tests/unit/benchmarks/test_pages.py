import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import pages
from tests.unit.benchmarks.conftest import ROOT

PAGE = """\
---
jupytext: {formats: "md:myst,ipynb"}
kernelspec: {name: python3, display_name: Python 3, language: python}
hier:
  smoke: {seconds: 0.3, names: [x, "y"]}
  paper: {seconds: 1000}
---
# A page

```{code-cell} ipython3
:tags: [parameters]
seconds: float = 100.0  # [0..]
names: list = ["a"]     # [..]
other: int = 3          # [0..]
```

```{code-cell} ipython3
import time
from IPython.display import display
start = time.process_time()
while time.process_time() < start + seconds:
    pass
print("nobody reads this")
display("nor this")
time.sleep(0.5)  # costs nothing
```

```{code-cell} ipython3
assert names == ["x", "y"] and other == 3
CHECK
```
"""


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "notebooks" / "toy").mkdir(parents=True)
    pieces = {"a": "import fractions; fractions.mark = 1", "b": "import fractions; assert not hasattr(fractions, 'mark')"}
    for name, check in (pieces | {"broken": "1 / 0"}).items():
        (tmp_path / "notebooks" / "toy" / f"{name}.md").write_text(PAGE.replace("CHECK", check))
    return tmp_path


def own_cells(project: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", ROOT / "benchmarks" / "own_cells.py", project, *names]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


def test_the_cells_alone_are_counted_with_the_parameters_of_smoke_and_each_page_for_itself(project):
    spent = json.loads(own_cells(project, "toy/a", "toy/b").stdout)
    assert list(spent) == ["toy/a", "toy/b"]
    assert all(0.3 <= seconds < 0.8 for seconds in spent.values())


def test_a_page_that_fails_is_named(project):
    done = own_cells(project, "toy/broken")
    assert done.returncode == 1 and done.stderr.strip().splitlines()[-1] == "toy/broken: ZeroDivisionError: division by zero"


def test_processes_that_outlive_their_parent_are_counted():
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    detached = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}], start_new_session=True)"
    script = f"""if True:
        import subprocess, sys
        from benchmarks import pages
        pages.hier = lambda *words: subprocess.run([sys.executable, "-c", {detached!r}], check=True)
        print(pages.of_the_run(None, []))
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert 0.5 <= float(done.stdout) < 1.5, done.stderr


def test_the_mean_is_what_the_run_costs_more_than_the_cells(project, monkeypatch):
    runs, cells = iter([99.0, 8.0, 9.0, 8.5]), iter([50.0, 1.0, 2.0, 1.5])
    monkeypatch.setattr(pages, "of_the_run", lambda *_: next(runs))
    monkeypatch.setattr(pages, "of_the_cells", lambda *_: next(cells))
    (result,) = pages.measure(project, ["toy/a", "toy/b"])
    assert result.measured == "3.50 s (4.25 s in all, 0.75 s its cells)"
    assert result.error == 0 and result.met is False


def test_all_pages_of_the_tree_are_the_default(project, monkeypatch):
    asked = []
    monkeypatch.setattr(pages, "of_the_run", lambda _, names: asked.append(names) or 9.0)
    monkeypatch.setattr(pages, "of_the_cells", lambda *_: 1.0)
    list(pages.measure(project, []))
    assert asked[0] == ["toy/a", "toy/b", "toy/broken"]


def test_an_unknown_page_is_refused_before_anything_runs(project):
    with pytest.raises(ValueError, match=r"^no page toy/c in "):
        list(pages.measure(project, ["toy/c"]))
