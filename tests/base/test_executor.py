"""Questions to an executor: a few at a time, answers as they come, an end in time."""

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from dagora.base import executor
from dagora.base.budget import Budget
from dagora.base.executor import answer_questions


def at_once(question: int) -> Future[int]:
    answered: Future[int] = Future()
    if question < 0:
        answered.set_exception(ValueError(question))
    else:
        answered.set_result(question * question)
    return answered


def test_at_most_so_many_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "POLL", 0.01)
    waiting: list[Future[int]] = []

    def ask(question: int) -> Future[int]:
        waiting.append(Future())
        return waiting[-1]

    heard: list[int] = []

    def meanwhile(under_way: int) -> None:
        heard.append(under_way)
        for future in waiting:
            if not future.done():
                future.set_result(7)

    answers = list(answer_questions(ask, range(5), lambda: 2, Budget(), meanwhile))
    assert sorted(answers) == [(k, 7) for k in range(5)]
    assert max(heard) == 2


def test_after_an_error_nothing_new_is_asked_and_it_is_raised_last() -> None:
    asked: list[int] = []

    def ask(question: int) -> Future[int]:
        asked.append(question)
        return at_once(question)

    answers = answer_questions(ask, [1, -1, 2, 3, 4], lambda: 2, Budget())
    found = []
    with pytest.raises(ValueError, match="-1"):
        found.extend(answers)
    assert asked == [1, -1]


def test_when_time_is_up_what_is_under_way_is_cancelled() -> None:
    budget, waiting = Budget(), [Future[int]() for _ in range(2)]
    hand_out: Callable[[int], Future[int]] = waiting.__getitem__
    waiting[0].set_result(5)
    answers = answer_questions(hand_out, range(2), lambda: 2, budget)
    assert next(answers) == (0, 5)
    budget.stop("enough")
    assert list(answers) == []
    assert waiting[1].cancelled()
