"""Estimates of the time that the page waits for: only the newest one is wanted."""

from __future__ import annotations

from concurrent.futures import Future


class Estimates:
    """Hands out numbers for questions, and passes an answer on to whoever still waits for it.

    >>> wanted = Estimates()
    >>> (first, answer), (second, other) = wanted.ask(), wanted.ask()
    >>> wanted.take(first, "late"), wanted.take(second, "about 2 to 10 seconds")
    (None, None)
    >>> answer.result(), other.result()
    ('', 'about 2 to 10 seconds')
    """

    def __init__(self) -> None:
        self._number = 0
        self._waiting: Future[str] | None = None

    def ask(self) -> tuple[int, Future[str]]:
        """The number of a new question, and where its answer will be: empty where it is wanted no more."""
        self.give_up()
        self._number += 1
        self._waiting = Future()
        return self._number, self._waiting

    def take(self, number: int, words: str) -> None:
        """Pass an answer on."""
        if number == self._number:
            self._say(words)

    def give_up(self) -> None:
        """There will be no answer: something else is done now."""
        self._say("")

    def _say(self, words: str) -> None:
        waiting, self._waiting = self._waiting, None
        # A page that was closed waits no more.
        if waiting is not None and waiting.set_running_or_notify_cancel():
            waiting.set_result(words)
