"""Nonlinear relations: NOTEARS-SOB beside NOTEARS-MLP and linear NOTEARS on simulated data, each as it comes.

Per model, number of columns and method: the mean structural Hamming distance to the true graph, the mean
time, and the number of data sets. Run with
`python benchmarks/nonlinear.py [--columns 10 20] [--edges 1 2] [--rows 1000] [--seeds 5]`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import dagora

METHODS = {"notears": {"lambda1": 0.03}, "notears-sob": {}, "notears-mlp": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--edges", type=float, nargs="+", default=[1, 2], help="edges per column")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=["mlp", "fourier"])
    given = parser.parse_args()
    print(f"{'model':8} {'d':>4} {'edges':>6} {'method':12} {'SHD':>6} {'seconds':>8} {'sets':>5}")
    for model in given.models:
        for d in given.columns:
            for edges in given.edges:
                for method, options in METHODS.items():
                    distances, seconds = [], []
                    for seed in range(given.seeds):
                        truth = dagora.random_dag("er", d, edges, seed=seed)
                        table = dagora.simulate(truth, model, given.rows, seed=seed).table
                        began = time.monotonic()
                        graph = dagora.learn(table, method, **options).graph
                        seconds.append(time.monotonic() - began)
                        distances.append(dagora.compare(graph, truth).shd)
                    shd, took = np.mean(distances), np.mean(seconds)
                    where = f"{model:8} {d:4} {d * edges:6.0f}"
                    print(f"{where} {method:12} {shd:6.1f} {took:8.2f} {given.seeds:5}", flush=True)


if __name__ == "__main__":
    main()
