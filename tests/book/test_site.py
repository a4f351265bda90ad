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
NAMES = [TOC["root"]] + [chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]]
PAGES = [name for name in NAMES if name.startswith("notebooks/")]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_without_complaint_and_without_another_host(visit, name):
    page = visit.open(name)
    assert visit.complaints == [] and visit.strangers == []
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
    assert page.locator(".hl-verdict tbody tr").count() >= 2
    assert page.locator(".hl-verdict", has_text="fails, as it must").count() == 1
    assert "Run at profile" in page.inner_text(".hl-run")


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
    everything = shown()
    assert everything > 200
    page.select_option("#hl-paper", "rnn")
    assert 0 < shown() < everything
    assert set(page.eval_on_selector_all("#hl-ledger tbody tr:not([hidden])", "rows => rows.map(r => r.dataset.paper)")) == {
        "rnn"
    }
    page.select_option("#hl-paper", "")
    page.select_option("#hl-verdict", "holds")
    assert 0 < shown() < everything
    page.select_option("#hl-verdict", "")
    page.fill("#hl-words", "gram matrix")
    assert 0 < shown() < everything and page.input_value("#hl-words") == "gram matrix"
    assert page.inner_text("#hl-count") == f"{shown()} of {everything} claims"
    page.fill("#hl-words", "")
    page.click("th button:has-text('claim')")
    first = page.inner_text("#hl-ledger tbody tr:first-child td:first-child")
    page.click("th button:has-text('claim')")
    assert page.inner_text("#hl-ledger tbody tr:first-child td:first-child") != first
    page.click("th button:has-text('margin')")
    margins = page.eval_on_selector_all(
        "#hl-ledger tbody td:nth-child(6)", "cells => cells.map(c => parseFloat(c.textContent))"
    )
    known = [m for m in margins if m == m]
    assert known == sorted(known) and margins[: len(known)] == known, "rows without a number stay last"


def test_the_search_finds_a_page(visit):
    visit.page.goto(f"{visit.site}/search.html?q=eigenvector")
    visit.page.wait_for_selector("#search-results li a")
    assert "fig1" in " ".join(visit.page.eval_on_selector_all("#search-results li a", "links => links.map(a => a.href)"))


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
