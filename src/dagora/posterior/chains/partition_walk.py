"""The partition chain for `run_chains`: its kernels, and how long it warms up and thins by default."""

from __future__ import annotations

import math

from dagora.posterior.chains.chain_state import Plan
from dagora.posterior.chains.partition_kernels import keep_from_partition, partition_steps, start_partition
from dagora.posterior.chains.run_chains import Walk

WALK = Walk("partition", partition_steps, keep_from_partition, start_partition)


def partition_plan(nodes: int) -> Plan:
    """Warm-up and thinning by the number of nodes; partitions take more steps than orders.

    >>> partition_plan(20)
    Plan(warmup=119829, thin=800)
    """
    square = nodes * nodes
    return Plan(warmup=max(2000, round(100 * square * math.log(nodes + 1e-9))), thin=max(40, 2 * square))
