"""Draw rows from a network, parents before children (forward or ancestral sampling).

The columns are the nodes in their order. All levels of the network are declared, in the network's order,
whether they were drawn or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagora.network.drawing import as_drawn_table, check_rows, draw_forward, seed_sequence
from dagora.network.networks import Network, require_network

if TYPE_CHECKING:
    from dagora.data.table import Table


def sample(network: Network, rows: int, seed: int) -> Table:
    """Draw rows; the same network, number of rows and seed give the same table.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.networks import DiscreteNetwork
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.2, 0.8])})
    >>> tosses = sample(coin, rows=1000, seed=0)
    >>> tosses.schema[0].levels, bool(750 < tosses.codes(0).sum() < 850)
    (('tails', 'heads'), True)
    """
    model = require_network(network).model
    check_rows(rows)
    rng = np.random.default_rng(seed_sequence(seed))
    return as_drawn_table(model, draw_forward(model, rows, rng))
