"""The two kinds of chains: over orders and over ordered partitions.

A `Walk` holds what differs between them: the kernel that makes steps, what a random start order becomes, how
long a chain warms up and thins by default, and what the chain adds to the prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dagora.posterior.chains.chain_state import ChainState, KeptDraws, Schedule
from dagora.posterior.chains.order_kernels import order_steps
from dagora.posterior.chains.partition_kernels import partition_steps, start_partition
from dagora.posterior.space.lookup import Lookup


@dataclass(frozen=True)
class Walk:
    """One kind of chain.

    `in_blocks` says whether a node's place is its block in a partition, rather than its position in an order.
    `from_order` turns a random order into a start of this chain; orders need nothing.
    """

    name: str
    steps: Callable[[Lookup, ChainState, KeptDraws, Schedule, int], None]
    in_blocks: bool
    usual_plan: Callable[[int], Schedule]
    from_order: Callable[[Lookup, ChainState, KeptDraws], None] | None = None
    adds_to_prior: str = ""


def order_plan(nodes: int) -> Schedule:
    """Warm-up and thinning by the number of nodes: about n² ln n steps bring a chain to where the mass is.

    >>> order_plan(20)
    Schedule(warmup=59915, thin=400)
    """
    square = nodes * nodes
    return Schedule(warmup=max(1000, round(50 * square * math.log(nodes + 1e-9))), thin=max(20, square))


def partition_plan(nodes: int) -> Schedule:
    """Warm-up and thinning by the number of nodes: twice those of orders, since partitions mix more slowly.

    >>> partition_plan(20)
    Schedule(warmup=119829, thin=800)
    """
    square = nodes * nodes
    return Schedule(warmup=max(2000, round(100 * square * math.log(nodes + 1e-9))), thin=max(40, 2 * square))


ORDERS = Walk(
    "order",
    order_steps,
    in_blocks=False,
    usual_plan=order_plan,
    adds_to_prior=", times the number of orders that the graph agrees with",
)
PARTITIONS = Walk(
    "partition", partition_steps, in_blocks=True, usual_plan=partition_plan, from_order=start_partition
)
WALKS = {walk.name: walk for walk in (ORDERS, PARTITIONS)}
