"""Rows are spread over sites that may not pool them: learn one network from secure sums.

Three hospitals hold the rows of their own patients. A coordinator learns from sums over all of them, in which
no hospital's part can be seen. All parties run in this process here, with the messages and masks of a real
run; `dagora federate` runs them on machines of their own.
"""

from __future__ import annotations

import numpy as np

import dagora
from dagora.api.learn_federated import learn_federated


def main() -> None:
    """Learn over the sites, and compare with what the pooled rows would have given."""
    truth = dagora.random_dag("er", 8, 1.5, seed=0)
    pooled = dagora.simulate(truth, "gaussian", 900, seed=2).table
    owner = np.random.default_rng(3).choice(3, size=pooled.n_rows, p=[0.6, 0.3, 0.1])
    sites = {name: pooled.take(owner == k) for k, name in enumerate(("north", "south", "west"))}

    result = learn_federated(sites, method="dynamic", score="bge")
    print(f"{result.status}: {result.message}")
    for name, table in sites.items():
        sent = result.stats[f"bytes_from_{name}"] / 1024
        print(f"  {name}: {table.n_rows} rows stayed there, {sent:.1f} KiB of masked sums were sent")

    together = dagora.learn(pooled, method="dynamic", score="bge")
    print(f"same graph as on the pooled rows: {result.graph == together.graph}")
    for name, table in sites.items():
        alone = dagora.learn(table, method="dynamic", score="bge")
        print(f"wrong edges of {name} alone: {dagora.compare(alone.graph, truth).cpdag.shd}")
    print(f"wrong edges of all together: {dagora.compare(result.graph, truth).cpdag.shd}")


if __name__ == "__main__":
    main()
