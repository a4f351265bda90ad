"""The built site in a real browser, served from this machine; nothing outside it can be reached."""

import csv
import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "_build" / "html"
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def site():
    """The address of the built book."""
    if not (SITE / "index.html").exists():
        pytest.skip("the book is not built: run `make book`")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on this machine: install it (Debian: apt-get install chromium) to run the browser tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield running
        running.close()


class Visit:
    """An open page and everything it complained about or asked another host for."""

    def __init__(self, page, site):
        self.page, self.site, self.complaints, self.strangers = page, site, [], []
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        page.on("response", lambda answer: self.complaints.append(answer.url) if answer.status >= 400 else None)
        page.on("request", lambda r: None if r.url.startswith((site, "data:")) else self.strangers.append(r.url))

    def open(self, name):
        self.page.goto(f"{self.site}/{name}.html")
        self.page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        self.page.evaluate("MathJax.startup.promise")
        return self.page


@pytest.fixture
def visit(browser, site, request):
    """Open pages at a desktop's size, or at the (width, height) given as the fixture's parameter."""
    width, height = getattr(request, "param", (1280, 900))
    context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
    yield Visit(context.new_page(), site)
    context.close()


class Interactive:
    """The interactive figure of an open page: what it says, and what it hands out."""

    def __init__(self, page, folder):
        self.page, self.folder = page, folder

    def readings(self):
        """The numbers below the charts, by what the script calls them; not rounded."""
        read = "all => all.map(e => [e.dataset.of, parseFloat(e.dataset.value)])"
        return dict(self.page.eval_on_selector_all(".hl-interactive dd", read))

    def rows(self):
        """The rows of the CSV that the figure offers, without the header."""
        with self.page.expect_download() as arriving:
            self.page.click(".hl-interactive a[download]")
        arriving.value.save_as(self.folder / "figure.csv")
        header, *rows = csv.reader((self.folder / "figure.csv").open())
        assert header == ["panel", "series", "x", "y"]
        return rows


@pytest.fixture
def alone(browser, tmp_path):
    """Show a piece of HTML on an empty page, as its interactive figure; the page must not complain."""
    pages, complaints = [], []

    def show(html):
        pages.append(browser.new_page())
        pages[-1].on("pageerror", lambda error: complaints.append(str(error)))
        pages[-1].set_content(html)
        return Interactive(pages[-1], tmp_path)

    yield show
    for page in pages:
        page.close()
    assert complaints == []


@pytest.fixture
def visited(visit, tmp_path):
    """Open a page of the book, as its interactive figure; the page must not complain nor ask another host."""
    yield lambda name: Interactive(visit.open(name), tmp_path)
    assert visit.complaints == [] and visit.strangers == []
