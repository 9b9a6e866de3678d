"""Our `notears` in two steps, the pass over the rows and the rest, then in one.

Arguments: the rows (.npy), λ, the threshold. An untimed run on a few of the rows comes first.
"""

import sys

import numpy as np
from clock import hand_over, peak_memory, timed

import dagora
from dagora.stats.table import TableStatistics

WARM_ROWS = 1000


def main() -> None:
    data = sys.argv[1]
    penalty, threshold = map(float, sys.argv[2:4])
    rows = np.load(data)
    names = [f"x{i}" for i in range(rows.shape[1])]
    options = {"lambda1": penalty, "threshold": threshold}
    small = TableStatistics(dagora.Table.from_numpy(rows[:WARM_ROWS], names=names))
    dagora.learn(small, "notears", **options)
    table, making, _ = timed(lambda: dagora.Table.from_numpy(rows, names=names))
    statistics = TableStatistics(table)
    _, passing, passing_cpu = timed(statistics.moments)
    # The moments are remembered: what is left costs what it costs on a thousand rows.
    result, rest, rest_cpu = timed(lambda: dagora.learn(statistics, "notears", **options))
    _, whole, whole_cpu = timed(lambda: dagora.learn(table, "notears", **options))
    hand_over(
        making=making,
        passing=passing,
        passing_cpu=passing_cpu,
        rest=rest,
        rest_cpu=rest_cpu,
        whole=whole,
        whole_cpu=whole_cpu,
        edges=len(result.graph.edges),
        status=result.status,
        peak=peak_memory(),
    )


main()
