"""How often good graphs of a search space have each edge: short chains over orders, and the best graph.

The best graph alone does not show which parents the rest of the posterior needs. A space that is grown by all
edges in at least a tenth of the draws holds more of the posterior (tests/posterior/space/test_find_space.py
sums up how much). Its cores are larger, which costs much where a family is expensive to score.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.events import ignore
from dagora.graph.bits import unpack
from dagora.learners.run import Run
from dagora.posterior.chains.run_chains import sample_chains
from dagora.posterior.chains.sampling_target import SamplingTarget
from dagora.posterior.chains.walks import ORDERS
from dagora.posterior.space.best_graph import best_graph
from dagora.posterior.space.family_tables import FamilyTables
from dagora.posterior.space.lookup import lookup_of
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space

# Draws per chain, and chains: the standard error of a frequency of 0.1 is then about 0.015.
DRAWS, CHAINS = 200, 2


def frequent_edges(tables: FamilyTables, run: Run) -> NDArray[np.float64]:
    """Frequency of each edge among the draws, [i, j] is i → j; 1 for the edges of the best graph."""
    nodes = len(tables.starts)
    names = tuple(f"x{i}" for i in range(nodes))
    quiet = replace(run, on_event=ignore, cluster=None)  # these chains are too short to be worth sending
    # The weights contain the prior already; the one named here is not used.
    target = SamplingTarget(tables, lookup_of(tables), prior_named("uniform"), Space((), (), ""), names)
    draws = sample_chains(
        ORDERS, target, quiet, ORDERS.usual_plan(nodes), draws=DRAWS, chains=CHAINS, prior=""
    )
    rows = draws.parents.reshape(-1, draws.parents.shape[-1])
    present = unpack(rows, nodes).reshape(-1, nodes, nodes)
    often: NDArray[np.float64] = np.maximum(present.mean(axis=0).T, best_graph(tables, quiet))
    return often
