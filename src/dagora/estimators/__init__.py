"""Estimators for scikit-learn: learn a structure, sample a posterior, find effects, classify, fill gaps.

They take arrays and data frames, can be cloned, and stand in pipelines, as everything else there does.
Columns are understood as `dagora.learn` understands them: text, booleans and whole numbers of few values are
discrete, other numbers are continuous; `discrete` and `continuous` name exceptions (or give their positions).
The columns of an array are named x0, x1, … in graphs.

>>> import numpy as np
>>> from dagora.estimators import BayesianNetworkClassifier, StructureLearner
>>> rng = np.random.default_rng(1)
>>> dose = rng.normal(size=300)
>>> X = np.column_stack([dose, 2 * dose + rng.normal(size=300), rng.normal(size=300)])
>>> StructureLearner(method="hill-climb").fit(X).cpdag_.undirected
(('x0', 'x1'),)
>>> ill = np.where(dose + 0.5 * rng.normal(size=300) > 0, "ill", "well")
>>> judge = BayesianNetworkClassifier(method="hill-climb").fit(X, ill)
>>> judge.predict([[3.0, 6.0, 0.0], [-3.0, -6.0, 0.0]]).tolist()
['ill', 'well']
"""

from __future__ import annotations

from dagora.base.extras import SKLEARN

SKLEARN.require("dagora.estimators")

from dagora.estimators.augmented_bayes import KDBClassifier, NaiveBayesClassifier, TANClassifier  # noqa: E402
from dagora.estimators.classifier import BayesianNetworkClassifier  # noqa: E402
from dagora.estimators.effect import CausalEffect  # noqa: E402
from dagora.estimators.imputer import NetworkImputer  # noqa: E402
from dagora.estimators.structure import PosteriorSampler, StructureLearner  # noqa: E402

__all__ = [
    "BayesianNetworkClassifier",
    "CausalEffect",
    "KDBClassifier",
    "NaiveBayesClassifier",
    "NetworkImputer",
    "PosteriorSampler",
    "StructureLearner",
    "TANClassifier",
]
