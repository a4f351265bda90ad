"""The shell of the interactive figures of the book: one piece of HTML with its numbers, its look and its script.

Such a figure needs no kernel, no server and no network, and a downloaded notebook keeps it. The figure of a module `x.py`
has its script in `x.js` and its look in `x.css` beside it; what all of them share is in interactive.js and interactive.css.
"""

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.display import HTML


def interactive(module: Path, numbers: object, body: str, instead: str) -> "HTML":
    """The figure of the module at that path, whose root element has the class `hl-x` for `x.py`.

    The script of the figure finds the numbers as JSON; `instead` tells a reader without scripts where to look.
    """
    from IPython.display import HTML

    style, script = (_beside(Path(__file__), suffix) + _beside(module, suffix) for suffix in (".css", ".js"))
    data = json.dumps(numbers, separators=(",", ":")).replace("<", "\\u003c")
    name = f"hl-interactive hl-{module.stem.replace('_', '-')}"
    return HTML(
        f"<style>{style}</style><div class='{name}' hidden><script type='application/json'>{data}</script>{body}</div>"
        f"<noscript><p>{instead}</p></noscript><script>(() => {{\n{script}}})();</script>"
    )


def _beside(module: Path, suffix: str) -> str:
    return module.with_suffix(suffix).read_text(encoding="utf-8")


def digits(numbers: Iterable[float], count: int) -> list[float]:
    """The numbers to `count` digits: half the bytes of all of them, and more than anyone can see."""
    return [float(f"{float(number):.{count}g}") for number in numbers]


def slider(name: str, attributes: str) -> str:
    """A native slider from 0 inside its label, with room for its value; `attributes` say where it ends and stands."""
    field = f"<input type='range' min='0' {attributes} autocomplete='off'>"
    return f"<label><span>{html.escape(name)}</span>{field}<output></output></label>"


def choices(title: str, names: Iterable[str]) -> str:
    """A row of buttons, one per name."""
    buttons = "".join(f"<button type='button'>{html.escape(name)}</button>" for name in names)
    return f"<p class='hl-presets'>{title}: {buttons}</p>"


def charts(*captions: str) -> str:
    """Empty charts of 420 x 290 side by side, on a phone below each other, with their captions (HTML)."""
    empty = "<svg viewBox='0 0 420 290' role='img'></svg>"
    figures = (f"<figure>{empty}<figcaption>{caption}</figcaption></figure>" for caption in captions)
    return f"<div class='hl-charts'>{''.join(figures)}</div>"


def readings(names: dict[str, str]) -> str:
    """A line of numbers, empty yet: by what the script calls them, the words before them (HTML)."""
    fields = (f"<div><dt>{words} =</dt><dd data-of='{of}'></dd></div>" for of, words in names.items())
    return f"<dl aria-live='polite'>{''.join(fields)}</dl>"


def csv_link(name: str, words: str) -> str:
    """The link at which the script hands out what is drawn, as a file of that name."""
    return f"<a href='#' download='{name}.csv'>{words} (CSV)</a>"
