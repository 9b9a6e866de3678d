"""RL-BIC: a neural network draws graphs from sampled rows, and their scores teach it to draw better ones.

Zhu, Ng & Chen (2020), Causal discovery with reinforcement learning. The network (`policy`) sees samples of
rows and says how likely each edge is; graphs are drawn from that, edge by edge, cyclic ones too; rewards
(`rewards`) are scaled scores with penalties on cycles; the policy learns by REINFORCE with a critic
(`training`). The policy is only a way to search: the answer is the best DAG of all that were drawn, with the
edges removed that the score can do without.

From the paper: 20 000 rounds of 64 graphs, samples of 64 rows, 6 attention blocks of 64 units with 16 heads,
a decoder of 16 units, the schedule of the penalties. The paper leaves open, or says otherwise: it scores by
linear or Gaussian-process regressions, here any score will do; its 0.3 threshold on linear weights is the
option `threshold`, while without it edges are pruned by the score. Columns are centred and divided by one
common number, so that their relative units stay, which the policy sees.

Which to use: for a good network, `auto` or `order-search`, which reach in a second what this does not in an
hour. RL-BIC is here for comparison.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.events import Edges, Event
from dagora.base.extras import JAX
from dagora.base.wording import counted
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.kernels.jax import NO_TIME, prepare_jax, time_for_jax
from dagora.learners.result import Outcome
from dagora.learners.run import Run
from dagora.learners.search.rl_bic.objective import Graphs, Objective
from dagora.learners.search.rl_bic.rewards import TIMES, Penalties, judged
from dagora.scores.digraph_scores import MOST_NODES
from dagora.scores.local_score import LocalScore, graph_score

if TYPE_CHECKING:
    from dagora.learners.search.rl_bic.policy import Layout

# How often progress is told in a run, at least.
TOLD = 200


@dataclass(frozen=True)
class ScoredRows:
    """A score, and the rows that it was made from."""

    score: LocalScore
    rows: Table


@dataclass(frozen=True)
class Settings:
    """How much is drawn, and the size of the network."""

    rounds: int
    batch: int
    sample: int
    layout: Layout


@dataclass
class Best:
    """The best DAG drawn so far, under the objective."""

    graph: Graphs
    value: float
    names: tuple[str, ...]
    round: int = 0

    def edges(self) -> Edges:
        """Its edges by name."""
        return DAG.from_numpy(self.graph, self.names).edges


def rl_bic(
    given: ScoredRows,
    run: Run,
    *,
    rounds: int = 20_000,
    batch: int = 64,
    sample: int = 64,
    hidden: int = 64,
    heads: int = 16,
    blocks: int = 6,
    bias: float | None = None,
    variances: str = "different",
    threshold: float | None = None,
) -> Outcome:
    """Draw graphs in rounds of `batch`, each from a `sample` of rows, and keep the best DAG.

    `bias` is added to every logit: the lower, the sparser are the first graphs; without it 0 on continuous
    columns, and one expected parent for each variable otherwise. `variances="equal"` scores by one pooled
    variance. With a `threshold`, edges of smaller absolute weight are dropped in the end (0.3 in the paper);
    otherwise those that the score can do without. Numbers in `stats`: `graphs` drawn, how many of them were
    `acyclic`, the round of the best one (`best_round`), its score before pruning (`drawn_score`), and
    `compile_seconds`.
    """
    JAX.require("the method rl-bic")
    score, names = given.score, given.score.schema.names
    if len(names) > MOST_NODES:
        raise OptionError(
            f"the method rl-bic takes {MOST_NODES} variables at most, not {len(names)}: use the method auto, "
            "or leave columns out"
        )
    if hidden % heads:
        raise OptionError(f"option 'heads' must divide hidden={hidden}, not {heads}")
    moments = score.capabilities.moments
    if threshold is not None and moments is None:
        raise OptionError("option 'threshold' is for scores of linear regressions: use bic-gaussian or bge")
    objective = Objective.of(score, run.knowledge, variances)
    discrete = any(variable.kind is Kind.DISCRETE for variable in score.schema)
    if bias is None:
        bias = float(-np.log(max(1, len(names) - 2))) if discrete else 0.0
    start = Best(objective.required, float(objective.judged(objective.required[None])[0][0]), names)
    stats = {"rounds": 0.0, "graphs": 0.0, "acyclic": 0.0}
    if time_for_jax(run.budget):
        prepare_jax()
        from dagora.learners.search.rl_bic.policy import Layout

        settings = Settings(rounds, batch, sample, Layout(sample, hidden, blocks, heads))
        # Scores are told only where the answer cannot fall below them.
        telling = variances == "different" and threshold is None
        stats = drawn(given.rows, objective, run, settings, bias, start, telling=telling)
    graph = objective.pruned(start.graph)[0] if threshold is None else start.graph
    if threshold is not None and moments is not None:
        graph = without_weak(graph, moments.scatter, threshold) | objective.required
    dag = DAG.from_numpy(graph, names)
    stats |= {"families": float(objective.scores.families), "drawn_score": start.value}
    done = stats["rounds"] >= rounds
    said = (
        f"the best of {counted(int(stats['acyclic']), 'DAG')} among {counted(int(stats['graphs']), 'graph')} "
        f"drawn in {counted(int(stats['rounds']), 'round')}"
    )
    if not stats["acyclic"]:
        said = f"no DAG was drawn: none among {counted(int(stats['graphs']), 'graph')}; no edge was learned"
    return Outcome(
        dag,
        "finished" if done else "time-limit",
        said if done else f"{run.budget.reason if run.budget.exhausted else NO_TIME}; {said}",
        graph_score(score, dag),
        stats,
    )


def drawn(
    table: Table,
    objective: Objective,
    run: Run,
    settings: Settings,
    bias: float,
    best: Best,
    *,
    telling: bool,
) -> dict[str, float]:
    """Draw and learn, round by round; `best` is changed as better DAGs are drawn. Returns numbers."""
    from dagora.learners.search.rl_bic.training import Chance, Settled, one_round, untrained

    rng = np.random.default_rng(run.seed)
    columns = scaled(table)
    settled = Settled(objective.free, objective.required, np.float32(bias))
    state = untrained(settings.layout, rng, settings.batch, columns.shape[1])
    bounds, penalties = objective.bounds(), Penalties.first(columns.shape[1])
    nothing = np.full(settings.batch, np.nan, dtype=np.float32)
    clock = time.perf_counter()

    def chance() -> Chance:
        return Chance.drawn(rng, columns, settings.batch, settings.sample)

    state = one_round(state, settled, nothing, chance(), settings.layout)
    graphs = np.asarray(state.graphs)
    stats = {"compile_seconds": time.perf_counter() - clock, "acyclic": 0.0, "best_round": 0.0}
    often = max(1, settings.rounds // TIMES)
    told = max(1, settings.rounds // TOLD)
    done = 0
    for done in range(1, settings.rounds + 1):
        found = judged(graphs, objective, bounds, penalties)
        stats["acyclic"] += float(found.permitted.sum())
        values = np.where(found.permitted, found.scores, -np.inf)
        leader = int(values.argmax())
        better = values[leader] > best.value
        if better:
            best.graph, best.value, best.round = graphs[leader], float(values[leader]), done
        if better or done % told == 0:
            score = best.value if telling else None
            told_of = Event("drawing graphs", done, score=score, total=settings.rounds, edges=best.edges)
            run.on_event(told_of)
        if run.budget.exhausted or done == settings.rounds:
            break
        if done % often == 0:
            penalties = penalties.grown()
        rewards = found.rewards.astype(np.float32)
        state = one_round(state, settled, rewards, chance(), settings.layout)
        graphs = np.asarray(state.graphs)
    return stats | {
        "rounds": float(done),
        "graphs": float(done * settings.batch),
        "best_round": float(best.round),
    }


def scaled(table: Table) -> NDArray[np.float32]:
    """Rows × columns, centred, and divided by the root of the mean variance.

    Levels are numbers from 0 on, in the order of their names, whatever order they were declared in.
    """
    matrix = np.empty((table.n_rows, len(table.schema)))
    for place, (variable, column) in enumerate(zip(table.schema, table.columns, strict=True)):
        if variable.kind is Kind.DISCRETE:
            ranks = np.argsort(np.argsort(np.array(variable.levels, dtype=np.str_)))
            matrix[:, place] = ranks[column]
        else:
            matrix[:, place] = column
    centred = matrix - matrix.mean(axis=0)
    spread = np.sqrt(np.square(centred).mean())
    return np.asarray(centred / (spread if spread > 0 else 1.0), dtype=np.float32)


def without_weak(graph: Graphs, scatter: NDArray[np.float64], threshold: float) -> Graphs:
    """The graph without edges whose weight in the regression of a column on its parents is below a threshold.

    >>> import dagora
    >>> from dagora.stats.table import TableStatistics
    >>> x, noise = np.random.default_rng(0).normal(size=(2, 100))
    >>> table = dagora.Table.from_numpy(np.column_stack([x, 0.5 * x + noise / 10]), names=["x", "y"])
    >>> line = np.array([[False, True], [False, False]])
    >>> scatter = TableStatistics(table).moments().scatter
    >>> [without_weak(line, scatter, t).any().item() for t in (0.3, 0.7)]
    [True, False]
    """
    kept = graph.copy()
    for child in range(len(graph)):
        parents = np.flatnonzero(graph[:, child])
        weights = np.linalg.lstsq(scatter[np.ix_(parents, parents)], scatter[parents, child], rcond=None)[0]
        kept[parents[np.abs(weights) < threshold], child] = False
    return kept
