"""A score plus the prior odds of edges: ln p / (1 − p) for each parent whose edge has the probability p.

The score of a graph is then its log posterior up to a constant, where the score is its log (marginal)
likelihood. With probabilities of both directions alike, equivalent graphs still have the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.events import Watch, ignore_progress
from dagora.base.phrases import amount
from dagora.data.schema import Schema
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.scores.local_score import Family, LocalScore, ScoreBlock, ScoreCapabilities, align

Floats = NDArray[np.float64]
# Nats against a prior from which on that is said: odds of about 150 to 1.
STRONG = 5.0


class EdgePriorScore:
    """A score to which log odds are added, [i, j] for the parent i of j; `behind` is the score without them.

    What rests on the form of the score behind is not passed on: pruning rules, and kernels for orders.
    """

    def __init__(self, behind: LocalScore, odds: Floats) -> None:
        self.behind, self.odds = behind, odds

    @property
    def schema(self) -> Schema:
        """The variables that are scored."""
        return self.behind.schema

    @property
    def n_rows(self) -> int:
        """Number of rows behind the score."""
        return self.behind.n_rows

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of the score behind, but for its pivot form."""
        own = self.behind.capabilities
        return replace(
            own,
            block=None if own.block is None else self._block_of(own.block),
            pivot_form=ScoreCapabilities().pivot_form,
            messages=lambda: [*own.messages(), self._message()],
        )

    def _message(self) -> str:
        known = int(np.count_nonzero(self.odds))
        return f"prior log odds of {amount(known, 'edge')} were added to the score"

    def _block_of(self, block: ScoreBlock) -> ScoreBlock:
        def scored(
            children: NDArray[np.int64], parents: NDArray[np.int64], watch: Watch = ignore_progress
        ) -> Floats:
            added: Floats = self.odds[parents, children[:, None]].sum(axis=1)
            return block(children, parents, watch) + added

        return scored

    def families(self, families: Sequence[Family]) -> Floats:
        """Scores of many families."""
        return self.behind.families(families) + self.log_odds(families)

    def log_odds(self, families: Sequence[Family]) -> Floats:
        """The log odds that are added to families."""
        return np.array(
            [self.odds[list(parents), child].sum() for child, parents in families], dtype=np.float64
        )


def with_prior(
    score: LocalScore, knowledge: Knowledge, *, in_nats: bool = True, name: str = ""
) -> LocalScore:
    """The score with the prior odds that knowledge has; the same score where it has none.

    >>> from dagora.scores.registry import score_named
    >>> from dagora.stats.accepting import as_statistics
    >>> plain = score_named("bic").make(as_statistics({"a": [0, 1, 0, 1] * 9, "b": [0, 0, 1, 1] * 9}))
    >>> likely = with_prior(plain, Knowledge(prior=[("a", "b", 0.9)]))
    >>> float((likely.families([(1, (0,))]) - plain.families([(1, (0,))]))[0].round(3))
    2.197
    """
    if not knowledge.has_prior:
        return score
    if not in_nats:
        raise OptionError(
            f"the score {name} is no log probability, to which prior odds could be added: choose another, or "
            "leave the prior out"
        )
    return EdgePriorScore(score, knowledge.prior_matrix(score.schema.names))


def prior_warnings(score: LocalScore | None, graph: object, knowledge: Knowledge) -> list[str]:
    """Sentences on probabilities that the data contradict strongly, given the other edges of a learned graph.

    For each, the edge is added, left out or reversed: what the data say of that is held against the prior.
    """
    if not isinstance(score, EdgePriorScore) or not isinstance(graph, DAG):
        return []
    names = score.schema.names
    dag = align(graph, names)
    opinions = [(a, b, chance, "→") for a, b, chance in knowledge.prior]
    opinions += [(a, b, chance, "—") for a, b, chance in knowledge.prior_adjacent]
    found = []
    for a, b, chance, sign in opinions:
        prior = float(np.log(chance) - np.log1p(-chance))
        evidence = evidence_for(score.behind, dag, a, b, either=sign == "—")
        if evidence is None or abs(evidence) < STRONG or prior * evidence >= 0 or abs(evidence) <= abs(prior):
            continue
        found.append(
            f"the data contradict the prior of {a} {sign} {b} strongly: the prior odds are {odds(prior)}, "
            f"the posterior odds {odds(prior + evidence)}, given the other edges of the graph"
        )
    return found


def evidence_for(score: LocalScore, dag: DAG, a: str, b: str, *, either: bool) -> float | None:
    """The log likelihood ratio of a graph with an edge and without; None where a cycle forbids the edge."""
    i, j = dag.index(a), dag.index(b)
    if either and dag.has_edge(b, a):
        i, j = j, i
    present = dag.has_edge(dag.nodes[i], dag.nodes[j])
    if not present and dag.nodes[j] in dag.ancestors(dag.nodes[i]):
        if not either:
            return reversal_evidence(score, dag, i, j)
        i, j = j, i
    others = [parent for parent in dag.parent_indices(j) if parent != i]
    with_edge, without = score.families([(j, tuple(sorted([*others, i]))), (j, tuple(others))]).tolist()
    difference = float(with_edge - without)
    return difference if np.isfinite(difference) else None


def reversal_evidence(score: LocalScore, dag: DAG, i: int, j: int) -> float | None:
    """The log likelihood ratio of i → j against the edge j → i of the graph, where it can be reversed."""
    names = dag.nodes
    between = [k for k in dag.parent_indices(i) if k != j and names[j] in dag.ancestors(names[k])]
    if not dag.has_edge(names[j], names[i]) or between:
        return None
    ours = tuple(k for k in dag.parent_indices(i) if k != j)
    theirs = dag.parent_indices(j)
    scores = score.families(
        [(i, ours), (j, tuple(sorted([*theirs, i]))), (i, dag.parent_indices(i)), (j, theirs)]
    )
    difference = float(scores[0] + scores[1] - scores[2] - scores[3])
    return difference if np.isfinite(difference) else None


def odds(logarithm: float) -> str:
    """Odds in words.

    >>> odds(1.3863), odds(-30)
    ('4:1', '1:1e+13')
    """
    number = float(np.exp(min(abs(logarithm), 700.0)))
    shown = f"{number:.3g}" if number < 1000 else f"{number:.0e}"
    return f"{shown}:1" if logarithm >= 0 else f"1:{shown}"
