"""pgmpy's local scores of the families in a job file: {"csv", "levels" or null, "families", "scores"}.

The CPU seconds of each score's loop over the families are handed over too; making the score is not in them.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from clock import hand_over, timed
from pgmpy.structure_score import AIC, BIC, K2, BDeu


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    frame = pd.read_csv(job["csv"], dtype=str, keep_default_na=False)
    levels = job["levels"]
    scores = {
        "bic": BIC(frame, state_names=levels),
        "aic": AIC(frame, state_names=levels),
        "k2": K2(frame, state_names=levels),
        "bdeu, ess 1": BDeu(frame, equivalent_sample_size=1, state_names=levels),
        "bdeu, ess 10": BDeu(frame, equivalent_sample_size=10, state_names=levels),
    }
    families = [(child, tuple(parents)) for child, parents in job["families"]]
    found, seconds = {}, {}
    for name in job["scores"]:
        ask = scores[name].local_score
        found[name], _, seconds[name] = timed(lambda ask=ask: [float(ask(*family)) for family in families])
    hand_over(**found, cpu=seconds)


main()
