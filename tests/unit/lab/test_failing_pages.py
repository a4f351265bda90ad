"""Pages that go wrong in one run with a page that does not: each is named with its reason, the good one is kept."""

import nbformat

UNDECLARED = "import sys, types\nsys.modules['hierlib.data.images'] = types.SimpleNamespace(loaded={'mnist'})"

PAGES = {
    "raises": ({"code": "x = 1 / 0"}, "toy/raises, code cell 2: ZeroDivisionError: division by zero"),
    "slips": ({"code": "x = = 0"}, "toy/slips, code cell 2: SyntaxError: invalid syntax"),
    "dies": ({"code": "import os\nos.kill(os.getpid(), 9)"}, "toy/dies: the kernel died"),
    "stays-open": ({"close": ""}, "toy/stays-open: the page never called claim.close()"),
    "loads": ({"code": UNDECLARED}, "toy/loads: it loads mnist, which its front matter does not list under data"),
    "mistaken": ({"code": "Claim('toy/squares')"}, "ValueError: this page is toy/mistaken, but its claim says toy/squares"),
}


def test_every_failing_page_is_named_with_its_reason_and_the_good_one_is_kept(toy):
    """One test, because one run shows it all."""
    for name, (content, _) in PAGES.items():
        toy.add_page(name, **content)
    done = toy.hier("run")
    assert done.returncode == 1
    assert f"1 run, {len(PAGES)} failed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    told = sorted(done.stderr.splitlines())  # they end in any order
    for (name, (_, reason)), line in zip(sorted(PAGES.items()), told, strict=True):
        assert line.startswith(f"failed: toy/{name}") and reason in line
        assert line.endswith(f" (partial notebook: _build/failed/toy/{name}.ipynb)")
        assert toy.records(name) == []
    partial = nbformat.read(toy.root / "_build/failed/toy/raises.ipynb", as_version=4)
    assert "ZeroDivisionError" in str([cell.get("outputs") for cell in partial.cells])
    assert toy.record()["verdicts"] == {"thm1": "holds"}
    assert list(toy.working.iterdir()) == [] and toy.processes() == []


def test_a_failing_run_leaves_the_last_good_one_stored(toy):
    toy.add_page("moody", "import os\nassert 'BAD_MOOD' not in os.environ")
    assert toy.hier("run", "toy/moody").returncode == 0
    (record,) = toy.records("moody")
    before = record.read_bytes()
    toy.environment["BAD_MOOD"] = "1"
    done = toy.hier("run", "toy/moody", "--force")
    assert done.returncode == 1 and "code cell 2: AssertionError" in done.stderr
    assert record.read_bytes() == before
