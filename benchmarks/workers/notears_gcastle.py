"""gcastle's Notears (the published solver) with least squares, all else as it comes.

Arguments as for `notears_dagma.py`. gcastle keeps the weights before the threshold and a graph after it.
"""

import logging
import sys

import numpy as np
from castle.algorithms import Notears
from clock import hand_over, peak_memory, timed


def main() -> None:
    data, output = sys.argv[1:3]
    penalty, threshold, limit = map(float, sys.argv[3:6])
    rows = np.load(data)
    logging.disable(logging.INFO)
    model = Notears(lambda1=penalty, loss_type="l2", w_threshold=threshold)
    _, wall, cpu = timed(lambda: model.learn(rows), cpu_limit=limit)
    weights = np.asarray(model.weight_causal_matrix)
    before, after = f"{output}.before.npy", f"{output}.after.npy"
    np.save(before, weights)
    np.save(after, np.where(np.asarray(model.causal_matrix) == 1, weights, 0.0))
    hand_over(wall=wall, cpu=cpu, before=before, after=after, peak=peak_memory())


main()
