"""You have a table: learn a network from a CSV file, compare it with the truth, write it down.

Patients are simulated, so that the truth is known: smoke leaves tar, and tar or dust makes people cough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import dagora

TRUTH = dagora.DAG(
    ["smoker", "dust", "tar", "cough", "xray"],
    [("smoker", "tar"), ("tar", "cough"), ("dust", "cough"), ("tar", "xray")],
)


def write_patients(path: str, rows: int = 5000, seed: int = 1) -> None:
    """Write a table such as a hospital might have."""
    rng = np.random.default_rng(seed)

    def drawn(probability: NDArray[np.float64] | float) -> NDArray[np.bool_]:
        return rng.random(rows) < probability

    smoker, dust = drawn(0.4), drawn(0.3)
    tar = drawn(np.where(smoker, 0.8, 0.1))
    cough = drawn(0.1 + 0.3 * dust + 0.5 * tar)
    xray = drawn(np.where(tar, 0.9, 0.05))
    words = np.where(np.column_stack([smoker, dust, tar, cough, xray]), "yes", "no")
    np.savetxt(path, words, fmt="%s", delimiter=",", header=",".join(TRUTH.nodes), comments="")


def main() -> None:
    """Learn, compare, and write a graph, a network with its probabilities, and a page for the browser."""
    write_patients("patients.csv")
    table = dagora.read_table("patients.csv")
    result = dagora.learn(table, method="tabu", score="bdeu", ess=10)
    print(f"{table}: {result.status}, {result.message}")
    for tail, head in result.graph.edges:
        print(f"  {tail} → {head}")

    comparison = dagora.compare(result.graph, TRUTH)
    print(f"wrong edges, as a class of equivalent graphs: {comparison.cpdag.shd}")

    network = dagora.fit(result, table)
    dagora.write_graph(result.graph, "network.dot")
    dagora.write_network(network, "network.bif")
    dagora.write_report(result, "network.html", truth=TRUTH, network=network, source="patients.csv")
    print("written: network.dot, network.bif, network.html")


if __name__ == "__main__":
    main()
