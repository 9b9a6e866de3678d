"""docs/worked-example.md, run on the real table where it is at hand: what it prints and draws is on the page."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "worked-example.md"
NUMBER = re.compile(r"[\d.]+")
# Other processors and numerical libraries may change the last digits of an estimate.
CLOSE = 0.03


def steps() -> list[tuple[str, str]]:
    """The blocks of Python, and the text that each is said to print."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_every_block_of_python_is_followed_by_what_it_prints() -> None:
    assert len(steps()) == PAGE.read_text(encoding="utf-8").count("```python") >= 9


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_the_page_prints_and_draws_what_it_shows(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "horse_colic.csv.gz").symlink_to(data_dir / "tables" / "horse_colic.csv.gz")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, shown in steps():
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(code, PAGE.name, "exec"), names)
        printed = said.getvalue()
        assert NUMBER.sub("0", printed).split() == NUMBER.sub("0", shown).split()
        numbers = [
            [float(each) for each in NUMBER.findall(text) if each.strip(".")] for text in (printed, shown)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=CLOSE, abs=CLOSE)
    for picture in re.findall(r"\]\((.+\.svg)\)", PAGE.read_text(encoding="utf-8")):
        drawn, kept = ((folder / picture).read_text(encoding="utf-8") for folder in (tmp_path, PAGE.parent))
        assert NUMBER.sub("", drawn) == NUMBER.sub("", kept)
