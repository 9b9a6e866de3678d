"""Greedy search over classes under interventions, step by step against brute force."""

import numpy as np
import pytest

from dagora.api.learn import learn
from dagora.data.interventions import Interventions
from dagora.graph.interventions import interventional_cpdag
from dagora.learners.run import Run
from dagora.learners.search.ges.class_graph import DELETE, INSERT, TURN
from dagora.learners.search.ges.ges import PHASES, ges
from dagora.scores.local_score import TIE, graph_score
from dagora.scores.registry import score_named
from dagora.stats.interventional import InterventionalStatistics
from tests.learners.search.ges.class_oracles import edited, members
from tests.random_tables import continuous_table, random_continuous, random_dag, random_discrete

KIND_OF = {phase: kind for kind, phase in PHASES.items()}
CHOICES = [None, "x0", ("x1", "x2"), "x3"]


def interventional_score(name, seed, rows=90):
    rng = np.random.default_rng(seed)
    if name == "bic-gaussian":
        table = random_continuous(rng, rows, 4)
    else:
        table = random_discrete(rng, rows, (2, 3, 2, 2))
    drawn = np.random.default_rng(seed + 100).integers(2 + seed % 3, size=rows)
    interventions = Interventions.of_rows([CHOICES[k] for k in drawn], table.names)
    return score_named(name).make(InterventionalStatistics(table, interventions))


def neighbouring(dag, kind, regimes):
    own = interventional_cpdag(dag, regimes)
    alike = [member for member in members(dag) if interventional_cpdag(member, regimes) == own]
    return {interventional_cpdag(after, regimes) for member in alike for after in edited(member, kind)} - {
        own
    }


@pytest.mark.parametrize("name", ["bic", "bdeu", "bic-gaussian"])
def test_each_step_is_the_best_one_and_the_end_is_a_local_optimum(name):
    seen = set()
    for seed in range(8):
        score = interventional_score(name, seed)
        regimes = score.capabilities.interventions.regimes
        kinds = []
        ges(
            score,
            Run(on_event=lambda event, k=kinds: event.phase in KIND_OF and k.append(KIND_OF[event.phase])),
        )
        visited = [ges(score, Run(), max_steps=k).graph for k in range(len(kinds) + 1)]
        for graph, after, kind in zip(visited, visited[1:], kinds, strict=False):
            assert interventional_cpdag(graph.extension(), regimes) == graph
            best = max(
                graph_score(score, g.extension()) for g in neighbouring(graph.extension(), kind, regimes)
            )
            assert graph_score(score, after.extension()) == pytest.approx(best, rel=1e-10)
        top = graph_score(score, visited[-1].extension())
        for kind in (INSERT, DELETE, TURN):
            for graph in neighbouring(visited[-1].extension(), kind, regimes):
                assert graph_score(score, graph.extension()) <= top + 2 * TIE * abs(top)
        seen |= set(kinds)
    assert INSERT in seen


def linear_rows(truth, targets, rows, rng):
    """Rows of a linear model in which some variables are set to noise of their own."""
    values = np.zeros((rows, len(truth)))
    weights = np.random.default_rng(5).uniform(0.7, 1.3, (len(truth), len(truth)))
    for i in truth.order_indices:
        parents = [] if truth.nodes[i] in targets else list(truth.parent_indices(i))
        values[:, i] = values[:, parents] @ weights[parents, i] + rng.standard_normal(rows)
    return values


@pytest.mark.full
def test_many_rows_show_the_true_class_under_interventions():
    """The best graph is the truth; greedy search, which has no guarantee here, mostly ends there."""
    names = [f"x{i}" for i in range(6)]
    regimes = [(), ("x0",), ("x4",)]
    greedy = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        truth = random_dag(rng, 6, names=names)
        values = np.vstack([linear_rows(truth, targets, 4000, rng) for targets in regimes])
        interventions = Interventions.of_rows([t for t in regimes for _ in range(4000)], names)
        statistics = InterventionalStatistics(continuous_table(values, names), interventions)
        best = learn(statistics, "dynamic", score="bic-gaussian").graph
        assert interventional_cpdag(best, regimes) == interventional_cpdag(truth, regimes)
        greedy += learn(statistics, "ges", score="bic-gaussian").graph == interventional_cpdag(truth, regimes)
    assert greedy >= 4
