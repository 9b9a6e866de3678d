"""docs/flower.md says what tests/flower/test_flower.py does: the same commands, with the same options."""

import re
from pathlib import Path

from tests.conftest import ROOT
from tests.flower.consortium import FlowerConsortium

PAGE = (ROOT / "docs" / "flower.md").read_text(encoding="utf-8")


def flags(line: str) -> set[str]:
    return set(re.findall(r"(?<!\S)--[a-z-]+", line))


def on_the_page(command: str) -> set[str]:
    (line,) = re.findall(rf"^{re.escape(command)} (?:.|\\\n)*?$", PAGE, re.MULTILINE)
    return flags(line)


def test_the_page_has_the_options_that_are_tested() -> None:
    tested = FlowerConsortium(Path("folder"))
    tested.keys = Path("keys")
    for line in (
        tested.superlink_line(),
        tested.node_line("north"),
        tested.daemon_line("north", Path("north.csv")),
        tested.register_line("north"),
    ):
        words = [Path(str(part)).name for part in line]
        # The tests choose ports, give up early, and use the Python they run on.
        words = words[2:] if words[1] == "-m" else words
        given = flags(" ".join(words)) - {"--max-retries"}
        command = " ".join(words[: 1 if words[0].startswith("flower-") else 3])
        assert on_the_page(command) - {"--runs"} == given, command


def test_the_page_names_what_keeps_flower_from_calling_home() -> None:
    for setting in ("FLWR_TELEMETRY_ENABLED=0", "FLWR_DISABLE_UPDATE_CHECK=1"):
        assert setting in PAGE
