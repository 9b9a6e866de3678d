"""LPCMCI by tigramite with partial correlations, on several series one after the other.

lpcmci_tigramite.py SERIES.npz LAGS ALPHA ROUNDS

For each array of steps by variables, the marks of all links [cause, effect, steps back, mark] and seconds.
"""

import contextlib
import sys

import numpy as np
from clock import hand_over, timed


def main() -> None:
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.lpcmci import LPCMCI

    file, lags, alpha, rounds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    found = []
    with contextlib.redirect_stdout(sys.stderr):
        for rows in np.load(file).values():
            search = LPCMCI(DataFrame(rows), ParCorr(), verbosity=0)
            learned, wall, cpu = timed(
                lambda search=search: search.run_lpcmci(
                    tau_max=lags, pc_alpha=alpha, n_preliminary_iterations=rounds
                )
            )
            graph = learned["graph"]
            links = [
                [int(i), int(j), int(lag), str(graph[i, j, lag])]
                for i, j, lag in np.argwhere(graph != "").tolist()
            ]
            found.append({"links": links, "wall": wall, "cpu": cpu})
    hand_over(found=found)


main()
