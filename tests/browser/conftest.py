"""One browser for all tests of this folder, and pages that must not complain or ask for anything."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def find_chromium() -> str | None:
    """The browser named by DAGORA_CHROMIUM, or one on the search path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("DAGORA_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once; nothing is downloaded."""
    path = find_chromium()
    if path is None:
        pytest.skip("needs Chromium: put it on the search path, or name it by DAGORA_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def opened(browser) -> Iterator[Callable]:
    """Opens a report; at the end, no error may have been said and no request may have left the page."""
    contexts, complaints, requests = [], [], []

    def go(file: Path, anchor: str = "", **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri() + anchor)
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
