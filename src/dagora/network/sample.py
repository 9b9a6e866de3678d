"""Draw rows from a network, parents before children (forward or ancestral sampling).

The columns are the nodes in their order. All levels of the network are declared, in the network's order,
whether they were drawn or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.network.networks import Network, require_network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dagora.data.table import Table
    from dagora.network.inference.question import Value


def sample_network(
    network: Network,
    rows: int,
    seed: int,
    *,
    evidence: Mapping[str, Value] | None = None,
    do: Mapping[str, Value] | None = None,
) -> Table:
    """Draw rows from a network with parameters.

    Parameters
    ----------
    network : DiscreteNetwork, GaussianNetwork or MixedNetwork
        From `fit` or `read_network`.
    rows : int
        Number of rows, 1 or more.
    seed : int
        The same seed gives the same table.
    evidence : mapping, optional
        Observed levels or values by name: rows are drawn from the conditional distribution.
    do : mapping, optional
        Levels or values by name that are set by intervention.

    Returns
    -------
    Table
        A column per node.

    Examples
    --------
    >>> import numpy as np
    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.networks import DiscreteNetwork
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("tails", "heads")}, {"coin": np.array([0.2, 0.8])})
    >>> tosses = sample_network(coin, rows=1000, seed=0)
    >>> tosses.schema[0].levels, bool(750 < tosses.codes(0).sum() < 850)
    (('tails', 'heads'), True)
    >>> sample_network(coin, rows=3, seed=0, evidence={"coin": "tails"}).codes(0).tolist()
    [0, 0, 0]
    """
    return require_network(network).sample(rows, seed, evidence=evidence, do=do)
