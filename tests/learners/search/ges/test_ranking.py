"""Which operator comes first, which sleep, and what wakes them."""

import numpy as np

from dagora.learners.search.ges.class_graph import DELETE, INSERT, ClassGraph, Operator
from dagora.learners.search.ges.operators import Offers
from dagora.learners.search.ges.ranking import Ranking


def graph(size, *edges):
    matrix = np.zeros((size, size), dtype=bool)
    for i, j in edges:
        matrix[i, j] = True
    return ClassGraph(matrix)


def offer(y, *operators, kind=INSERT):
    """Operators into y, each a gain, an x and a clique."""
    gains, sources, cliques = zip(*operators, strict=True)
    return Offers(
        kind, y, list(cliques), np.array(gains), np.array(sources, dtype=np.int64), np.arange(len(gains))
    )


def test_the_largest_gain_wins():
    ranking = Ranking(3)
    ranking.place(offer(0, (1.0, 1, ()), (3.0, 2, ())))
    ranking.place(offer(1, (2.0, 0, ()), (-1.0, 2, ())))
    assert ranking.best(graph(3), 1e-6) == Operator(INSERT, 2, 0, ())
    assert ranking.best(graph(3), 1e-6) == Operator(INSERT, 2, 0, ()), "asking changes nothing"
    ranking.drop(Operator(INSERT, 2, 0, ()))
    assert ranking.best(graph(3), 1e-6) == Operator(INSERT, 0, 1, ())
    ranking.place(offer(1, (-1.0, 2, ())))
    assert ranking.best(graph(3), 1e-6) == Operator(INSERT, 1, 0, ())
    assert ranking.best(graph(3), 1.0) is None, "a gain must exceed the tolerance"


def test_equal_gains_go_to_the_first_pair_and_then_to_the_first_set():
    ranking = Ranking(4)
    ranking.place(offer(0, (5.0, 1, ()), (5.0, 3, ())))
    ranking.place(offer(2, (5.0 - 1e-7, 1, ()), (5.0 - 1e-7, 0, ())))
    ranking.place(offer(1, (5.0 - 1e-3, 0, ())))
    assert ranking.best(graph(4), 1e-6) == Operator(INSERT, 0, 2, ())
    # x = 3 is adjacent to 1: with 1 in the clique nothing is directed anew, with 0 and 1 it is 0.
    lines = graph(4, (2, 0), (0, 2), (2, 1), (1, 2), (0, 1), (1, 0), (1, 3), (3, 1))
    ranking = Ranking(4)
    ranking.place(offer(2, (5.0, 3, (0, 1)), (5.0, 3, (1,))))
    assert ranking.best(lines, 1e-6) == Operator(INSERT, 3, 2, (1,))
    # In deletions the neighbours that are left behind count: 0 and 1, or 1 alone.
    ranking = Ranking(4)
    clique = graph(4, *((i, j) for i in range(4) for j in range(4) if i != j))
    ranking.place(offer(2, (5.0, 3, (0,)), (5.0, 3, ()), kind=DELETE))
    assert ranking.best(clique, 1e-6) == Operator(DELETE, 3, 2, ())


def test_a_path_sends_to_sleep_and_its_end_wakes():
    ranking = Ranking(4)
    ranking.place(offer(0, (5.0, 3, ()), (1.0, 2, ())))
    chain = graph(4, (0, 1), (1, 2), (2, 3))
    assert ranking.best(chain, 1e-6) is None
    broken = graph(4, (0, 1), (2, 1), (2, 3))
    assert ranking.best(broken, 1e-6) is None, "still asleep"
    narrowed = chain.narrowed_nodes(broken).tolist()
    assert narrowed == [1]
    ranking.wake([2])
    ranking.wake([0])
    assert ranking.best(chain, 1e-6) is None
    ranking.wake(narrowed)
    assert ranking.best(broken, 1e-6) == Operator(INSERT, 3, 0, ())


def test_what_was_replaced_does_not_wake():
    ranking = Ranking(3)
    ranking.place(offer(0, (5.0, 2, ())))
    assert ranking.best(graph(3, (0, 1), (1, 2)), 1e-6) is None
    ranking.place(offer(0, (2.0, 1, ()), (1.0, 2, ())))
    ranking.wake([1])
    assert ranking.best(graph(3), 1e-6) == Operator(INSERT, 1, 0, ())
