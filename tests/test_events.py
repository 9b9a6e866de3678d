"""Budgets: what is left, and why the work ended."""

import threading

from dagora.events import Budget, Event, ignore


def test_without_a_limit_time_never_ends():
    budget = Budget()
    assert (budget.exhausted, budget.left) == (False, float("inf"))
    assert budget.elapsed >= 0


def test_a_limit_ends():
    budget = Budget(1e-9)
    assert (budget.exhausted, budget.left) == (True, 0.0)
    assert budget.reason == "the time limit of 1e-09 s was reached"
    assert 0 < Budget(60).left <= 60


def test_a_stop_from_another_thread_is_seen():
    budget = Budget(60)
    thread = threading.Thread(target=budget.stop, args=("interrupted",))
    thread.start()
    thread.join()
    assert (budget.exhausted, budget.left, budget.reason) == (True, 0.0, "interrupted")


def test_a_piece_has_time_of_its_own_and_ends_with_the_whole():
    whole = Budget(60)
    assert (whole.at_most(None).left, whole.at_most(1e-9).exhausted) == (float("inf"), True)
    piece = whole.at_most(None)
    whole.stop("interrupted")
    assert (piece.exhausted, piece.reason) == (True, "interrupted")


def test_nobody_need_listen():
    assert ignore(Event("climbing", 1)) is None
