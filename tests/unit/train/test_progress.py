import io

import pytest

from hierlib.train.progress import bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("name", "variable", "file", "shown"),
    [
        ("training", None, Terminal, True),
        ("training", "0", Terminal, True),
        ("training", "1", Terminal, False),
        (None, None, Terminal, False),
        ("training", None, io.StringIO, False),
    ],
    ids=["named", "not disabled", "disabled", "without a name", "no terminal"],
)
def test_a_bar_is_shown_if_it_has_a_name_and_somebody_watches(monkeypatch, name, variable, file, shown):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    if variable:
        monkeypatch.setenv("TQDM_DISABLE", variable)
    watched = file()
    with bar(name, total=2, file=watched) as steps:
        steps.update(2)
    assert ("training" in watched.getvalue()) == shown
