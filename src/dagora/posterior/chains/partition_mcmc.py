"""Partition MCMC: a chain walks through ordered partitions, and graphs are drawn given its partitions.

Every graph belongs to exactly one partition. So graphs are drawn in proportion to score × prior, without
order MCMC's preference for graphs that agree with many orders. (Kuipers & Moffa 2017.)
"""

from __future__ import annotations

from functools import partial

from dagora.posterior.chains.mcmc import draw_by_chains
from dagora.posterior.chains.walks import PARTITIONS

partition_mcmc = partial(draw_by_chains, PARTITIONS)
"""Draw graphs by chains over partitions: `partition_mcmc(score, run, **options)`, as in `draw_by_chains`."""
