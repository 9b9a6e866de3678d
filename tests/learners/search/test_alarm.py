"""The flag that ends kernels."""

import threading

from dagora import Budget
from dagora.learners.search.alarm import Alarm, never_stop


def test_a_spent_budget_raises_the_flag_before_anything_runs() -> None:
    budget = Budget()
    budget.stop("interrupted")
    with Alarm(budget) as flag:
        assert flag[0]


def test_the_time_limit_raises_the_flag() -> None:
    with Alarm(Budget(0.01)) as flag:
        for _ in range(1000):
            if flag[0]:
                break
            threading.Event().wait(0.01)
        assert flag[0]


def test_the_watcher_ends_with_the_block_and_leaves_the_flag_down() -> None:
    before = threading.active_count()
    with Alarm(Budget()) as flag:
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert not flag[0]


def test_a_flag_that_stays_down() -> None:
    assert never_stop().tolist() == [False]
