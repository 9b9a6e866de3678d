"""Budgets: what is left, and why the work ended."""

import threading
import time

from dagora.base.budget import Budget


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


def test_a_share_names_the_limit_that_was_asked_for():
    whole = Budget(0.25)
    share = whole.part(1e-9)
    assert share.exhausted
    assert not whole.exhausted
    assert share.reason == share.part(0.5).reason == "its share of the time limit of 0.25 s was used up"
    time.sleep(0.26)
    assert share.reason == whole.part(0.5).reason == "the time limit of 0.25 s was reached"
    whole.stop("interrupted")
    assert share.reason == "interrupted"


def test_a_part_is_a_share_of_the_time_left():
    used = Budget(100)
    used._started -= 80
    assert 9 < used.part(0.5).limit <= 10


def test_a_piece_of_its_own_length_names_that():
    assert Budget(60).at_most(1e-9).reason == "the time limit of 1e-09 s was reached"
    assert Budget(60).at_most(1234.5).reason == "the time limit of 1234.5 s was reached"
