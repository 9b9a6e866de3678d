"""Searches over orders by the peers: BOSS, GRaSP and GES of causal-learn, DirectLiNGAM of lingam.

orders_of_peers.py boss|grasp|ges|lingam ROWS.npy LIMIT

Past LIMIT seconds of CPU time the process ends.
"""

import contextlib
import random
import sys

import numpy as np
from clock import hand_over, timed

# The penalty that is that of BIC; BOSS and GRaSP have four times as much by default.
BIC = {"lambda_value": 0.5}


def marks(graph: object) -> list[list[bool]]:
    """Entry i, j: whether there is an edge i → j or i — j."""
    ends = graph.graph  # -1 at a tail, 1 at a head; row i holds the ends at i
    return ((ends == -1) & (ends.T != 0)).tolist()


def main() -> None:
    method, file = sys.argv[1:3]
    limit = float(sys.argv[3])
    rows = np.load(file)
    random.seed(1)
    with contextlib.redirect_stdout(sys.stderr):
        if method == "lingam":
            from lingam import DirectLiNGAM

            model, wall, cpu = timed(lambda: DirectLiNGAM().fit(rows), cpu_limit=limit)
            found = {"order": [int(k) for k in model.causal_order_]}
        elif method == "ges":
            from causallearn.search.ScoreBased.GES import ges

            learned, wall, cpu = timed(
                lambda: ges(rows, "local_score_BIC_from_cov", lambda_value=0.5), cpu_limit=limit
            )
            found = {"marks": marks(learned["G"])}
        else:
            from causallearn.search.PermutationBased.BOSS import boss
            from causallearn.search.PermutationBased.GRaSP import grasp

            search = {"boss": boss, "grasp": grasp}[method]
            graph, wall, cpu = timed(lambda: search(rows, parameters=BIC, verbose=False), cpu_limit=limit)
            found = {"marks": marks(graph)}
    hand_over(wall=wall, cpu=cpu, **found)


main()
