"""pyAgrum's local scores of the families in a job file: {"csv", "levels" or null, "families", "scores"}.

pyAgrum counts in bits; the numbers are handed over in nats. Its BDeu score fixes the sample size at 1, so
both sizes come from its BD score with a BDeu prior of that weight. The CPU seconds of each score's loop over
the families are handed over too; reading and coding the rows is not in them.
"""

import json
import math
import sys
from pathlib import Path

import pyagrum
from clock import hand_over, timed


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    source = [job["csv"]]
    if job["levels"] is not None:  # a network without arcs declares them
        template = pyagrum.BayesNet()
        for name, levels in job["levels"].items():
            template.add(pyagrum.LabelizedVariable(name, name, levels))
        source.append(template)
    settings = {
        "bic": ("useScoreBIC", None),
        "aic": ("useScoreAIC", None),
        "k2": ("useScoreK2", None),
        "bdeu, ess 1": ("useScoreBD", 1.0),
        "bdeu, ess 10": ("useScoreBD", 10.0),
    }
    families = job["families"]
    found, seconds = {}, {}
    for name in job["scores"]:
        score, weight = settings[name]
        learner = pyagrum.BNLearner(*source)
        getattr(learner, score)()
        if weight is None:
            learner.useNoPrior()
        else:
            learner.useBDeuPrior(weight)
        ask = learner.score
        bits, _, seconds[name] = timed(lambda ask=ask: [ask(child, parents) for child, parents in families])
        found[name] = [value * math.log(2) for value in bits]
    hand_over(**found, cpu=seconds)


main()
