"""The order chain for `run_chains`: its kernels, and how long it warms up and thins by default."""

from __future__ import annotations

import math

from dagora.posterior.chains.chain_state import Plan
from dagora.posterior.chains.order_kernels import keep_from_order, order_steps
from dagora.posterior.chains.run_chains import Walk

WALK = Walk("order", order_steps, keep_from_order)


def order_plan(nodes: int) -> Plan:
    """Warm-up and thinning by the number of nodes: n² ln n steps bring a chain to where the mass is.

    >>> order_plan(20)
    Plan(warmup=59915, thin=400)
    """
    square = nodes * nodes
    return Plan(warmup=max(1000, round(50 * square * math.log(nodes + 1e-9))), thin=max(20, square))
