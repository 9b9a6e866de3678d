"""A bar of progress: one line of a terminal, a tag of a notebook, nothing where nobody looks."""

import io
import sys

import pytest

from dagora.base import progress_bar
from dagora.base.events import Event
from dagora.base.progress_bar import EVERY, WIDTH, ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_says_phase_steps_score_and_time() -> None:
    bar = ProgressBar()
    assert str(bar) == bar._repr_html_() == ""
    bar(Event("search", 3, score=-12.5, total=10))
    assert str(bar).startswith("search: 3 of 10, best score -12.5, 0.")
    assert '<progress max="10" value="3"></progress>' in bar._repr_html_()
    bar(Event("se<arch", 12, total=10))
    assert 'value="10"' in bar._repr_html_()
    assert "se&lt;arch: 12 of 10" in bar._repr_html_()
    bar(Event("a\x1b[2J", 3))
    assert str(bar).startswith(r"a\x1b[2J: 3, 0.")
    assert bar._repr_html_().startswith("<progress></progress>")


def test_a_terminal_has_one_line_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with ProgressBar() as bar:
        bar(Event("search", 1))
        bar(Event("search " + "x" * WIDTH, 2))
    first, last = screen.getvalue().removesuffix("\n").split("\r")[1:]
    assert screen.getvalue().endswith("\n")
    assert len(first) == len(last) == WIDTH
    assert first.startswith("search: 1")


def test_nothing_is_written_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := io.StringIO())
    with ProgressBar() as bar:
        bar(Event("search", 1))
    assert screen.getvalue() == ""


def test_events_that_come_fast_are_not_all_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, now = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    bar = ProgressBar()
    for step in range(10):
        now[0] = step * EVERY / 4
        bar(Event("search", step))
    assert screen.getvalue().count("\r") == 3
