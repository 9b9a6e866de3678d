"""Threads: every item once, results in order, and the first item that fails is the one told of."""

import pytest

from dagora.kernels.threads import Threads


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_are_in_the_order_of_the_items(jobs):
    items = list(range(50))
    with Threads(jobs) as threads:
        assert threads.map(lambda x: x * x, items) == [x * x for x in items]
        assert list(threads.one_by_one(lambda x: x * x, items)) == [x * x for x in items]
        assert threads.map(str, []) == list(threads.one_by_one(str, [])) == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_failing_item_is_raised_and_few_others_are_begun(jobs):
    begun = []

    def fail_from_ten_on(x):
        begun.append(x)
        if x >= 10:
            raise ValueError(x)

    with Threads(jobs) as threads, pytest.raises(ValueError, match=r"^10$"):
        threads.map(fail_from_ten_on, range(1000))
    assert len(begun) <= 10 + jobs


@pytest.mark.parametrize("jobs", [1, 3])
def test_whoever_stops_asking_waits_for_few(jobs):
    begun = []
    with Threads(jobs) as threads:
        results = threads.one_by_one(begun.append, range(1000))
        next(results)
        results.close()
    assert len(begun) <= 2 * jobs + 1


def test_pieces_are_the_whole_and_not_too_small():
    for jobs, size, least in [(1, 100, 1), (2, 100, 7), (16, 5, 10), (4, 0, 3)]:
        pieces = Threads(jobs).pieces(size, least)
        assert [k for piece in pieces for k in range(piece.start, piece.stop)] == list(range(size))
        assert len(pieces) == 1 or min(piece.stop - piece.start for piece in pieces) >= least
