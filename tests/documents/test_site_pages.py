"""What pages of the site say is held against the library: methods, numbers of papers, lines for users of R, pictures."""

import importlib.util
import re
from pathlib import Path

import pytest

import dagora
from dagora.learners.registry import METHODS
from dagora.papers.registry import ITEMS
from dagora.posterior.registry import SAMPLERS
from dagora.scores.registry import SCORES
from tests.conftest import ROOT

DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def table_rows(text: str) -> list[list[str]]:
    """Cells of all rows of all tables, the rulers left out."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


# Words in backticks on the page that are neither methods nor samplers nor scores.
OTHER_WORDS = {"score", "tests", "alpha", "mixed", "cells"}


def test_which_method_names_every_method_and_no_other() -> None:
    text = page("which-method.md")
    listed = {row[0].strip("`"): row[1:] for row in table_rows(text.partition("## Every method")[2])}
    listed.pop("method")
    listed.pop("sampler (dagora sample)", None) or listed.pop("sampler (`dagora sample`)")
    assert sorted(listed) == sorted([m.name for m in METHODS] + [s.name for s in SAMPLERS])
    known = {entry.name for entry in (*METHODS, *SAMPLERS, *SCORES)}
    assert set(re.findall(r"`([a-z0-9][a-z0-9-]*)`", text)) - known - OTHER_WORDS == set()
    assert {score.name for score in SCORES} <= set(re.findall(r"`([a-z0-9-]+)`", text.partition("## 4.")[0]))
    words = {"dag": "DAG", "cpdag": "class", "pag": "PAG"}
    for method in METHODS:
        works_on, returns, _ = listed[method.name]
        assert returns == words[method.returns] + " in time" * method.in_time, method.name
        on_scores = method.takes in {"score", "candidates"}
        assert works_on == ("tests" if method.by_tests else "score" if on_scores else "its own") or (
            (method.name, works_on) == ("vote", "its own or score")
        )


def test_the_picture_of_the_page_names_methods_too() -> None:
    drawn = re.findall(r'font-weight="bold" fill="#0b6e4f">([^<]+)<', page("which-method.svg"))
    assert len(drawn) == 16
    known = {entry.name for entry in (*METHODS, *SCORES)}
    commands = {"dagora sample", "dagora federate", "dagora private", "any method"}
    named = {name for text in drawn for name in text.removesuffix(": proved").split(", ")}
    assert named - known - commands == set()


@pytest.mark.parametrize("name", sorted({item.name.partition("/")[0] for item in ITEMS}))
def test_a_paper_has_its_page_with_numbers_of_the_measured_ones(name: str) -> None:
    text = page(f"papers/{name}.md")
    measured = {item.name.replace("/", "-") for item in ITEMS if item.name.startswith(f"{name}/")}
    assert measured <= set(re.findall(r"^\.\./reproductions/(\S+)$", text, re.MULTILINE))
    rows = table_rows(text)[1:]
    assert len(rows) >= 4
    for _, paper, here, source in rows:
        known = re.sub(r" +", " ", page("papers/" + re.search(r"\((.+)\)", source)[1]))
        assert f"| {here} |" in known or f" {here} (" in known, here
        assert paper == "none" or f"| {paper} |" in known, paper
    assert f"({name}.md)" in page("papers/index.md")


def test_every_measured_page_belongs_to_a_paper() -> None:
    listed = [
        line for file in (DOCS / "papers").glob("*.md")
        for line in re.findall(r"^\.\./reproductions/(\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]  # fmt: skip
    assert sorted(listed) == sorted(file.stem for file in (DOCS / "reproductions").glob("*.md"))


def test_the_glossary_is_sorted_and_short() -> None:
    entries = re.findall(
        r"^(\S.*)\n((?:  \S.*\n)+)", page("glossary.md").partition(":::{glossary}\n")[2], re.MULTILINE
    )
    terms = [term for term, _ in entries]
    assert len(terms) >= 40
    assert terms == sorted(terms, key=str.lower)
    assert all(len(words) < 350 for _, words in entries)


def test_the_reference_has_every_public_name_once() -> None:
    texts = [file.read_text(encoding="utf-8") for file in (DOCS / "api").glob("*.rst")]
    named = re.findall(r"^\.\. auto\w+:: dagora\.(\w+)$", "\n".join(texts), re.MULTILINE)
    assert sorted(named) == dagora.__all__


def test_lines_for_users_of_r(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of r-users.md, line by line in the order of the page."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = page("r-users.md")
    exec(re.search(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[1], names)
    lines = [row[2] for row in table_rows(text) if row[2] != "dagora"]
    assert len(lines) >= 30
    for line in lines:
        exec(line.strip("`"), names)
    assert {file.name for file in tmp_path.iterdir()} == {"net.bif", "dag.svg"}


def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "building" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PICTURES


PICTURES = gallery()
TAKE_LONGER = {"cpdag", "posterior"}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * (name in TAKE_LONGER)) for name in PICTURES
])  # fmt: skip
def test_a_picture_of_the_gallery_is_what_is_drawn_today(name: str) -> None:
    """But for digits, which may differ from one kind of processor to another."""
    kept = page(f"gallery/{name}.svg")
    assert re.sub(r"[\d.]+", "", PICTURES[name]()) == re.sub(r"[\d.]+", "", kept)
    assert len(kept) < 30_000
    assert f"](gallery/{name}.svg)" in page("gallery.md")
