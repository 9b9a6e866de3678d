"""A posterior by enumeration: every graph on a few nodes with its probability, and draws from that list."""

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from dagora.graph.dag import DAG
from dagora.graph.enumerate import all_parent_sets
from dagora.posterior.draws import Draws
from dagora.posterior.mixing import diagnose
from dagora.posterior.posterior import Posterior
from dagora.posterior.priors import prior_named
from dagora.run import Run
from dagora.scores.local_score import LocalScore


def enumerate_graphs(score: LocalScore, prior: str = "uniform") -> tuple[np.ndarray, np.ndarray]:
    """Masks of parents (graphs, nodes) of all DAGs, and their log scores with the log prior."""
    nodes = len(score.schema.names)
    masks = np.array(list(all_parent_sets(nodes)), dtype=np.uint64)
    factor = prior_named(prior).log_factor(np.arange(nodes), nodes)
    total = np.zeros(len(masks))
    for child in range(nodes):
        sets = [[j for j in range(nodes) if mask >> j & 1] for mask in range(1 << nodes)]
        allowed = [parents for parents in sets if child not in parents]
        values = score.families([(child, parents) for parents in allowed])
        by_mask = {sum(1 << j for j in p): v + factor[len(p)] for p, v in zip(allowed, values, strict=True)}
        total += [by_mask[int(mask)] for mask in masks[:, child]]
    return masks, total


def matrices(masks: np.ndarray) -> np.ndarray:
    """Adjacency matrices [graph, parent, child]."""
    nodes = masks.shape[1]
    return (masks[:, None, :] >> np.arange(nodes, dtype=np.uint64)[None, :, None] & np.uint64(1)).astype(bool)


def enumeration(
    score: LocalScore,
    run: Run,
    *,
    draws: int,
    chains: int,
    prior: str = "uniform",
) -> Draws:
    """A sampler: independent draws from the enumerated posterior, without telling edges exactly."""
    masks, log_scores = enumerate_graphs(score, prior)
    probability = np.exp(log_scores - logsumexp(log_scores))
    chosen = np.random.default_rng(run.seed).choice(
        len(masks), size=(chains, draws), p=probability / probability.sum()
    )
    return Draws(
        names=score.schema.names,
        parents=masks[chosen][..., None],
        log_scores=log_scores[chosen],
        prior=prior_named(prior).sentence,
        space="every graph",
        status="finished",
        message="all graphs were listed",
        stats={"graphs": float(len(masks))},
    )


def draws_of(graphs: Sequence[Sequence[DAG]], **more: object) -> Draws:
    """Draws that are given graphs, chain by chain; the log score of a graph is minus its number of edges."""
    rows = np.array([[graph.parent_rows for graph in chain] for chain in graphs], dtype=np.uint64)
    values = {
        "names": graphs[0][0].nodes,
        "parents": rows,
        "log_scores": np.array([[-float(len(graph.edges)) for graph in chain] for chain in graphs]),
        "prior": "any",
        "space": "all",
        "status": "finished",
        "message": "made up",
        **more,
    }
    return Draws(**values)


def posterior_of(draws: Draws, **more: object) -> Posterior:
    return Posterior(draws, diagnose(draws), "made-up", "none", **more)
