"""What a reader meets: formulas, figures, downloads, the ledger's filter, the search, a phone, the dark."""

import csv
import html
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [chapter for part in TOC["parts"] for chapter in part["chapters"]]
NAMES = [TOC["root"]] + [f["file"] for chapter in CHAPTERS for f in (chapter, *chapter.get("sections", []))]
PAGES = [name for name in NAMES if name.startswith("notebooks/")]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_complaint_and_without_another_host(visit, name):
    page = visit.open(name)
    assert visit.complaints == [] and visit.strangers == []
    scroll_through(page)
    text = page.inner_text("article")
    assert not re.search(r"\\\(|\\\[|\$\$", text), "a formula was left as source"
    broken = page.evaluate("[...document.images].filter(i => i.loading !== 'lazy' && !i.naturalWidth).map(i => i.src)")
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_claim_figures_and_verdict(visit, name):
    page = visit.open(name)
    assert page.locator("div.proof").count() >= 1
    assert page.locator("mjx-container").count() >= 5
    assert page.locator("figure img").count() >= 1
    assert page.locator(".hl-answer .hl-badge").count() >= 1
    assert page.locator(".hl-verdict tbody tr").count() >= 2
    assert page.locator(".hl-verdict", has_text="fails").count() == 1, "an opponent or a control"
    assert "Run at profile" in page.inner_text(".hl-run")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_answers_and_shows_before_it_proves(visit, name):
    page = visit.open(name)
    top = page.evaluate("document.querySelector('figure img, .hl-interactive').getBoundingClientRect().top + scrollY")
    assert top < 1200, "the first picture begins within a screen and a half"
    assert page.locator(".hl-answer", has_text="Answer.").count() == 1
    assert [i["src"] for i in images(page) if len(i["alt"]) < 40] == [], "alt texts are written, not made from names"
    assert (SITE / f"{name}.html").stat().st_size < 600_000


def images(page):
    return page.eval_on_selector_all("figure img", "all => all.map(i => ({src: i.src, alt: i.alt}))")


def scroll_through(page):
    """Formulas of long tables are set when they come into view."""
    if page.locator("table.hl-lazy").count():
        page.evaluate("document.querySelectorAll('table.hl-lazy tr').forEach(r => r.classList.add('tex2jax_process'))")
        page.evaluate("MathJax.typesetPromise([...document.querySelectorAll('table.hl-lazy tr')])")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_offers_its_executed_notebook_and_its_plotted_data(visit, name, tmp_path):
    page = visit.open(name)
    for index in range(page.locator("p.hl-data a").count()):
        with page.expect_download() as arriving:
            page.locator("p.hl-data a").nth(index).click()
        arriving.value.save_as(tmp_path / "data.csv")
        rows = list(csv.reader((tmp_path / "data.csv").open()))
        assert rows[0] == ["panel", "series", "x", "y"] and len(rows) > 10
    assert page.locator("figure img").count() == page.locator("p.hl-data a").count()
    source = page.locator("a.btn-download-source-button").get_attribute("href")
    notebook = json.loads((SITE / name).parent.joinpath(source).resolve().read_text())
    assert source.endswith(".ipynb") and any(cell.get("outputs") for cell in notebook["cells"])


def test_the_ledger_filters_and_sorts(visit):
    page = visit.open("book/ledger")
    shown = lambda: page.locator("#hl-ledger tbody tr:visible").count()  # noqa: E731
    tested = shown()
    page.select_option("[name=tested]", "")
    everything = shown()
    assert everything > 200 and 0 < tested < everything, "tested claims come first"
    page.select_option("[name=paper]", "rnn")
    assert 0 < shown() < everything
    assert set(page.eval_on_selector_all("#hl-ledger tbody tr:not([hidden])", "rows => rows.map(r => r.dataset.paper)")) == {
        "rnn"
    }
    page.select_option("[name=paper]", "")
    page.select_option("[name=verdict]", "holds")
    assert 0 < shown() < everything
    page.select_option("[name=verdict]", "")
    page.fill("[name=words]", "gram matrix")
    found = shown()
    assert 0 < found < everything and page.inner_text("form output") == f"{found} of {everything} claims"
    page.reload()
    assert shown() == found and page.input_value("[name=words]") == "gram matrix", "the address keeps the filter"
    page.fill("[name=words]", "")
    page.click("th button:has-text('claim')")
    first = page.inner_text("#hl-ledger tbody tr:first-child td:first-child")
    page.click("th button:has-text('claim')")
    assert page.inner_text("#hl-ledger tbody tr:first-child td:first-child") != first
    page.click("th button:has-text('time')")
    cells = "#hl-ledger tbody td:nth-child(6)"
    times = page.eval_on_selector_all(cells, "cells => cells.map(c => parseFloat(c.textContent))")
    known = [m for m in times if m == m]
    assert known == sorted(known) and times[: len(known)] == known, "rows without a number stay last"
    widths = "['#hl-ledger', 'article'].map(s => document.querySelector(s).scrollWidth)"
    table, column = page.evaluate(widths)
    assert table <= column, "no column is cut off"


def test_the_ledger_is_there_within_a_second(visit):
    """On a busy machine: in the time of a few plain pages."""

    def milliseconds(name):
        visit.page.goto(f"{visit.site}/book/{name}.html", wait_until="domcontentloaded")
        return visit.page.evaluate("performance.now()")

    milliseconds("reading")  # what all pages share is in the browser's cache now
    plain, ledger = (min(milliseconds(name) for _ in range(3)) for name in ("reading", "ledger"))
    assert ledger < max(1000, 4 * plain)


def test_the_errata_can_be_narrowed_down(visit):
    page = visit.open("book/errata")
    shown = lambda: page.locator(".hl-erratum:visible").count()  # noqa: E731
    everything = shown()
    page.select_option("[name=class]", "gap")
    assert 0 < shown() < everything and "class=gap" in page.url


def test_every_card_of_the_gallery_leads_to_its_figure():
    cards = re.findall(r"class='hl-card' href='\.\./([^'#]+)#([^']+)'", (SITE / "book" / "gallery.html").read_text())
    dead = [f"{page}#{name}" for page, name in cards if f'id="{name}"' not in (SITE / page).read_text()]
    assert len(cards) > 40 and dead == []


def test_the_search_finds_a_page(visit):
    visit.page.goto(f"{visit.site}/search.html?q=eigenvector")
    visit.page.wait_for_selector("#search-results li a")
    assert "fig1" in " ".join(visit.page.eval_on_selector_all("#search-results li a", "links => links.map(a => a.href)"))


def test_the_search_for_a_theorem_finds_its_own_page_first(visit):
    visit.page.goto(f"{visit.site}/search.html?q=Theorem+4.1")
    visit.page.wait_for_selector("#search-results li a")
    first = visit.page.locator("#search-results li a").first.get_attribute("href")
    assert "fine-grained/thm4.1" in first
    visit.page.wait_for_selector("#search-results li p.context")
    said = " ".join(visit.page.locator("#search-results li p.context").all_inner_texts())
    assert not re.search(r"\.ipynb|import |\\\\\(", said), "snippets are prose"


@pytest.mark.parametrize("visit", [(390, 844)], indirect=True)
@pytest.mark.parametrize("name", [TOC["root"], "book/ledger", *PAGES])
def test_a_phone_can_read_it(visit, name):
    page = visit.open(name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing sticks out at the side"
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)") >= 14


def test_it_can_be_read_in_the_dark(visit):
    visit.page.emulate_media(color_scheme="dark")
    page = visit.open(PAGES[0])
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", paper)[:3])) < 200
    assert "invert" in page.evaluate("getComputedStyle(document.querySelector('figure img')).filter")


def test_a_page_opens_from_the_disk_too(browser):
    page = browser.new_page()
    page.goto((SITE / f"{PAGES[0]}.html").as_uri())
    page.wait_for_selector("mjx-container")
    page.close()


def test_every_link_inside_the_book_leads_somewhere():
    dead = []
    for path in (path for path in SITE.rglob("*.html") if "_static" not in path.parts):
        for link in re.findall(r"""(?:href|src)=["']([^"'#?]+)""", path.read_text()):
            link = unquote(html.unescape(link))
            if not re.match(r"[a-z]+:|//", link) and not (path.parent / link).exists():
                dead.append(f"{path.relative_to(SITE)}: {link}")
    assert dead == []
