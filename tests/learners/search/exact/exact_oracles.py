"""Random candidate lists of every kind, and the best network among them by trying every acyclic graph."""

from itertools import combinations

import numpy as np

from dagora.graph.enumerate import all_parent_sets
from dagora.learners.candidates.candidates import Candidates
from tests.learners.search.order.order_oracles import graph_worth


def random_lists(rng, size, most=3, density=0.5, empty=1.0, whole=False):
    """Lists that hold the empty set with probability `empty`; whole numbers as scores make many ties."""
    listed = []
    for child in range(size):
        others = [i for i in range(size) if i != child]
        pairs = [((), 0.0)] if rng.random() < empty else []
        for count in range(1, min(most, size - 1) + 1):
            for parents in combinations(others, count):
                if rng.random() < density:
                    value = float(rng.normal(2.0 * count, 3.0))
                    pairs.append((parents, float(round(value)) if whole else value))
        # An offset per child: the scale of a real score.
        listed.append([(parents, value - 100.0) for parents, value in pairs or [((), 0.0)]])
    return Candidates.of([f"x{i}" for i in range(size)], listed)


def competing_lists(rng, size, most=2):
    """Every two variables want each other as parents equally: hard, as the bounds are far from the optimum."""
    wish = rng.exponential(size=(size, size))
    wish = wish + wish.T
    listed = []
    for child in range(size):
        others = [i for i in range(size) if i != child]
        sets = [parents for count in range(most + 1) for parents in combinations(others, count)]
        listed.append(
            [(parents, float(np.sqrt((wish[child, list(parents)] ** 2).sum()))) for parents in sets]
        )
    return Candidates.of([f"x{i}" for i in range(size)], listed)


def layered_lists(rng, blocks, most=2, density=0.4):
    """Blocks whose variables depend on each other and on earlier blocks; columns are shuffled."""
    size = sum(blocks)
    block = np.repeat(np.arange(len(blocks)), blocks)
    names = rng.permutation(size)
    listed = [[] for _ in range(size)]
    for child in range(size):
        open_to = [i for i in range(size) if i != child and block[i] <= block[child]]
        for count in range(most + 1):
            for parents in combinations(open_to, count):
                if count == 0 or rng.random() < density:
                    pair = (tuple(int(names[i]) for i in parents), float(rng.normal(2.0 * count, 3.0)))
                    listed[names[child]].append(pair)
    return Candidates.of([f"x{i}" for i in range(size)], listed)


def best_of_graphs(candidates):
    """The optimum over all acyclic graphs whose families are listed; None where there is none."""
    size = len(candidates)
    tables = [
        {
            sum(1 << i for i in parents): value
            for parents, value in zip(child.parents, child.scores, strict=True)
        }
        for child in candidates
    ]
    best = None
    for masks in all_parent_sets(size):
        families = [tables[x].get(masks[x]) for x in range(size)]
        if None not in families and (best is None or sum(families) > best):
            best = float(sum(families))
    return best


def completed(problem):
    """For each subset of a small problem, the best that the others can reach after it, by recursion."""
    size = len(problem)
    table = np.zeros(2**size)
    for subset in range(2**size - 2, -1, -1):
        values = []
        for x in range(size):
            if not subset >> x & 1:
                own = range(problem.offsets[x], problem.offsets[x + 1])
                best = max(problem.scores[r] for r in own if not int(problem.masks[r, 0]) & ~subset)
                values.append(best + table[subset | 1 << x])
        table[subset] = max(values)
    return table


def check_optimal(outcome, candidates, optimum):
    """The outcome claims the optimum, and its graph is worth that."""
    assert outcome.status == "optimal"
    assert np.isclose(outcome.score, optimum, rtol=1e-9, atol=1e-9)
    assert np.isclose(graph_worth(candidates, outcome.graph), outcome.score, rtol=1e-12, atol=1e-9)
    assert outcome.stats["bound"] == outcome.score
    assert outcome.stats["gap"] == 0.0


def check_stopped(outcome, candidates, optimum, status):
    """The outcome is a graph of its score, and its bound holds."""
    assert outcome.status == status
    assert np.isclose(graph_worth(candidates, outcome.graph), outcome.score, rtol=1e-12, atol=1e-9)
    assert outcome.score <= optimum + 1e-9
    assert outcome.stats["bound"] >= optimum - 1e-9
    assert outcome.stats["gap"] == outcome.stats["bound"] - outcome.score
    assert f"at most {outcome.stats['gap']:.6g} below" in outcome.message
