"""A bar that shows how far a learner is, for whoever asks for one: in a notebook, or in a terminal.

A notebook shows it below the cell, and one bar takes the place of the one before. A terminal has one line of
the standard error output for it. Where nobody looks, as in a file, nothing is written.
"""

from __future__ import annotations

import sys
import time
from html import escape
from types import TracebackType
from typing import Any

from dagora.base.events import Event
from dagora.base.phrases import printable

EVERY = 0.1  # seconds between two looks
WIDTH = 100  # letters of a line in a terminal


class ProgressBar:
    """Takes the events of `learn` and `sample`; at the end of a `with` block, it shows the last one.

    >>> import dagora
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> with dagora.ProgressBar() as bar:
    ...     result = dagora.learn(table, on_event=bar)
    >>> bar.last.score == result.score
    True
    """

    def __init__(self) -> None:
        self.last: Event | None = None
        self._began = time.monotonic()
        self._shown = -EVERY
        self._notebook: Any = None  # IPython's handle of what is shown below the cell

    def __call__(self, event: Event) -> None:
        """Take an event, and show it if it is time to."""
        self.last = event
        if self.seconds - self._shown >= EVERY:
            self._show()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show()
        if self._notebook is None and is_terminal():
            sys.stderr.write("\n")

    @property
    def seconds(self) -> float:
        """Seconds since the bar was made."""
        return time.monotonic() - self._began

    def __str__(self) -> str:
        """The text of the bar."""
        event = self.last
        if event is None:
            return ""
        steps = f"{event.step}" if event.total is None else f"{event.step} of {event.total}"
        score = "" if event.score is None else f", best score {event.score:.7g}"
        return printable(f"{event.phase}: {steps}{score}, {self.seconds:.1f} s")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        event = self.last
        if event is None:
            return ""
        known = "" if not event.total else f' max="{event.total}" value="{min(event.step, event.total)}"'
        return f"<progress{known}></progress> {escape(str(self))}"

    def _show(self) -> None:
        if self.last is None:
            return
        self._shown = self.seconds
        if self._notebook is not None:
            self._notebook.update(self)
        elif in_notebook():
            from IPython.display import display

            self._notebook = display(self, display_id=True)
        elif is_terminal():
            sys.stderr.write(f"\r{str(self)[:WIDTH]:<{WIDTH}}")
            sys.stderr.flush()


def in_notebook() -> bool:
    """Return True in a notebook."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def is_terminal() -> bool:
    """Return True if the standard error output is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()
