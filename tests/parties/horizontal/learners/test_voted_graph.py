"""Votes on graphs, made by hand and learned from rows."""

import numpy as np
import pytest

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.budget import Budget
from dagora.base.errors import DataError, KnowledgeError, OptionError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.equivalence import cpdag_matrix
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.graph.random_graphs import random_dag
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.parties.horizontal.learners.baselines import SHOWN_GRAPHS, dag_from_marks, majority, vote
from dagora.parties.horizontal.learners.local_learning import learn_marks
from dagora.parties.horizontal.session.federation import OpenFederation
from tests.parties.horizontal.federations import TASKS, Recording, open_federation, simulated, sites_of

each_model = pytest.mark.parametrize("model", ["pc", "ges", "hill-climb", "auto"])


def federation_with(*graphs: object, names: str = "abc", silent: int = 0) -> Recording:
    """Sites whose graphs are given as edges in words: "a>b" and "a-b"."""
    rows = np.random.default_rng(0).normal(size=(5, len(names)))
    tables = [Table.from_numpy(rows, list(names)) for _ in graphs]
    answers = {}
    for k, graph in enumerate(graphs):
        words = str(graph).split()
        edges, lines = ([(w[0], w[2]) for w in words if w[1] == mark] for mark in ">-")
        answers[f"site{k:02d}"] = {
            "graph": CPDAG(names, edges, lines).to_numpy(),
            "learned": np.array([k >= silent]),
        }
    return Recording(tables, {**TASKS, "local-graph": lambda site, _: answers[site.name]})


# Votes of sites, then the edges of the DAG, the edges dropped, and how many edges were undirected.
HAND = [
    (("a>b b>c", "a>b", "b>c"), "a>b b>c", "", 0),
    (("a>b", "b>c"), "", "", 0),
    (("a>b", "a-b", "b>c"), "a>b", "", 0),
    (("a>b", "b>a", "a-b"), "a>b", "", 1),
    (("a-b b-c", "a-b b-c", "a-b b-c"), "a>b b>c", "", 2),
    (("a-c b-c", "a-c b-c", ""), "a>c c>b", "", 2),
    (("a>b b>c", "a>b c>a", "b>c c>a", "a>b b>c", "c>a"), "a>b b>c", "c>a", 0),
]


@pytest.mark.parametrize(("votes", "edges", "dropped", "undirected"), HAND)
def test_marks_of_more_than_half_of_the_sites_are_kept(votes, edges, dropped, undirected):
    outcome = vote(federation_with(*votes), Run(), model="pc")
    assert " ".join(f"{a}>{b}" for a, b in outcome.graph.edges) == edges
    assert " ".join(f"{a}>{b}" for a, b in outcome.dropped) == dropped
    assert outcome.stats["undirected_edges"] == undirected
    assert SHOWN_GRAPHS in outcome.warnings
    assert outcome.status == "finished"


def test_the_voted_graph_can_be_had_with_its_cycles_and_undirected_edges():
    outcome = vote(federation_with("a-b b>c", "a-b b>c", "a-b c>a"), Run(), model="ges")
    assert CPDAG.from_numpy(majority(outcome.raw_weights), "abc") == CPDAG("abc", [("b", "c")], [("a", "b")])
    assert outcome.raw_weights[2, 0] == pytest.approx(1 / 3)


def test_sites_that_could_not_learn_vote_for_no_edge_and_are_counted():
    outcome = vote(federation_with("", "", "a>b", "a>b", silent=2), Run(), model="pc")
    assert outcome.graph.edges == ()
    assert outcome.stats["sites_without_graph"] == 2
    assert any(warning.startswith("2 of 4 sites voted for no edge") for warning in outcome.warnings)


def test_votes_without_a_consistent_extension_follow_the_sites():
    square = "a-b b-c c-d"
    federation = federation_with(f"{square} d-a", f"{square} d-a", f"{square} d>a", names="abcd")
    outcome = vote(federation, Run(), model="pc")
    # d → a has 3 votes, a → d 2: the others have 3 in both directions and go by the names, but for a cycle.
    assert set(outcome.graph.edges) == {("d", "a"), ("a", "b"), ("b", "c"), ("d", "c")}
    assert "with new v-structures" in outcome.message


def test_sites_that_agree_on_a_class_get_a_graph_of_it():
    for seed in range(40):
        graph = cpdag_matrix(random_dag("er", 8, 1.5, seed).to_numpy())
        found, dropped, kept = dag_from_marks(graph.astype(float), graph, np.zeros_like(graph))
        assert kept
        assert not dropped
        assert np.array_equal(cpdag_matrix(found), graph)


def test_any_marks_become_a_graph_with_the_same_pairs_but_for_those_dropped():
    rng = np.random.default_rng(3)
    ends = set()
    for _ in range(200):
        share = np.round(rng.random((6, 6)), 1)
        np.fill_diagonal(share, 0.0)
        marks = majority(share)
        found, dropped, kept = dag_from_marks(share, marks, np.zeros_like(marks))
        DAG.from_numpy(found, "abcdef")
        lost = np.zeros_like(marks)
        lost[tuple(np.array(dropped, dtype=int).reshape(-1, 2).T)] = True
        assert np.array_equal((found | lost) | (found | lost).T, marks | marks.T)
        assert not (found & ~marks).any()
        ends.add((kept, bool(dropped)))
    assert len(ends) > 2


def test_the_order_of_columns_does_not_matter():
    _, table = simulated(8, 400, 5)
    turned = table.select(table.names[::-1])
    one, other = (vote(open_federation(t, 4), Run(), model="pc").graph for t in (table, turned))
    assert other.nodes == turned.names
    assert set(one.edges) == set(other.edges)


@each_model
def test_one_site_is_the_learner_itself(model):
    _, table = simulated(7, 300, 3)
    result = vote(open_federation(table, 1), Run(), model=model)
    central = dagora.learn(table, model).graph
    assert np.array_equal(majority(result.raw_weights), central.to_numpy())
    assert result.graph == (central.extension() if isinstance(central, CPDAG) else central)


@pytest.mark.parametrize("model", ["boss", "order-search", "lingam", "notears", "dual-pc", "k2", "ilp"])
def test_any_method_may_be_that_of_the_sites(model):
    _, table = simulated(5, 300, 3)
    found = learn_marks(table, model, 0.05, Run(seed=1))
    central = dagora.learn(table, model, seed=1).plain_graph
    assert np.array_equal(found, central.to_numpy())


def test_what_cannot_vote_is_refused():
    discrete = dict(zip("abc", split_rows(sample_network(greenhouse(), 60, seed=2), 3), strict=True))
    with pytest.raises(DataError, match="continuous"):
        learn_federated(discrete, "vote", model="lingam")
    numbers = dict(zip("abc", split_rows(simulated(3, 60, 1)[1], 3), strict=True))
    for model in ("fci", "dynotears", "admm", "vote"):
        with pytest.raises(OptionError, match="model"):
            learn_federated(numbers, "vote", model=model)
    honest = {"alpha": 0.01, "knowledge": {}, "seconds": -1.0, "seed": 0}
    with pytest.raises(ProtocolError, match="model"):
        TASKS["local-graph"](sites_of([simulated(3, 30, 1)[1]])[0], {"model": "fci", **honest})


def tables_of(kind: str) -> tuple[DAG, dict[str, Table]]:
    if kind == "discrete":
        network = greenhouse()
        graph, table = network.graph, sample_network(network, 3000, seed=2)
    else:
        graph = random_dag("er", 6, 1.0, 4)
        relations = {"relations": "shift"} if kind == "mixed" else {}
        table = dagora.simulate(graph, kind, 3000, seed=2, **relations).table
    return graph, {f"s{k}": part for k, part in enumerate(split_rows(table, 3))}


@pytest.mark.full
@pytest.mark.parametrize("kind", ["discrete", "mixed", "gaussian"])
@each_model
def test_columns_of_any_kind_with_masks_and_without(model, kind):
    truth, sites = tables_of(kind)
    result = learn_federated(sites, "vote", model=model)
    assert result.graph == learn_federated(sites, "vote", model=model, secure=False).graph
    assert compare(result.graph, truth).skeleton.shd <= 2
    assert Result.from_json(result.to_json()).graph == result.graph


@pytest.mark.parametrize("model", ["pc", "hill-climb", "tabu"])
def test_knowledge_is_obeyed(model):
    truth, table = simulated(6, 300, 4)
    tail, head = truth.edges[0]
    other = truth.edges[1]
    knowledge = Knowledge(required=[(head, tail)], forbidden=[other, other[::-1]])
    outcome = vote(open_federation(table, 3), Run(knowledge=knowledge), model=model)
    assert knowledge.violations(outcome.graph) == []


def test_required_edges_stand_where_no_site_could_learn():
    _, table = simulated(5, 9, 4)
    knowledge = Knowledge(required=[("x3", "x1")])
    outcome = vote(open_federation(table, 3), Run(knowledge=knowledge), model="pc")
    assert outcome.stats["sites_without_graph"] == 3
    assert outcome.graph.edges == (("x3", "x1"),)


# Required edges, votes of sites that keep to them or not, then the edges of the DAG and how many were voted for
# or required. They stand against all votes, where nobody votes, and where the rest gets no direction by votes.
REQUIRED = [
    ("a>b", ("b>a", "b>a", "b>a"), "a>b", 1),
    ("b>a", ("a>b", "a>b", "a-b"), "b>a", 1),
    ("a>b", ("", "", "b>c"), "a>b", 1),
    ("c>a", ("a>b b>c", "a>b b>c", "b>c"), "b>c c>a", 3),
    ("d>c", ("a-b b-c c-d d-a", "a-b b-c c-d d-a", "a-b b-c c-d d-a"), "a>b a>d b>c d>c", 4),
    ("c>d d>a", ("a-b b-c", "a-b b-c", "a-b b-c"), "a>b c>b c>d d>a", 4),
]


@pytest.mark.parametrize(("required", "votes", "edges", "counted"), REQUIRED)
def test_required_edges_stand_against_votes(required, votes, edges, counted):
    known = Knowledge(required=[(edge[0], edge[2]) for edge in required.split()])
    outcome = vote(federation_with(*votes, names="abcd"), Run(known), model="pc")
    assert {f"{a}>{b}" for a, b in outcome.graph.edges} == set(edges.split())
    assert outcome.stats["raw_edges"] == counted


def test_what_a_model_cannot_obey_is_refused_before_a_site_is_asked():
    _, table = simulated(4, 60, 4)
    federation = open_federation(table, 2)
    for model in ("ges", "boss", "dual-pc"):
        with pytest.raises(KnowledgeError, match=f"the model {model} cannot obey required edges"):
            vote(federation, Run(knowledge=Knowledge(required=[("x0", "x1")])), model=model)
    with pytest.raises(OptionError, match="'alpha' must lie between 0 and 1"):
        vote(federation, Run(), model="pc", alpha=1.0)


@each_model
def test_no_time_is_told(model):
    _, table = simulated(20, 100, 4)
    outcome = vote(open_federation(table, 4), Run(budget=Budget(1e-6)), model=model)
    assert outcome.status == "time-limit"
    assert len(outcome.graph.edges) < 20


@pytest.mark.parametrize("model", ["pc", "hill-climb"])
def test_tests_that_found_no_end_vote_for_nothing_and_searches_for_what_they_have(model):
    """PC begins with all pairs joined."""
    _, table = simulated(6, 300, 3)
    marks = learn_marks(table, model, 0.01, Run(budget=Budget(1e-9)))
    assert (marks is None) == (model == "pc")


def test_the_level_of_tests_reaches_the_sites():
    """x1 depends on x0 so weakly that only tests at a high level see it."""
    random = np.random.default_rng(5)
    tables = []
    for _ in range(3):
        x, noise = random.normal(size=(2, 200))
        noise -= x * (x @ noise) / (x @ x)  # not correlated with x at all
        tables.append(Table.from_numpy(np.stack([x, 0.11 * x + noise], axis=1), ["x0", "x1"]))
    at = {
        alpha: vote(OpenFederation.over(sites_of(tables), TASKS), Run(), model="pc", alpha=alpha).graph.edges
        for alpha in (0.01, 0.3)
    }
    assert at == {0.01: (), 0.3: (("x0", "x1"),)}


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (
            "pc",
            {"lambda1": 0.1},
            "option 'lambda1' means nothing with model=pc: it goes with model=linear or",
        ),
        ("ges", {"threshold": 0.3}, "option 'threshold' means nothing with model=ges"),
        ("tabu", {"alpha": 0.1}, "option 'alpha' means nothing with model=tabu: it goes with model=pc"),
        ("linear", {"alpha": 0.1}, "option 'alpha' means nothing with model=linear"),
    ],
)
def test_options_of_other_models_are_refused_before_a_site_is_asked(model, given, words):
    _, table = simulated(4, 60, 4)
    sites = {f"s{k}": part for k, part in enumerate(split_rows(table, 3))}
    with pytest.raises(OptionError, match=words):
        learn_federated(sites, "vote", model=model, **given)


@each_model
def test_a_number_that_is_constant_at_one_site_has_no_edge_there(model):
    _, table = simulated(4, 300, 2)
    rows = np.column_stack(table.columns)
    rows[:100, 1] = 0.5
    parts = [Table.from_numpy(part, "abcd", continuous=list("abcd")) for part in np.split(rows, 3)]
    knowledge = Knowledge(forbidden=[("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")])
    marks = learn_marks(parts[0], model, 0.01, Run(knowledge))
    assert marks is not None
    assert marks.any()
    assert not marks[1].any()
    assert not marks[:, 1].any()
    assert not marks[0, 2]
    outcome = vote(OpenFederation.over(sites_of(parts), TASKS), Run(), model=model)
    assert outcome.stats["sites_without_graph"] == 0


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_too_few_rows_for_a_test(rows):
    _, table = simulated(4, 20, 2)
    few = Table(table.schema, tuple(column[:rows] for column in table.columns))
    assert learn_marks(few, "pc", 0.01, Run()) is None


WRONG = [
    ({"graph": np.zeros((3, 3))}, "did not answer with booleans of shape"),
    ({"graph": np.zeros((2, 2), dtype=bool)}, "did not answer with booleans of shape"),
    ({"graph": np.eye(3, dtype=bool)}, "answered with an edge from a column to itself"),
    ({"learned": True}, "did not answer with booleans of shape"),
]


@pytest.mark.parametrize(("change", "reason"), WRONG)
def test_a_site_that_answers_nonsense_is_named(change, reason):
    answer = {"graph": np.zeros((3, 3), dtype=bool), "learned": np.array([True]), **change}
    federation = federation_with("a>b", "a>b")
    federation.tasks["local-graph"] = lambda _site, _question: answer
    with pytest.raises(ProtocolError, match=f"^site00 {reason}"):
        vote(federation, Run(), model="pc")
