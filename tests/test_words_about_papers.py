"""Reproduction pages state their size first, and “as published” is said only of what is.

Of a method: one that has the option `published`, with which it is the paper's algorithm. Of anything else: a
sentence that is listed here with the reason why it is true.
"""

import re
from pathlib import Path

import pytest

from dagora.method_registry import METHODS
from dagora.papers.registry import ITEMS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reproductions"
PAGES = {item.name.replace("/", "-"): item for item in ITEMS}
GUIDES = {"rbnets"}  # written by hand, on several pages together


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.stem)
def test_a_page_states_its_size_in_its_first_line(page: Path) -> None:
    first, _, command = page.read_text(encoding="utf-8").splitlines()[:3]
    if page.stem in GUIDES:
        assert re.search(r"\b(quick|full) size\b", first)
        return
    item = PAGES[page.stem]
    full = command.strip("`").endswith(" --full")
    assert command.startswith(f"`dagora reproduce {item.name}")
    assert f"({item.size(full=full)}" in first
    incomplete = re.search(r"\*\*Incomplete: (.+)\.\*\*", page.read_text(encoding="utf-8"))
    assert first.endswith(f"; {incomplete[1]})" if incomplete else f"{item.size(full=full)})")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_size_is_a_number(item) -> None:
    for full in (False, True):
        assert re.search(r"\d", item.size(full=full))


WORDS = re.compile(r"\bas (?:published|printed|the paper did it)\b|\bto the letter\b", re.IGNORECASE)
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
# File, words around, and why it is true: a method with the option, or a reason that needs none.
ALLOWED = [
    ("CHANGELOG.md", "Reinforcement learning over orders, as published", "rbnets"),
    ("docs/reproductions.md", "RBNets as published, with other states and rewards", "rbnets"),
    ("docs/reproductions.md", "ADMM (ours, and as published)", "admm"),
    ("docs/reproductions.md", "is algorithm 1 as printed, `admm published=true`", "admm"),
    (
        "docs/reproductions/admm-privacy.md",
        "As published, the coordinator is sent B_k",
        "equation 5 and algorithm 1 of the paper: what a site sends in round 1, not one of our methods",
    ),
]


def said() -> list[tuple[str, str]]:
    """Where the words stand: the file, and the words with what surrounds them."""
    found = []
    for file in DOCUMENTS:
        text = " ".join(file.read_text(encoding="utf-8").split())
        for match in WORDS.finditer(text):
            around = text[max(0, match.start() - 80) : match.end() + 80]
            found.append((str(file.relative_to(ROOT)), around))
    return found


def test_as_published_is_said_only_of_what_is() -> None:
    allowed = [(file, words) for file, words, _ in ALLOWED]
    wrong = [
        (file, around)
        for file, around in said()
        if not any(file == where and words in around for where, words in allowed)
    ]
    assert not wrong, "reword, or list the place with the reason why it is true"


def test_what_is_allowed_stands_there_and_holds() -> None:
    published = {m.name for m in METHODS if any(o.name == "published" for o in m.options)}
    spoken = said()
    for file, words, reason in ALLOWED:
        assert any(file == where and words in around for where, around in spoken), f"no longer said: {words}"
        assert reason in published or " " in reason, f"{reason} has no option published=true"
