"""Random candidates, and what an order or a graph is worth, by plain loops."""

from itertools import combinations, permutations

import numpy as np

from dagora.scores.candidates.candidates import Candidates


def random_candidates(rng, size, most=3, density=0.5):
    """Random lists that always hold the empty set; larger sets tend to score more, so that cycles tempt."""
    listed = []
    for child in range(size):
        others = [i for i in range(size) if i != child]
        pairs = {(): 0.0}
        for count in range(1, most + 1):
            for parents in combinations(others, count):
                if rng.random() < density:
                    pairs[parents] = float(rng.normal(2.0 * count, 3.0))
        listed.append(list(pairs.items()))
    return Candidates.of([f"x{i}" for i in range(size)], listed)


def best_of_order(candidates, order):
    """Score of the best network that agrees with an order."""
    total, before = 0.0, set()
    for x in order:
        fitting = [
            value
            for parents, value in zip(candidates.sets[x].parents, candidates.sets[x].scores, strict=True)
            if set(parents) <= before
        ]
        total += max(fitting) if fitting else -np.inf
        before.add(x)
    return total


def best_of_all(candidates):
    """The optimum, over all orders."""
    return max(best_of_order(candidates, order) for order in permutations(range(len(candidates))))


def graph_worth(candidates, graph):
    """Score of a graph whose families are all listed."""
    return sum(
        dict(zip(child.parents, child.scores.tolist(), strict=True))[graph.parent_indices(child.child)]
        for child in candidates
    )
