"""Draws in the form that ArviZ plots and summarises: log scores, edges, weights by chain and draw."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dagora.base.extras import ARVIZ
from dagora.graph.bits import unpack
from dagora.posterior.draws import Draws

InferenceData = Any  # of arviz, which may not be installed


def inference_data(draws: Draws) -> InferenceData:
    """Make ArviZ's own object: InferenceData before version 1, a DataTree from then on."""
    ARVIZ.require("to_arviz")
    with warnings.catch_warnings():
        # Version 0.23 announces version 1 whenever it is imported.
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    nodes = len(draws.names)
    flat = unpack(draws.parents.reshape(-1, draws.parents.shape[-1]), nodes)
    into = flat.reshape(*draws.log_scores.shape, nodes, nodes)
    groups: dict[str, dict[str, Any]] = {
        "posterior": {
            "log_score": draws.log_scores,
            "edge": np.ascontiguousarray(into.swapaxes(2, 3)).astype(np.int8),
        },
        "sample_stats": {"lp": draws.log_scores},
    }
    if draws.log_weights is not None:
        groups["sample_stats"]["log_weight"] = draws.log_weights
    names = list(draws.names)
    labels = {"coords": {"parent": names, "child": names}, "dims": {"edge": ["parent", "child"]}}
    make: Any = arviz.from_dict
    if int(arviz.__version__.partition(".")[0]) >= 1:
        return make(groups, **labels)
    return make(**groups, **labels)
