"""gadjid's distances of the pairs of graphs in a job file: {"pairs": [[guess, truth], …]}, edges as rows."""

import json
import sys
from pathlib import Path

import gadjid
import numpy as np
from clock import hand_over, timed

DISTANCES = (gadjid.parent_aid, gadjid.ancestor_aid, gadjid.oset_aid)


def matrix(graph: dict) -> np.ndarray:
    """Its adjacency matrix: 1 is an arrow from row to column."""
    found = np.zeros((graph["nodes"], graph["nodes"]), dtype=np.int8)
    found[tuple(np.array(graph["edges"]).T)] = 1
    return found


def main() -> None:
    counts, seconds = [], []
    for guess, truth in json.loads(Path(sys.argv[1]).read_text())["pairs"]:
        graphs = matrix(truth), matrix(guess)
        outcomes = [
            timed(lambda f=f, g=graphs: f(*g, edge_direction="from row to column")) for f in DISTANCES
        ]
        counts.append([result[1] for result, _, _ in outcomes])
        seconds.append([cpu for _, _, cpu in outcomes])
    hand_over(counts=counts, seconds=seconds)


main()
