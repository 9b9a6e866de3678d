"""pgmpy's hill climbing with its BIC, all else as it comes (unlimited parents, a tabu list of 100)."""

import sys

import pandas as pd
from clock import hand_over, peak_memory, timed
from pgmpy.causal_discovery import HillClimbSearch


def main() -> None:
    file, limit = sys.argv[1], float(sys.argv[3])
    # Levels are text, and a level named "None" or "NA" is a level.
    frame, load, _ = timed(lambda: pd.read_csv(file, dtype=str, keep_default_na=False))
    search = HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False)
    fitted, wall, cpu = timed(lambda: search.fit(frame), limit)
    hand_over(load=load, wall=wall, cpu=cpu, edges=list(fitted.causal_graph_.edges()), peak=peak_memory())


main()
