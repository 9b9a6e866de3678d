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
from dagora.base.phrases import amount
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.kernels.jax import NO_TIME, prepare_jax, time_for_jax
from dagora.learners.outcome import Outcome
from dagora.learners.run import Run
from dagora.learners.search.rl_bic.objective import Graphs, Objective
from dagora.learners.search.rl_bic.rewards import TIMES, CyclePenalties, reward_graphs
from dagora.scores.digraph_scores import MOST_NODES
from dagora.scores.local_score import LocalScore, graph_score

if TYPE_CHECKING:
    from dagora.learners.search.rl_bic.policy import PolicyLayout

# Reports of progress in a run, at least.
REPORTS = 200


@dataclass(frozen=True)
class ScoredRows:
    """A score, and the rows that it was made from."""

    score: LocalScore
    rows: Table


@dataclass(frozen=True)
class TrainingSettings:
    """The number of rounds, graphs and rows drawn, and the size of the network."""

    rounds: int
    batch: int
    sample: int
    layout: PolicyLayout


@dataclass
class BestDag:
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
    start = BestDag(objective.required, float(objective.evaluate(objective.required[None])[0][0]), names)
    stats = {"rounds": 0.0, "graphs": 0.0, "acyclic": 0.0}
    if time_for_jax(run.budget):
        prepare_jax()
        from dagora.learners.search.rl_bic.policy import PolicyLayout

        settings = TrainingSettings(rounds, batch, sample, PolicyLayout(sample, hidden, blocks, heads))
        # Scores are reported only where the answer cannot fall below them.
        reports_scores = variances == "different" and threshold is None
        stats = train(given.rows, objective, run, settings, bias, start, reports_scores=reports_scores)
    graph = objective.prune(start.graph)[0] if threshold is None else start.graph
    if threshold is not None and moments is not None:
        graph = without_weak(graph, moments.scatter, threshold) | objective.required
    dag = DAG.from_numpy(graph, names)
    stats |= {"families": float(objective.scores.families), "drawn_score": start.value}
    done = stats["rounds"] >= rounds
    message = (
        f"the best of {amount(int(stats['acyclic']), 'DAG')} among {amount(int(stats['graphs']), 'graph')} "
        f"drawn in {amount(int(stats['rounds']), 'round')}"
    )
    if not stats["acyclic"]:
        message = f"no DAG was drawn: none among {amount(int(stats['graphs']), 'graph')}; no edge was learned"
    return Outcome(
        dag,
        "finished" if done else "time-limit",
        message if done else f"{run.budget.reason if run.budget.exhausted else NO_TIME}; {message}",
        graph_score(score, dag),
        stats,
    )


def train(
    table: Table,
    objective: Objective,
    run: Run,
    settings: TrainingSettings,
    bias: float,
    best: BestDag,
    *,
    reports_scores: bool,
) -> dict[str, float]:
    """Draw and learn, round by round; writes better DAGs to `best` and returns the statistics of the work."""
    from dagora.learners.search.rl_bic.training import Chance, FixedInputs, initial_state, one_round

    rng = np.random.default_rng(run.seed)
    columns = scale_columns(table)
    fixed = FixedInputs(objective.free, objective.required, np.float32(bias))
    state = initial_state(settings.layout, rng, settings.batch, columns.shape[1])
    bounds, penalties = objective.bounds(), CyclePenalties.first(columns.shape[1])
    nothing = np.full(settings.batch, np.nan, dtype=np.float32)
    clock = time.perf_counter()

    def chance() -> Chance:
        return Chance.draw(rng, columns, settings.batch, settings.sample)

    state = one_round(state, fixed, nothing, chance(), settings.layout)
    graphs = np.asarray(state.graphs)
    stats = {"compile_seconds": time.perf_counter() - clock, "acyclic": 0.0, "best_round": 0.0}
    often = max(1, settings.rounds // TIMES)
    between = max(1, settings.rounds // REPORTS)
    done = 0
    for done in range(1, settings.rounds + 1):
        found = reward_graphs(graphs, objective, bounds, penalties)
        stats["acyclic"] += float(found.permitted.sum())
        values = np.where(found.permitted, found.scores, -np.inf)
        leader = int(values.argmax())
        better = values[leader] > best.value
        if better:
            best.graph, best.value, best.round = graphs[leader], float(values[leader]), done
        if better or done % between == 0:
            score = best.value if reports_scores else None
            event = Event("drawing graphs", done, score=score, total=settings.rounds, edges=best.edges)
            run.on_event(event)
        if run.budget.exhausted or done == settings.rounds:
            break
        if done % often == 0:
            penalties = penalties.grow()
        rewards = found.rewards.astype(np.float32)
        state = one_round(state, fixed, rewards, chance(), settings.layout)
        graphs = np.asarray(state.graphs)
    return stats | {
        "rounds": float(done),
        "graphs": float(done * settings.batch),
        "best_round": float(best.round),
    }


def scale_columns(table: Table) -> NDArray[np.float32]:
    """Rows × columns, centred, and divided by the root of the mean variance.

    Levels are coded from 0 on in the order of their names, whatever order they were declared in.
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
