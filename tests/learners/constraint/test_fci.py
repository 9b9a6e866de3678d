"""FCI finds the PAG of the truth where tests are right; every mark of RFCI is right then; both on data."""

from itertools import combinations

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError, KnowledgeError, OptionError
from dagora.data.partition import split_rows
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.true_pag import true_mag, true_pag
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.edge_marks import ARROW, NONE, TAIL
from dagora.learners.constraint import fci, rfci
from dagora.learners.constraint.pag_search import pag_by
from dagora.learners.run import Run
from dagora.network.greenhouse import greenhouse
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from tests.graph.ancestral.all_mags import classes
from tests.learners.constraint.separation_oracle import SeparationOracle

BOTH = pytest.mark.parametrize("method", ["fci", "rfci"])
# Neither the neighbours of x nor those of y separate them: b and d are needed as well as a and c.
FAR = ["h1 x", "h1 a", "h2 a", "h2 b", "h3 y", "h3 c", "h4 c", "h4 d", "a y", "b y", "c x", "d x"]
HIDDEN = ["h1", "h2", "h3", "h4"]


def found_by(method, test, **options):
    return pag_by(test, Run(), {"fci": fci, "rfci": rfci}[method].find_marks, "it", **options)


class Listed:
    """A test that says what a list of independences says."""

    def __init__(self, said, size):
        self._said = said
        self.names = tuple("abcd"[:size])
        self.max_given, self.batch_size = size, 100

    def p_values(self, x, y, given):
        triples = zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
        return np.array(
            [float((min(a, b), max(a, b), tuple(sorted(z))) in self._said) for a, b, z in triples]
        )


@pytest.mark.full
@BOTH
@pytest.mark.parametrize("selection", [False, True])
def test_the_marks_that_all_graphs_of_a_class_have_in_common(method, selection):
    for said, marks in classes(4, selection=selection)[0].items():
        found = found_by(method, Listed(said, 4), selection=selection)
        assert np.array_equal(found.graph.to_numpy(), marks)
        assert not found.warnings


def with_hidden(seed):
    """A random DAG, and which of its nodes are hidden, and which select rows."""
    rng = np.random.default_rng(seed)
    truth = dagora.random_dag("er", int(rng.integers(6, 10)), float(rng.choice([1.0, 1.5, 2.0])), seed=seed)
    names = rng.permutation(truth.nodes).tolist()
    hidden = int(rng.integers(1, 4))
    return truth, names[:hidden], names[hidden : hidden + (seed % 3 == 0)]


def check_against_the_truth(truth, hidden, selected):
    test = SeparationOracle(truth, hidden, selected)
    pag = true_pag(truth, hidden, selected)
    found = found_by("fci", test, selection=bool(selected))
    assert found.graph == pag
    quick = found_by("rfci", test, selection=bool(selected))
    assert_sound(quick.graph, truth, selected)
    assert not ((pag.to_numpy() != NONE) & (quick.graph.to_numpy() == NONE)).any()
    return found, quick


def assert_sound(graph, truth, selected):
    """Every tail is at a cause, and no arrow is, by the ancestors in the DAG itself."""
    marks = graph.to_numpy()
    behind = {name for chosen in selected for name in truth.ancestors(chosen)}
    for (i, one), (j, other) in combinations(enumerate(graph.nodes), 2):
        for mark, node, end in ((marks[i, j], other, one), (marks[j, i], one, other)):
            cause = node in truth.ancestors(end) or node in behind
            assert mark not in {ARROW, TAIL} or (mark == TAIL) == cause, (one, other)


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_with_hidden_causes(seed):
    check_against_the_truth(*with_hidden(seed))


@pytest.mark.slow
def test_many_random_graphs_with_hidden_causes():
    for seed in range(40, 400):
        check_against_the_truth(*with_hidden(seed))


def far_apart(seed):
    """A truth in which distant nodes are needed to separate x and y, and more that is random."""
    rng = np.random.default_rng(seed)
    order = ["b", "d", "e", "a", "c", "x", "y"]
    edges = [tuple(edge.split()) for edge in FAR]
    edges += [("e", name) for name in order[3:] if rng.random() < 0.4]
    edges += [(name, "e") for name in order[:2] if rng.random() < 0.4]
    return DAG([*order, *HIDDEN], edges)


@pytest.mark.parametrize("seed", range(5))
def test_nodes_far_away_are_needed_to_separate(seed):
    found, quick = check_against_the_truth(far_apart(seed), HIDDEN, [])
    if seed in {0, 1}:
        assert found.stats["edges_removed_later"] == 1
        assert found.graph.sign("x", "y") is None
        assert quick.graph.sign("x", "y") is not None, "RFCI does without these tests"


def test_rfci_tests_what_it_concludes_from():
    """With g, x and y are the ends of an edge on a path, and independent given what separates others."""
    edges = [tuple(edge.split()) for edge in [*FAR, "a g", "x g", "k g", "k x"]]
    _, quick = check_against_the_truth(DAG([*"abcdgxyk", *HIDDEN], edges), ["k", *HIDDEN], [])
    assert quick.stats["edges_removed_later"] == 1
    assert quick.graph.sign("x", "y") is None


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_without_hidden_causes_it_agrees_with_the_class_of_dags(method, seed):
    truth = dagora.random_dag("er", 7, 1.5, seed=seed)
    graph = found_by(method, SeparationOracle(truth)).graph
    completed = CPDAG.from_dag(truth)
    pairs = {frozenset(pair) for pair in (*completed.edges, *completed.undirected)}
    assert {frozenset((one, other)) for one, _, other in graph.marked_edges} == pairs
    for one, sign, other in graph.marked_edges:
        assert sign in {"-->", "o->", "o-o"}
        assert sign == "o-o" or (one, other) in completed.edges
    assert_sound(graph, truth, [])
    assert true_mag(truth).edges == truth.edges


@BOTH
@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
def test_where_columns_stand_does_not_matter(method, kind):
    if kind == "discrete":
        table = greenhouse().sample(800, seed=3)
    else:
        table = dagora.simulate(dagora.random_dag("er", 7, 2, seed=4), "gaussian", 150, seed=4).table
    names = list(table.names)
    found = dagora.learn(table, method, alpha=0.05)
    shuffled = np.random.default_rng(0).permutation(names).tolist()
    again = dagora.learn(table.select(shuffled), method, alpha=0.05)
    assert again.graph.reorder(names) == found.graph
    assert again.stats["tests"] == found.stats["tests"]


@BOTH
def test_a_hidden_cause_shows_in_data(method):
    table = dagora.simulate(DAG("abcdh", ["ab", "hb", "hc", "dc"]), "gaussian", 2000, seed=1).table
    found = dagora.learn(table.select(list("abcd")), method)
    assert found.graph == PAG("abcd", [("a", "o->", "b"), ("b", "<->", "c"), ("d", "o->", "c")])
    assert found.stats["tests"] > 0
    assert {(one.first, one.second, one.given) for one in found.separating_sets} == set()
    with pytest.raises(DagoraError, match="needs a DAG or CPDAG, not a PAG"):
        _ = found.cpdag


@pytest.mark.full
def test_tests_over_sites_find_the_same():
    table = greenhouse().sample(900, seed=2)
    sites = SecureStatistics(
        OpenFederation.over([Site(f"s{k}", part) for k, part in enumerate(split_rows(table, 3))], TASKS)
    )
    for method in ("fci", "rfci"):
        assert dagora.learn(sites, method).graph == dagora.learn(table, method).graph


@BOTH
def test_knowledge_is_about_causes(method):
    a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    rows = {"a": a, "b": a + b, "c": a + b + c}
    assert dagora.learn(rows, method).graph.to_text() == "a o-o b\nb o-o c"
    tiers = dagora.learn(rows, method, knowledge={"tiers": [["a"], ["b", "c"]]}).graph
    assert tiers.to_text() == "a o-> b\nb --> c", "b is no cause of a; else a, b, c would be a v-structure"
    required = dagora.learn(rows, method, knowledge={"required": [["c", "a"]]}).graph
    assert required.sign("c", "a") == "-->"
    neither = dagora.learn(rows, method, knowledge={"forbidden": [["a", "b"], ["b", "a"]]}).graph
    assert neither.sign("a", "b") == "<->"
    with pytest.raises(KnowledgeError, match=f"the method {method} cannot obey .*counts no parents"):
        dagora.learn(rows, method, max_parents=1)


@BOTH
def test_bad_input(method):
    with pytest.raises(DataError, match=f"method {method}.*equal up to scale|equal up to scale"):
        dagora.learn({"a": [0.1, 0.5, 0.9, 0.3], "b": [0.2, 1.0, 1.8, 0.6]}, method)
    with pytest.raises(OptionError, match="between 0 and 1"):
        dagora.learn({"a": [0, 1] * 30, "b": [1, 0] * 30}, method, alpha=1.0)
    with pytest.raises(DataError, match="too few rows"):
        dagora.learn({"a": [0.1, 0.2, 0.7], "b": [0.3, 0.1, 0.2]}, method)
    with pytest.raises(OptionError, match=f"{method} returns a PAG, whose edges have marks: leave the boot"):
        dagora.bootstrap({"a": [0, 1] * 30, "b": [1, 0] * 30}, method)


def test_limits_on_what_is_given_and_on_time():
    test = SeparationOracle(far_apart(0), HIDDEN)
    limited = found_by("fci", test, max_given=3)
    assert limited.stats["largest_set"] == 3
    assert limited.graph.sign("x", "y") is not None
    table = dagora.simulate(dagora.random_dag("er", 40, 4, seed=1), "gaussian", 5000, seed=1).table
    found = dagora.learn(table, "fci", alpha=0.2, time_limit=0.6)
    assert found.status == "time-limit"
    assert found.seconds < 5
    assert "may be missing or wrong" in found.message or "no mark was worked out" in found.message


@pytest.mark.full
def test_tests_that_contradict_each_other_are_warned_of():
    rng = np.random.default_rng(5)
    warned = 0
    for _ in range(20):
        table = dagora.Table.from_numpy(rng.normal(size=(30, 8)) @ rng.normal(size=(8, 8)))
        warned += any("contradict" in line for line in dagora.learn(table, "rfci", alpha=0.3).warnings)
    assert warned


@BOTH
def test_one_edge_is_told_as_one(method: str) -> None:
    rows = {"a": [0, 1] * 50, "b": [0, 1] * 45 + [1, 0] * 5}
    assert dagora.learn(rows, method).message.startswith("1 edge is left after ")
