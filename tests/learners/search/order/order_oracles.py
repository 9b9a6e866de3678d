"""Random candidates, and what an order or a graph is worth, by plain loops."""

from itertools import combinations, permutations

import numpy as np

from dagora.learners.candidates.candidates import Candidates


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


def tabu_swaps(candidates, order, length, patience):
    """Best score, best order and last order of tabu search by swaps of neighbours, every swap scored in full."""
    order = list(order)
    best, best_order = best_of_order(candidates, order), order
    tabu_until = {}
    idle = step = 0
    while idle < patience:
        step += 1
        options = []
        for p in range(len(order) - 1):
            x, y = order[p], order[p + 1]
            swapped = [*order[:p], y, x, *order[p + 2 :]]
            score = best_of_order(candidates, swapped)
            if tabu_until.get((x, y), 0) < step or score > best + 1e-9:
                # Rounded, as sums of the same numbers may differ in their last bits; then the first place wins.
                options.append((round(score, 6), -p, swapped, (y, x)))
        if not options:
            break
        score, _, order, pair = max(options)
        tabu_until[pair] = step + length
        idle += 1
        if score > best + 1e-6:
            best, best_order, idle = best_of_order(candidates, order), order, 0
    return best, best_order, order


def best_of_all(candidates):
    """The optimum, over all orders."""
    return max(best_of_order(candidates, order) for order in permutations(range(len(candidates))))


def graph_worth(candidates, graph):
    """Score of a graph whose families are all listed."""
    return sum(
        dict(zip(child.parents, child.scores.tolist(), strict=True))[graph.parent_indices(child.child)]
        for child in candidates
    )
