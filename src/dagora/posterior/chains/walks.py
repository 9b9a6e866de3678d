"""The two kinds of chains: over orders and over ordered partitions.

A `Walk` holds what differs between them: the kernel that makes steps, what a random start order becomes, how
long a chain warms up and thins by default, and what the chain adds to the prior.
"""

from __future__ import annotations

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


# Steps per node of the warm-up, and between two draws. On 100 Gaussian columns chains over orders agree after
# 800 steps per node in all, those over partitions after 1600: a thousand draws take several times as many.
# Few columns cost little: there as many steps as pass between draws that are nearly independent.
WARMUP, THIN, THIN_OF_FEW = 1000, 5, 500


def order_plan(nodes: int) -> Schedule:
    """Warm-up and thinning by the number of nodes.

    >>> order_plan(20), order_plan(100)
    (Schedule(warmup=20000, thin=400), Schedule(warmup=100000, thin=500))
    """
    return Schedule(WARMUP * nodes, max(20, THIN * nodes, min(nodes * nodes, THIN_OF_FEW)))


def partition_plan(nodes: int) -> Schedule:
    """Warm-up and thinning by the number of nodes; of few nodes partitions mix more slowly than orders.

    >>> partition_plan(12), partition_plan(100)
    (Schedule(warmup=12000, thin=288), Schedule(warmup=100000, thin=500))
    """
    return Schedule(WARMUP * nodes, max(40, THIN * nodes, min(2 * nodes * nodes, THIN_OF_FEW)))


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
