"""Another pseudocount for a network that knows the rows behind its tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.network.networks import GaussianNetwork, Network
from dagora.network.origin import Origin
from dagora.network.table_prior import PseudoCount, TablePrior


def with_pseudocount(network: Network, pseudocount: PseudoCount) -> Network:
    """The network with its tables as another pseudocount makes them.

    >>> from dagora.graph.dag import DAG
    >>> from dagora.network.fit import fit
    >>> network = fit(DAG("a"), {"a": ["no", "yes", "yes"]})
    >>> with_pseudocount(network, 1.0).tables["a"]
    array([0.4, 0.6])
    """
    origin = network.origin
    if isinstance(network, GaussianNetwork):
        raise OptionError("pseudocounts are for discrete columns; those of this network are continuous")
    if origin is None or not set(network.tables) <= set(origin.rows):
        raise OptionError("the network does not say how many rows are behind its tables: fit it again")
    prior = TablePrior(pseudocount)
    tables = {node: refit(table, node, origin, prior) for node, table in network.tables.items()}
    return replace(network, tables=tables, origin=replace(origin, prior=prior))


def refit(table: NDArray[np.float64], node: str, origin: Origin, prior: TablePrior) -> NDArray[np.float64]:
    """A table with another prior, from its probabilities and the rows behind them."""
    rows, before, after = origin.rows[node], origin.prior.cell(table.shape), prior.cell(table.shape)
    levels = table.shape[-1]
    counts = np.maximum(table * (rows[..., None] + before * levels) - before, 0.0)
    totals = rows + after * levels
    unseen = totals == 0
    found = (counts + after) / np.where(unseen, 1.0, totals)[..., None]
    found[unseen] = 1.0 / levels
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
