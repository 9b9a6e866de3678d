"""pyAgrum's local scores of the families in a job file: {"csv", "levels" or null, "families"}.

pyAgrum counts in bits; the numbers are handed over in nats. Its BDeu score fixes the sample size at 1, so
both sizes come from its BD score with a BDeu prior of that weight.
"""

import json
import math
import sys
from pathlib import Path

import pyagrum
from clock import hand_over


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
    found = {}
    for name, (score, weight) in settings.items():
        learner = pyagrum.BNLearner(*source)
        getattr(learner, score)()
        if weight is None:
            learner.useNoPrior()
        else:
            learner.useBDeuPrior(weight)
        found[name] = [learner.score(child, parents) * math.log(2) for child, parents in job["families"]]
    hand_over(**found)


main()
