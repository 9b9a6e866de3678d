"""What a posterior says, against the enumerated truth; and that nothing is lost on the way to JSON and ArviZ."""

import json
import math
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp

from dagora.base.errors import FormatError, GraphError, OptionError
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.metrics import compare
from dagora.learners.run import Run
from dagora.posterior.draws import Draws
from dagora.posterior.summary.posterior import Posterior
from dagora.scores.registry import score_named
from dagora.stats.table import TableStatistics
from tests.posterior.oracle import draws_of, enumerate_graphs, enumeration, matrices, posterior_of
from tests.random_tables import random_dag, random_discrete

TABLE = random_discrete(np.random.default_rng(3), 60, [2, 3, 2, 2])
SCORE = score_named("bdeu").make(TableStatistics(TABLE))
MASKS, LOG_SCORES = enumerate_graphs(SCORE)
SHARE = np.exp(LOG_SCORES - logsumexp(LOG_SCORES))
ALL = matrices(MASKS)
GRAPHS = [DAG.from_numpy(matrix, TABLE.names) for matrix in ALL]
A, B, C, D = TABLE.names
TRUTH = DAG(TABLE.names, [(A, B), (B, C), (D, C)])


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    return posterior_of(enumeration(SCORE, Run(seed=1), draws=5000, chains=4))


def within(found: object, truth: float, atol: float = 1e-9) -> None:
    assert abs(found.mean - truth) <= 4 * found.error + atol
    assert found.error < 0.05 * max(1.0, abs(truth))


def test_edges(posterior: Posterior) -> None:
    exact = np.tensordot(SHARE, ALL.astype(float), axes=1)
    drawn = matrices(posterior.draws.parents[..., 0].reshape(-1, 4))
    assert posterior.edge_probability == pytest.approx(drawn.mean(axis=0), abs=1e-12)
    assert (np.abs(posterior.edge_probability - exact) <= 4 * posterior.edge_error + 1e-9).all()
    naive = np.sqrt(exact * (1 - exact) / 20_000)
    assert posterior.edge_error == pytest.approx(naive, rel=0.35, abs=1e-9)


def test_exact_edges_are_taken_as_they_are(posterior: Posterior) -> None:
    exact = np.tensordot(SHARE, ALL.astype(float), axes=1)
    known = posterior_of(
        Draws(**{**vars(enumeration(SCORE, Run(seed=2), draws=50, chains=2)), "edges": exact})
    )
    assert known.edge_probability is exact
    assert not known.edge_error.any()
    found = known.feature("edge", A, B)
    assert (found.mean, found.error) == (exact[0, 1], 0.0)
    assert known.feature("adjacent", A, B).mean == pytest.approx(exact[0, 1] + exact[1, 0])
    distances = [compare(graph, TRUTH).dag.shd for graph in GRAPHS]
    found = known.expected_shd(TRUTH)
    assert (found.mean, found.error) == (pytest.approx((SHARE * distances).sum()), 0.0)
    assert known.expected_shd(TRUTH, on="cpdag").error > 0


def test_features(posterior: Posterior) -> None:
    named = {
        ("edge", B, A): lambda graph: graph.has_edge(B, A),
        ("adjacent", A, C): lambda graph: graph.has_edge(A, C) or graph.has_edge(C, A),
        ("path", A, D): lambda graph: D in graph.descendants(A),
        ("ancestor", A, D): lambda graph: A in graph.ancestors(D),
    }
    for name, function in named.items():
        exact = sum(share * function(graph) for share, graph in zip(SHARE, GRAPHS, strict=True))
        found = posterior.feature(*name)
        within(found, exact)
        assert posterior.feature(function).mean == pytest.approx(found.mean)
        i, j = (TABLE.names.index(node) for node in name[1:])
        assert posterior.pair_probability(name[0])[i, j] == pytest.approx(found.mean)
    blanket = posterior.pair_probability("blanket")
    assert np.allclose(blanket, blanket.T)
    within(posterior.feature(lambda graph: len(graph.edges)), float((SHARE * ALL.sum(axis=(1, 2))).sum()))


def test_equal_graphs_are_looked_at_once(posterior: Posterior) -> None:
    seen = []
    posterior.feature(lambda graph: bool(seen.append(graph)))
    assert len(seen) == len(set(seen)) < 543


def test_features_that_cannot_be(posterior: Posterior) -> None:
    with pytest.raises(OptionError, match="did you mean 'edge'"):
        posterior.feature("edges", A, B)
    with pytest.raises(OptionError, match="known are edge, adjacent, path, ancestor, blanket, cpdag"):
        posterior.feature("nope", A, B)
    with pytest.raises(OptionError, match="no feature of two variables named 'cpdag'"):
        posterior.pair_probability("cpdag")
    with pytest.raises(OptionError, match="two variables"):
        posterior.feature("edge", A)
    with pytest.raises(OptionError, match="one graph"):
        posterior.feature("cpdag", A)
    with pytest.raises(GraphError, match="'zebra'"):
        posterior.feature("path", A, "zebra")
    with pytest.raises(GraphError, match="'zebra'"):
        posterior.expected_shd(DAG([*TABLE.names[:3], "zebra"]))


def test_graphs_and_classes(posterior: Posterior) -> None:
    graphs = posterior.graphs()
    assert sum(share for _, share in graphs) == pytest.approx(1.0)
    assert [share for _, share in graphs] == sorted((share for _, share in graphs), reverse=True)
    exact = dict(zip(GRAPHS, SHARE, strict=True))
    for graph, share in graphs[:5]:
        assert share == pytest.approx(exact[graph], abs=5 * math.sqrt(exact[graph] / 20_000))
    assert posterior.graphs(most=3) == graphs[:3]
    by_class: dict[CPDAG, float] = {}
    for graph, share in zip(GRAPHS, SHARE, strict=True):
        by_class[CPDAG.from_dag(graph)] = by_class.get(CPDAG.from_dag(graph), 0.0) + share
    classes = posterior.classes()
    assert len(dict(classes)) == len(classes)
    assert sum(share for _, share in classes) == pytest.approx(1.0)
    for graph, share in classes[:5]:
        assert share == pytest.approx(by_class[graph], abs=5 * math.sqrt(by_class[graph] / 20_000))
        assert posterior.feature("cpdag", graph).mean == pytest.approx(share)
        assert posterior.feature("cpdag", graph.extension().reorder([D, B, A, C])).mean == pytest.approx(
            share
        )
    assert posterior.classes(most=2) == classes[:2]
    best = GRAPHS[int(LOG_SCORES.argmax())]
    assert posterior.score == pytest.approx(LOG_SCORES.max())
    assert CPDAG.from_dag(posterior.best_graph) == CPDAG.from_dag(best)


@pytest.mark.parametrize("on", ["dag", "skeleton", "cpdag"])
def test_expected_distances(posterior: Posterior, on: str) -> None:
    shuffled = TRUTH.reorder([C, A, D, B])
    compared = [getattr(compare(graph, TRUTH), on) for graph in GRAPHS]
    within(posterior.expected_shd(shuffled, on=on), float((SHARE * [c.shd for c in compared]).sum()))
    within(posterior.expected_tp(shuffled, on=on), float((SHARE * [c.correct for c in compared]).sum()))
    within(posterior.expected_fp(shuffled, on=on), float((SHARE * [c.wrong for c in compared]).sum()))
    within(posterior.expected("f1", shuffled, on=on), float((SHARE * [c.f1 for c in compared]).sum()))
    own = posterior.expected(lambda graph, truth: getattr(compare(graph, truth), on).shd, shuffled)
    assert own.mean == pytest.approx(posterior.expected_shd(TRUTH, on=on).mean)


def test_a_class_as_the_truth(posterior: Posterior) -> None:
    truth = CPDAG.from_dag(TRUTH)
    compared = [compare(graph, truth) for graph in GRAPHS]
    for on in ("dag", "skeleton", "cpdag"):
        exact = float((SHARE * [getattr(c, on).shd for c in compared]).sum())
        within(posterior.expected_shd(truth, on=on), exact)


def test_consensus(posterior: Posterior) -> None:
    chosen = posterior.consensus()
    assert set(chosen.edges) == {
        (TABLE.names[i], TABLE.names[j]) for i, j in np.argwhere(posterior.edge_probability > 0.5)
    }
    assert len(posterior.consensus(0.0).edges) == 6


def test_weights() -> None:
    two = [DAG("ab", [("a", "b")]), DAG("ab")]
    weighted = posterior_of(draws_of([two] * 4, log_weights=np.log([[3.0, 1.0]] * 4) - 5000))
    assert weighted.weights.sum() == pytest.approx(1.0)
    assert weighted.edge_probability[0, 1] == pytest.approx(0.75)
    assert weighted.graphs()[0] == (two[0], pytest.approx(0.75))
    assert weighted.feature("path", "a", "b").mean == pytest.approx(0.75)
    assert weighted.expected_shd(two[1]).mean == pytest.approx(0.75)
    assert weighted.consensus() == two[0]


def same(one: Posterior, other: Posterior) -> None:
    for name, value in vars(one.draws).items():
        again = getattr(other.draws, name)
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, again)
            assert value.dtype == again.dtype
            assert value.shape == again.shape
        else:
            assert value == again
    assert other.to_dict() == one.to_dict()
    assert repr(other) == repr(one)


@pytest.mark.full
def test_json_round_trip(posterior: Posterior) -> None:
    same(posterior, Posterior.from_json(posterior.to_json()))
    content = json.loads(posterior.to_json())
    assert content["edges"] == [list(edge) for edge in posterior.consensus().edges]
    assert content["edge_probability"][A][B] == posterior.edge_probability[0, 1]
    assert set(content["edge_probability"][A]) == {B, C, D}
    assert "draws" not in posterior.to_dict(draws=False)
    generator = np.random.default_rng(0)
    wide = [[random_dag(generator, 70, 0.05) for _ in range(5)] for _ in range(2)]
    weights = generator.normal(size=(2, 5))
    weights[1, 2] = -math.inf
    rich = posterior_of(
        draws_of(
            wide, log_weights=weights, edges=generator.random((70, 70)), independent=True,
            stats={"steps": 3.0}, warnings=("odd",), status="time-limit",
        ),
        seconds=1.5, seed=7, stats={"rows": 3.0}, settings={"prior": "uniform"}, versions={"python": "3"},
        warnings=("odd", "even"),
    )  # fmt: skip
    same(rich, Posterior.from_json(rich.to_json()))


@pytest.mark.parametrize("text", ["[]", "{}", "no", '{"nodes": ["a"], "draws": {}}', '{"nodes": 3}'])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="not a posterior in JSON"):
        Posterior.from_json(text)


def test_without_draws() -> None:
    nothing = Draws(
        ("a", "b"),
        np.zeros((4, 0, 2, 1), dtype=np.uint64),
        np.zeros((4, 0)),
        "any",
        "all",
        "failed",
        "no time",
    )
    empty = posterior_of(nothing)
    same(empty, Posterior.from_json(empty.to_json()))
    assert np.isnan(empty.edge_probability).all()
    assert empty.score is None
    assert empty.consensus().edges == ()
    assert empty.graphs() == []
    for ask in (
        lambda: empty.best_graph,
        lambda: empty.feature("edge", "a", "b"),
        lambda: empty.expected_shd(TRUTH),
    ):
        with pytest.raises(OptionError, match="no draws to look at: no time"):
            ask()


def test_arviz(posterior: Posterior) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        few = posterior_of(enumeration(SCORE, Run(seed=4), draws=200, chains=4))
        few.draws.log_scores.flags.writeable = False
        data = few.to_arviz()
        # Equivalent graphs share their score up to rounding, which ranks must not see.
        rounded = data["posterior"][["log_score"]].round(6)
        found = {name: float(getattr(arviz, name)(rounded)["log_score"]) for name in ("rhat", "ess")}
    assert found["rhat"] == pytest.approx(few.diagnostics.rhat, rel=1e-9)
    assert found["ess"] == pytest.approx(few.diagnostics.bulk_ess, rel=1e-9)
    edge = data["posterior"]["edge"]
    assert edge.dims == ("chain", "draw", "parent", "child")
    assert float(edge.sel(parent=A, child=B).mean()) == pytest.approx(few.edge_probability[0, 1])


@pytest.mark.parametrize(("version", "positional"), [("0.23.4", 0), ("1.1.0", 1)])
def test_both_generations_of_arviz(monkeypatch: pytest.MonkeyPatch, version: str, positional: int) -> None:
    calls = []
    fake = SimpleNamespace(__version__=version, from_dict=lambda *a, **k: calls.append((a, k)))
    monkeypatch.setitem(sys.modules, "arviz", fake)
    two = [DAG("ab", [("a", "b")]), DAG("ab")]
    posterior_of(draws_of([two] * 4, log_weights=np.zeros((4, 2)))).to_arviz()
    ((given, named),) = calls
    assert len(given) == positional
    groups = given[0] if positional else named
    assert {"posterior", "sample_stats"} <= set(groups)
    assert set(groups["sample_stats"]) == {"lp", "log_weight"}
    assert groups["posterior"]["edge"][0, :, 0, 1].tolist() == [1, 0]
    assert named["dims"] == {"edge": ["parent", "child"]}


def test_without_arviz(monkeypatch: pytest.MonkeyPatch, posterior: Posterior) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(OptionError, match="to_arviz needs ArviZ: pip install"):
        posterior.to_arviz()
