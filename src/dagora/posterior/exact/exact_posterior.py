"""Exact posteriors of up to about sixteen variables: edge probabilities up to rounding, independent draws.

All graphs are summed layer by layer (see `layer_kernels`): 4^n steps, 3^n numbers in memory. The sums give
the posterior probability of every edge and family, and draws that are independent of each other, so that
nothing needs to converge. The prior is a product over families. (Talvitie, Vuoksenmaa & Koivisto 2019, "Exact
sampling of directed acyclic graphs from modular distributions"; Tian & He 2009 for the edges.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dagora.base.budget import OutOfTimeError
from dagora.base.errors import DataError, OptionError
from dagora.base.events import Event, Watch
from dagora.base.options import GIBIBYTE
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.exact.earlier_steps import WindowWeights
from dagora.posterior.exact.graph_sums import GraphSums, bytes_needed, edge_posteriors
from dagora.posterior.space.family_tables import FamilyTables, family_tables
from dagora.posterior.space.priors import prior_named
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore

# 18 variables need 6.4 GiB (`bytes_needed`); each further one takes three times the memory and four times as
# long.
MOST_NODES = 18
# Draws made between two looks at the clock.
ROUND = 200


def exact(
    score: LocalScore,
    run: Run,
    *,
    draws: int = 1000,
    chains: int = 4,
    prior: str = "uniform",
    edge_penalty: float = 0.0,
    memory: float = 4.0,
) -> Draws:
    """Sum over all graphs, then draw `draws` graphs for each of `chains`; `memory` in GiB bounds the tables.

    >>> from dagora.data.table import Table
    >>> from dagora.scores.bdeu import bdeu
    >>> from dagora.stats.table import TableStatistics
    >>> table = Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> exact(bdeu(TableStatistics(table)), Run(), draws=5).edges.round(2)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    names = score.schema.names
    roots = run.knowledge.without_parents(names)
    nodes = int(np.count_nonzero(~roots))
    refuse_too_many(nodes, memory)
    assumed = prior_named(prior, edge_penalty=edge_penalty)
    space = Space.full(len(names))
    tables = family_tables(score, space, assumed, run, memory=memory)
    windows = WindowWeights.of(tables, roots) if roots.any() else None
    weights = full_log_weights(tables) if windows is None else windows.log_weights
    try:
        sums = GraphSums(weights, watch(run, "summing over graphs"))
    except OutOfTimeError:
        raise OptionError(
            f"{run.budget.reason} before the sum over all graphs of {nodes} variables was finished: "
            "allow more time, or use the method partition"
        ) from None
    if sums.log_total == -np.inf:
        raise DataError("no graph that the knowledge permits can be scored on these rows: get more rows")
    masks, log_scores = draw(sums, run, chains, draws)
    if windows is not None:
        earlier = np.random.default_rng([run.seed, 1])
        masks, log_scores = windows.add_earlier(masks, log_scores, earlier)
    edges: NDArray[np.float64] | None = None
    # If no time is left, the draws are returned without exact edges: these are then counted among the draws.
    if not run.budget.exhausted:
        try:
            families = sums.families(watch(run, "summing over edges"))
            edges = edge_posteriors(families)
            if windows is not None:
                edges = windows.edges(families, edges)
        except OutOfTimeError:
            edges = None
    done = masks.shape[1] == draws and edges is not None
    missing = "the edge probabilities were not summed" if masks.shape[1] == draws else "draws are missing"
    return Draws(
        names=names,
        parents=masks[..., None].astype(np.uint64),
        log_scores=log_scores,
        prior=assumed.sentence,
        space=space.note if run.knowledge.is_empty else "every parent set that the knowledge permits",
        status="finished" if done else "time-limit",
        message=(
            f"all graphs were summed; {masks.shape[0] * masks.shape[1]} independent draws"
            if done
            else f"{run.budget.reason}: {missing}"
        ),
        edges=edges,
        independent=True,
        # Windows: the sum given the columns of earlier steps.
        stats={"log_sum": sums.log_total, "families": float(np.isfinite(weights).sum())},
    )


def refuse_too_many(nodes: int, memory: float) -> None:
    """Refuse more variables than the sums can take, and say what to do."""
    instead = "use the method partition or order, which draw in chains, or leave columns out"
    if nodes > MOST_NODES:
        raise OptionError(
            f"the method exact sums over all graphs of {MOST_NODES} variables at most, not {nodes}: {instead}"
        )
    needed = bytes_needed(nodes) / GIBIBYTE
    if needed > memory:
        raise OptionError(
            f"the method exact needs {needed:.2g} GiB for {nodes} variables, and option 'memory' allows "
            f"{memory:g}: allow more memory, {instead}"
        )


def watch(run: Run, message: str) -> Watch:
    """Report progress in percent, and stop the work when its time is up."""

    def tell(done: int, total: int) -> None:
        run.on_event(Event("summing", round(100 * done / total), total=100, message=message))
        if run.budget.exhausted and done < total:
            raise OutOfTimeError

    return tell


def draw(sums: GraphSums, run: Run, chains: int, draws: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Masks of parents (chains, draws, nodes) and log scores (chains, draws), as many as time permits."""
    rng = np.random.default_rng(run.seed)
    masks, log_scores = [], []
    made = 0
    while made < draws and not (made and run.budget.exhausted):
        size = min(ROUND, draws - made)
        parents, values = sums.draws(rng.random((chains * size, 2 * sums.nodes)))
        masks.append(parents.reshape(chains, size, sums.nodes))
        log_scores.append(values.reshape(chains, size))
        made += size
        run.on_event(Event("drawing", made, total=draws))
    return np.concatenate(masks, axis=1), np.concatenate(log_scores, axis=1)


def full_log_weights(tables: FamilyTables) -> NDArray[np.float64]:
    """Log weights by child and mask over all other nodes (closed up); −inf for sets outside the space."""
    nodes = len(tables.starts)
    weights = np.full((nodes, 1 << (nodes - 1)), -np.inf)
    for child in range(nodes):
        size = int(tables.sizes[child])
        places = np.array([j - (j > child) for j in tables.cores[child, :size].tolist()], dtype=np.int64)
        masks = np.zeros(1 << size, dtype=np.int64)
        for bit, place in enumerate(places.tolist()):
            masks |= (np.arange(1 << size) >> bit & 1) << place
        for row, extra in enumerate([-1, *tables.extras[child, : tables.counts[child]].tolist()]):
            start = int(tables.starts[child]) + (row << size)
            chosen = masks if extra < 0 else masks | 1 << (extra - (extra > child))
            weights[child, chosen] = tables.log_weights[start : start + (1 << size)]
    return weights
