"""Pages of more than two screens begin with about five lines that say what they are for."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

TWO_SCREENS = 100  # lines
# Its pages begin with what was measured, table by table.
OPENINGS = {"reproductions.md"}
LONG = [
    page
    for page in sorted((ROOT / "docs").glob("*.md"))
    if len(page.read_text(encoding="utf-8").splitlines()) > TWO_SCREENS and page.name not in OPENINGS
]


@pytest.mark.parametrize("page", LONG, ids=lambda page: page.stem)
def test_a_long_page_begins_with_a_summary(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    summary = re.match(r"# .+\n\n((?:- .+\n(?:  .+\n)*)+)\n", text)
    assert summary is not None, "no list follows the title"
    points = re.findall(r"^- ", summary[1], re.MULTILINE)
    assert 4 <= len(points) <= 6
    assert len(summary[1].splitlines()) <= 9


def test_there_are_long_pages() -> None:
    assert len(LONG) > 10
