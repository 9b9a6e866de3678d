"""The draws that have the paths which knowledge asks for (`causes`), and none that it rules out.

What is left of draws from a posterior when all others are dropped are draws from the posterior given that the
paths are there: rejection changes nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dagora.base.errors import DataError
from dagora.base.wording import option
from dagora.graph.knowledge import Knowledge
from dagora.learners.search.path_rules import PathRules
from dagora.posterior.draws import Draws
from dagora.posterior.summary.features import distinct_graphs

# A smaller share of draws is said in a warning.
SMALL_SHARE = 0.05


def permitted_draws(draws: Draws, knowledge: Knowledge, most: int | None = None) -> Draws:
    """The draws that obey `causes` and `not_causes`: as many of each chain as of the one that has fewest.

    At most `most` of each chain are kept. Chains without any are left out.
    """
    rules = PathRules.of(knowledge, draws.names)
    if rules is None or not draws.log_scores.size:
        return draws
    graphs = distinct_graphs(draws.names, draws.parents)
    obeyed = np.array([rules.obeyed(graph) for _, stack in graphs.matrices() for graph in stack])
    kept = obeyed[graphs.index]
    share = float(kept.mean())
    if not kept.any():
        raise DataError(
            f"none of {kept.size:,} draws has the paths that 'causes' and 'not_causes' ask for: take more "
            f"draws ({option('draws')}), or leave out some of them"
        )
    chains = np.flatnonzero(kept.any(axis=1))
    length = int(min(kept[chain].sum() for chain in chains))
    length = length if most is None else min(length, most)
    places = np.array([np.flatnonzero(kept[chain])[:length] for chain in chains])
    warnings = draws.warnings
    if share < SMALL_SHARE:
        few = (
            f"only {share:.2%} of the draws have the paths that 'causes' and 'not_causes' ask for: the data "
            "or the prior speak against them"
        )
        warnings = (*warnings, few)
    return replace(
        draws,
        parents=np.stack([draws.parents[chain, own] for chain, own in zip(chains, places, strict=True)]),
        log_scores=np.stack(
            [draws.log_scores[chain, own] for chain, own in zip(chains, places, strict=True)]
        ),
        log_weights=None
        if draws.log_weights is None
        else np.stack([draws.log_weights[chain, own] for chain, own in zip(chains, places, strict=True)]),
        edges=None,
        stats={**draws.stats, "permitted_share": share},
        message=f"{draws.message}; {share:.3g} of them have the paths that knowledge asks for, and count",
        warnings=warnings,
    )
