"""Keep an executor busy: hand out questions a few at a time, and pass on answers as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from dagora.base.budget import Budget

Question = TypeVar("Question")
Answer = TypeVar("Answer")

# Seconds between two looks at the clock, while others work.
POLL = 0.2


def pass_over(under_way: int) -> None:
    """Ignore how many questions are under way."""


def answer_questions(
    ask: Callable[[Question], Future[Answer]],
    questions: Iterable[Question],
    most: Callable[[], int],
    budget: Budget,
    meanwhile: Callable[[int], None] = pass_over,
) -> Iterator[tuple[Question, Answer]]:
    """Questions with their answers as they come, until time is up; then what is under way is cancelled.

    At most `most()` questions are under way at a time, so that those who come to help later get work too,
    and so that a question is made when its turn comes. After an error nothing new is asked; answers that are
    under way are still passed on, and then the error is raised. `meanwhile` hears how many are under way.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     sorted(answer_questions(lambda x: pool.submit(pow, x, 2), [3, 1, 2], lambda: 2, Budget()))
    [(1, 1), (2, 4), (3, 9)]
    """
    waiting = iter(questions)
    running: dict[Future[Answer], Question] = {}
    failure: BaseException | None = None
    more = True
    try:
        while True:
            limit = most()
            while more and failure is None and len(running) < limit:
                for question in waiting:
                    running[ask(question)] = question
                    break
                else:
                    more = False
            if not running:
                break
            finished, _ = wait(running, timeout=POLL, return_when=FIRST_COMPLETED)
            # Nothing has been cancelled yet, so every answer is complete.
            for future in finished:
                question = running.pop(future)
                error = future.exception()
                if error is not None:
                    failure = failure or error
                    continue
                yield question, future.result()
            if budget.exhausted:
                return
            meanwhile(len(running))
        if failure is not None:
            raise failure
    finally:
        for future in running:
            future.cancel()
