"""Our BIC of all families of few parents, in blocks of one size, and the pruned candidates; CPU seconds.

Arguments: the rows, the most parents, how often. One untimed run comes first; statistics are made anew for
each run, within its time.
"""

import itertools
import math
import sys

import numpy as np
from clock import hand_over, peak_memory, timed

import dagora
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics


def blocks(columns: int, most: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Children and parents of all families, one pair of arrays per number of parents."""
    found = []
    for size in range(most + 1):
        others = np.array(list(itertools.combinations(range(columns - 1), size)), dtype=np.int64)
        others = others.reshape(math.comb(columns - 1, size), size)
        # Positions among the other columns become columns by stepping over the child.
        parents = np.concatenate([others + (others >= child) for child in range(columns)])
        found.append((np.repeat(np.arange(columns), len(others)), parents))
    return found


def main() -> None:
    file, most, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    table = dagora.read_table(file)
    families = blocks(len(table.names), most)

    def score_all() -> list[np.ndarray]:
        score = score_named("bic").make(TableStatistics(table))
        return [score.block(children, parents) for children, parents in families]

    def prune() -> int:
        found = dagora.candidates(table, score="bic", max_parents=most)
        return sum(len(child) for child in found)

    scoring, pruning = [], []
    for repeat in range(repeats + 1):
        scores, _, cpu = timed(score_all)
        kept, _, pruned_cpu = timed(prune)
        if repeat:
            scoring.append(cpu)
            pruning.append(pruned_cpu)
    total = sum(map(len, scores))
    hand_over(scores=total, scoring=scoring, pruning=pruning, kept=kept, peak=peak_memory())


main()
