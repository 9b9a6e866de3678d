"""PCMCI+ by tigramite with partial correlations, on several series one after the other.

pcmci_tigramite.py SERIES.npz LAGS ALPHA

The file has the arrays `series0`, `series1`, … of steps by variables. For each, the marks of all links
[cause, effect, steps back, mark] and seconds.
"""

import contextlib
import sys

import numpy as np
from clock import hand_over, timed


def main() -> None:
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    file, lags, alpha = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    found = []
    with contextlib.redirect_stdout(sys.stderr):
        for rows in np.load(file).values():
            search = PCMCI(DataFrame(rows), ParCorr(), verbosity=0)
            learned, wall, cpu = timed(
                lambda search=search: search.run_pcmciplus(tau_min=0, tau_max=lags, pc_alpha=alpha)
            )
            graph = learned["graph"]
            links = [
                [int(i), int(j), int(lag), str(graph[i, j, lag])]
                for i, j, lag in np.argwhere(graph != "").tolist()
            ]
            found.append({"links": links, "wall": wall, "cpu": cpu})
    hand_over(found=found)


main()
