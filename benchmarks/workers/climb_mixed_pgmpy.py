"""pgmpy's hill climbing on both kinds of columns with its conditional Gaussian BIC, all else as it comes."""

import sys

import pandas as pd
from clock import hand_over, peak_memory, timed
from pgmpy.causal_discovery import HillClimbSearch


def main() -> None:
    file, limit = sys.argv[1], float(sys.argv[2])
    frame, load, _ = timed(lambda: pd.read_csv(file, keep_default_na=False))
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    search = HillClimbSearch(scoring_method="bic-cg", return_type="dag", show_progress=False)
    fitted, wall, cpu = timed(lambda: search.fit(frame), limit)
    hand_over(load=load, wall=wall, cpu=cpu, edges=list(fitted.causal_graph_.edges()), peak=peak_memory())


main()
