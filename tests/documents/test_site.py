"""The documentation site: built without a warning, its links lead somewhere, and it asks no other host for anything."""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import dagora
from tests.conftest import ROOT

PATIENCE = 600
TAGS = re.compile(r"<([a-z][a-z0-9-]*)((?:\s+[\w:@.-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?)+)\s*/?>")
ATTRIBUTES = re.compile(r"([\w:@.-]+)=(?:\"([^\"]*)\"|'([^']*)')")
# A link that a reader may follow, as opposed to what a browser loads by itself.
FOLLOWED = {"a"}
# Of <link>: what names another page and is not loaded.
NAMED_ONLY = {"index", "search", "next", "prev", "canonical", "author", "help", "copyright"}


def tags(page: str) -> list[tuple[str, dict[str, str]]]:
    """Every tag of a page that has attributes."""
    return [
        (name, {key: unescape(double or single) for key, double, single in ATTRIBUTES.findall(attributes)})
        for name, attributes in TAGS.findall(page)
    ]


def elsewhere(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in {"http", "https", "ftp", "ws", "wss"}


def loaded(name: str, attributes: dict[str, str]) -> list[str]:
    """What a browser loads for a tag without being asked."""
    if name in FOLLOWED or (name == "link" and attributes.get("rel") in NAMED_ONLY):
        return []
    sets = [part.split()[0] for part in attributes.get("srcset", "").split(",") if part.split()]
    return sets + [
        attributes[key] for key in ("src", "href", "data", "poster", "action") if key in attributes
    ]


def problems(site: Path) -> list[str]:
    """Dead links, missing targets within pages, and whatever would be fetched from another host."""
    files = [
        file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts
    ]  # those are the theme's
    pages = {file: tags(file.read_text(encoding="utf-8")) for file in files}
    targets = {
        file: {a[key] for _, a in found for key in ("id", "name") if key in a}
        for file, found in pages.items()
    }
    found = []
    for file, known in pages.items():
        for name, attributes in known:
            found += [
                f"{file.name} loads {address}" for address in loaded(name, attributes) if elsewhere(address)
            ]
            for address in (attributes.get("href"), attributes.get("src")):
                if address is None or urlsplit(address).scheme or elsewhere(address):
                    continue
                parts = urlsplit(address)
                target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
                if not target.is_file():
                    found.append(f"{file.name} links to {address}, which is not there")
                elif parts.fragment and target in targets and unquote(parts.fragment) not in targets[target]:
                    found.append(f"{file.name} links to {address}: no such place on that page")
    for file in site.rglob("*.css"):
        asked = re.findall(
            r"(?:url\(|@import\s+)\s*['\"]?((?:https?:)?//[^'\")\s]+)", file.read_text(encoding="utf-8")
        )
        found += [f"{file.name} loads {address}" for address in asked]
    return found


def test_the_site(tmp_path: Path) -> None:
    """One test, because building takes most of its time."""
    for package in ("sphinx", "myst_parser", "pydata_sphinx_theme"):
        pytest.importorskip(package, reason="the documentation site needs the extra 'docs'")
    site = tmp_path / "site"
    built = subprocess.run(
        [sys.executable, str(ROOT / "building" / "site.py"), str(site)], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"},
        capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert built.stderr + built.stdout == ""
    assert problems(site) == []
    documents = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    unbuilt = [d for d in documents if not (site / d.relative_to(ROOT).with_suffix(".html")).is_file()]
    assert unbuilt == []
    explained = "".join(file.read_text(encoding="utf-8") for file in (site / "docs" / "api").glob("*.html"))
    assert [name for name in dagora.__all__ if f'id="dagora.{name}"' not in explained] == []


def test_problems_are_seen(tmp_path: Path) -> None:
    (tmp_path / "one.css").write_text(
        "@import url('https://fonts.example/a.css'); b { background: url(x.png) }"
    )
    (tmp_path / "other.html").write_text('<h1 id="top">Other</h1>')
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org/paper">may be followed</a> <a href="other.html#top">fine</a>'
        '<a href="other.html#below">b</a> <a href="none.html">n</a> <img alt="a > b" src="//example.org/a.png"/>'
        '<script src="https://example.org/a.js" defer></script> <link rel="next" href="other.html">'
        '<link rel="stylesheet" href="https://example.org/a.css"> <img srcset="https://example.org/b.png 2x">'
    )
    assert problems(tmp_path) == [
        "page.html links to other.html#below: no such place on that page",
        "page.html links to none.html, which is not there",
        "page.html loads //example.org/a.png",
        "page.html loads https://example.org/a.js",
        "page.html loads https://example.org/a.css",
        "page.html loads https://example.org/b.png",
        "one.css loads https://fonts.example/a.css",
    ]
