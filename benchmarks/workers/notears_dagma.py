"""DAGMA's linear model with least squares, all else as it comes.

Arguments: the rows (.npy), where to write the weights, λ, the threshold, a limit in CPU seconds. The weights
are taken before the threshold, which costs the same and is applied here by the peer's own rule.
"""

import sys

import numpy as np
from clock import hand_over, peak_memory, timed
from dagma.linear import DagmaLinear


def main() -> None:
    data, output = sys.argv[1:3]
    penalty, threshold, limit = map(float, sys.argv[3:6])
    rows = np.load(data)
    model = DagmaLinear(loss_type="l2")
    weights, wall, cpu = timed(lambda: model.fit(rows, lambda1=penalty, w_threshold=0.0), cpu_limit=limit)
    before, after = f"{output}.before.npy", f"{output}.after.npy"
    np.save(before, weights)
    np.save(after, np.where(np.abs(weights) < threshold, 0.0, weights))
    hand_over(wall=wall, cpu=cpu, before=before, after=after, peak=peak_memory())


main()
