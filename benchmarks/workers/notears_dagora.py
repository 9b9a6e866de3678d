"""Our `notears`, as it comes: one untimed run on a small problem, which loads or compiles kernels, then ours.

Arguments as for `notears_dagma.py`, the number of jobs, and how weights below the threshold go. The weights
before the threshold come from a second, untimed run without one, unless a last argument, `once`, says to do
without.
"""

import sys

import numpy as np
from clock import hand_over, peak_memory, timed

import dagora

# Large enough to go through all kernels, small enough to cost nothing.
WARM_NODES, WARM_DEGREE, WARM_ROWS = 12, 3, 100


def main() -> None:
    data, output = sys.argv[1:3]
    penalty, threshold, limit = map(float, sys.argv[3:6])
    jobs, way, once = int(sys.argv[6]), sys.argv[7], sys.argv[8:] == ["once"]
    rows = np.load(data)
    table = dagora.Table.from_numpy(rows, names=[f"x{i}" for i in range(rows.shape[1])])

    def learn(given: dagora.Table, least: float) -> dagora.Result:
        return dagora.learn(given, "notears", lambda1=penalty, threshold=least, cut=way, jobs=jobs)

    warm = dagora.simulate(dagora.random_dag("sf", WARM_NODES, WARM_DEGREE, 1), "gaussian", WARM_ROWS, 1)
    learn(warm.table, threshold)
    result, wall, cpu = timed(lambda: learn(table, threshold), cpu_limit=limit)
    peak = peak_memory()
    before, after = f"{output}.before.npy", f"{output}.after.npy"
    np.save(after, result.weights)
    if not once:
        np.save(before, learn(table, 0.0).weights)
    hand_over(
        wall=wall,
        cpu=cpu,
        before=None if once else before,
        after=after,
        peak=peak,
        status=result.status,
        warnings=result.warnings,
    )


main()
