"""Draw a graph given the order or the partition in which a chain stands, and keep it."""

from __future__ import annotations

from dagora.kernels.decorators import kernel
from dagora.posterior.chains.chain_state import KEPT, ChainState, KeptDraws
from dagora.posterior.space.family_draws import draw_family
from dagora.posterior.space.lookup import Lookup, sum_before, sum_in_block


@kernel
def keep_graph(lookup: Lookup, chain: ChainState, kept: KeptDraws, in_blocks: bool) -> None:
    """Draw the family of each node by its weight among those that the chain's state permits.

    `in_blocks` says that places are blocks of a partition: a node of a later block then needs a parent in the
    block just before its own. In an order it may have any parents that come before it.
    """
    draw = chain.counters[KEPT]
    log_score = 0.0
    for node in range(len(chain.places)):
        if in_blocks:
            log_total = sum_in_block(lookup, node, chain.places)
        else:
            log_total = sum_before(lookup, node, chain.places, chain.places[node])
        needs_parent = in_blocks and chain.places[node] > 0
        row = kept.parents[draw, node]
        log_score += draw_family(lookup, node, chain.places, needs_parent, log_total, chain.random, row)
    kept.log_scores[draw] = log_score
    chain.counters[KEPT] += 1
