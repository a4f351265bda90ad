"""An interactive figure is one piece of HTML that carries all it needs. (tests/book runs the two that there are.)"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import hierlib
from hierlib.figures.interactive import charts, choices, csv_link, digits, interactive, readings, slider

PACKAGE = Path(hierlib.__file__).parent
SCRIPTS, STYLES = sorted(PACKAGE.rglob("*.js")), sorted(PACKAGE.rglob("*.css"))


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_a_script_is_javascript(script):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine: install it (Debian: apt-get install nodejs) to have the scripts parsed")
    done = subprocess.run([node, "--check", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SCRIPTS + STYLES, ids=name_of)
def test_a_script_or_a_style_belongs_to_the_module_of_its_name(path):
    assert path.with_suffix(".py").is_file()


@pytest.mark.parametrize("path", SCRIPTS + STYLES, ids=name_of)
def test_nothing_comes_from_elsewhere_and_nothing_ends_its_element(path):
    text = re.sub(r"^//.*|\s// .*", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert not re.search(r"https?:|//[a-z]|\bsrc=|@import|url\(|\bimport\b|\bfetch\b|</?(script|style)", text)


@pytest.fixture
def page(tmp_path):
    """The figure of a made-up module my_dots.py."""
    (tmp_path / "my_dots.js").write_text("eachFigure('hl-my-dots', draw);\n")
    (tmp_path / "my_dots.css").write_text(".hl-my-dots { color: red; }\n")
    return interactive(
        tmp_path / "my_dots.py", {"name": "a </script> & b", "x": [1.5, 2]}, "<p>body</p>", "Look below."
    ).data


def test_the_numbers_are_inside_and_cannot_end_their_element(page):
    numbers = json.loads(re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)[1])
    assert numbers == {"name": "a </script> & b", "x": [1.5, 2]} and page.count("</script>") == 2


def test_the_script_stands_after_the_shared_one_inside_one_function(page):
    script = re.search(r"<script>\(\(\) => \{\n(.*)\}\)\(\);</script>$", page, re.DOTALL)[1]
    assert script == (PACKAGE / "figures/interactive.js").read_text(encoding="utf-8") + "eachFigure('hl-my-dots', draw);\n"


def test_the_look_is_the_shared_one_and_then_its_own(page):
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)[1]
    assert style == (PACKAGE / "figures/interactive.css").read_text(encoding="utf-8") + ".hl-my-dots { color: red; }\n"


def test_a_reader_without_scripts_sees_no_dead_sliders_and_is_told(page):
    assert "<div class='hl-interactive hl-my-dots' hidden>" in page and "<noscript><p>Look below.</p></noscript>" in page


def test_numbers_keep_as_many_digits_as_asked():
    assert digits([1 / 3, 123456, -2e-7 / 3], 3) == [0.333, 123000, -6.67e-8]


def test_a_slider_is_a_native_one_inside_its_label():
    assert slider("a < b", "max='3'") == (
        "<label><span>a &lt; b</span><input type='range' min='0' max='3' autocomplete='off'><output></output></label>"
    )


def test_a_choice_is_a_button_and_its_name_is_only_text():
    assert choices("Start", ["one", "<b>"]).count("<button type='button'>") == 2
    assert "<b>" not in choices("Start", ["<b>"])


def test_charts_have_room_for_the_shared_axes_and_a_role_for_those_who_cannot_see():
    assert charts("one", "two").count("<svg viewBox='0 0 420 290' role='img'></svg>") == 2
    assert re.findall(r"<figcaption>(\w+)", charts("one", "two")) == ["one", "two"]


def test_readings_are_announced_and_named_for_the_script():
    assert readings({"half": "k"}) == "<dl aria-live='polite'><div><dt>k =</dt><dd data-of='half'></dd></div></dl>"


def test_the_link_names_the_file():
    assert csv_link("dots", "Data") == "<a href='#' download='dots.csv'>Data (CSV)</a>"
