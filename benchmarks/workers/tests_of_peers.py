"""Tests of independence by the peers: PC of causal-learn, distance covariance of dcor, HSIC of hyppo.

tests_of_peers.py pc ROWS.npy TEST ALPHA | dcov ROWS.npy REPEATS | hsic ROWS.npy REPEATS
"""

import contextlib
import sys

import numpy as np
from clock import hand_over, timed


def skeleton(rows: np.ndarray, test: str, alpha: float) -> None:
    """Stable PC; its progress is not shown."""
    from causallearn.search.ConstraintBased.PC import pc

    with contextlib.redirect_stdout(sys.stderr):
        found, wall, cpu = timed(
            lambda: pc(rows, alpha=alpha, indep_test=test, stable=True, show_progress=False, verbose=False)
        )
    adjacent = found.G.graph != 0
    hand_over(wall=wall, cpu=cpu, pairs=np.argwhere(np.triu(adjacent)).tolist())


def dependence(rows: np.ndarray, measure: str, repeats: int) -> None:
    """One test with 199 permutations, several times over; the statistic of the last."""
    if measure == "dcov":
        import dcor

        def test() -> float:
            found = dcor.independence.distance_covariance_test(rows[:, 0], rows[:, 1], num_resamples=199)
            return float(found.statistic)

    else:
        from hyppo.independence import Hsic

        def test() -> float:
            return float(Hsic().test(rows[:, [0]], rows[:, [1]], reps=199, auto=False)[0])

    test()  # what is compiled at the first call does not count
    statistic, wall, cpu = timed(lambda: [test() for _ in range(repeats)][-1])
    hand_over(wall=wall / repeats, cpu=cpu / repeats, statistic=statistic)


def main() -> None:
    what, file, *more = sys.argv[1:]
    rows = np.load(file)
    if what == "pc":
        skeleton(rows, more[0], float(more[1]))
    else:
        dependence(rows, what, int(more[0]))


main()
