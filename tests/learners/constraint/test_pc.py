"""PC: the exact class where tests are right; both searches agree; knowledge; the order of columns; votes of separating sets."""

from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError, KnowledgeError
from dagora.data.partition import split_rows
from dagora.graph.cpdag import CPDAG
from dagora.graph.enumerate import all_dags
from dagora.learners.constraint import gaussian_sets
from dagora.learners.constraint.gaussian_sets import GaussianSets
from dagora.learners.constraint.pc import by_votes, pc_by
from dagora.learners.constraint.skeleton import Skeleton, TestedSets, find_skeleton
from dagora.learners.independence.counted import CountTest
from dagora.learners.independence.fisher_z import FisherZ
from dagora.learners.run import Run
from dagora.network.greenhouse import greenhouse
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.scores.gaussian import COLLINEAR
from dagora.stats.table import TableStatistics
from tests.learners.constraint.separation_oracle import SeparationOracle

ORIENTATIONS = ("max", "first", "conservative", "majority")


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_the_exact_class_where_every_test_is_right(seed, orientation):
    truth = dagora.random_dag(("er", "sf")[seed % 2], 6 + seed % 3, 2, seed=seed)
    found = pc_by(SeparationOracle(truth), Run(), orientation=orientation)
    assert found.graph == CPDAG.from_dag(truth)
    assert not found.warnings


@pytest.mark.full
def test_the_exact_class_of_every_graph_over_four_nodes():
    for truth in all_dags(4):
        assert pc_by(SeparationOracle(truth), Run()).graph == CPDAG.from_dag(truth)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_walk_over_prefixes_finds_what_single_tests_find(seed, largest):
    truth = dagora.random_dag("er", 15, 2.5, seed=seed)
    test = FisherZ(TableStatistics(dagora.simulate(truth, "gaussian", 300, seed=seed).table), "it")
    none = np.zeros((15, 15), dtype=np.bool_)
    one, other = (
        find_skeleton(kind(test, largest=largest), 0.05, Run(), none, none)
        for kind in (GaussianSets, TestedSets)
    )
    assert (one.adjacent == other.adjacent).all()
    assert {pair: found.given for pair, found in one.separations.items()} == {
        pair: found.given for pair, found in other.separations.items()
    }
    for pair, found in one.separations.items():
        assert found.p == pytest.approx(other.separations[pair].p, abs=1e-9)
    if largest:
        assert one.tests == other.tests, "a pair given a set is one test, whichever end meets it"


@pytest.mark.parametrize("kind", ["discrete", "gaussian"])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_where_columns_stand_does_not_matter(kind, orientation):
    if kind == "discrete":
        table = greenhouse().sample(800, seed=3)
    else:
        table = dagora.simulate(dagora.random_dag("er", 8, 2, seed=4), "gaussian", 150, seed=4).table
    names = list(table.names)
    found = dagora.learn(table, "pc", orientation=orientation, alpha=0.05).graph
    shuffled = np.random.default_rng(0).permutation(names).tolist()
    again = dagora.learn(table.select(shuffled), "pc", orientation=orientation, alpha=0.05).graph
    assert again.reorder(names) == found


def test_knowledge():
    a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    rows = {"a": a, "b": a + b, "c": a + b + c}
    free = dagora.learn(rows, "pc").graph
    assert set(free.undirected) == {("a", "b"), ("b", "c")}
    known = dagora.learn(rows, "pc", knowledge={"tiers": [["a"], ["b", "c"]]}).graph
    assert set(known.edges) == {("a", "b"), ("b", "c")}  # a → b, so b → c: else a new v-structure
    required = dagora.learn(rows, "pc", knowledge={"required": [["c", "a"]]}).graph
    assert ("c", "a") in required.edges
    never = dagora.learn(rows, "pc", knowledge={"forbidden": [["a", "b"], ["b", "a"]]}).graph
    assert not {("a", "b"), ("b", "a")} & {*never.edges, *never.undirected}
    with pytest.raises(KnowledgeError, match="counts no parents"):
        dagora.learn(rows, "pc", max_parents=1)


def test_edges_that_may_not_go_any_way_are_dropped():
    a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    rows = {"a": a, "b": a + b, "c": a + b + c + 0.5 * a}
    round_trip = {"forbidden": [["b", "a"], ["c", "b"], ["a", "c"]]}
    with pytest.warns(match="every direction of them is forbidden"):
        graph = dagora.learn(rows, "pc", knowledge=round_trip).graph
    assert len(graph.edges) + len(graph.undirected) == 2
    assert not {("b", "a"), ("c", "b"), ("a", "c")} & set(graph.edges)


@pytest.mark.parametrize(
    ("rows", "options", "error"),
    [
        ({"a": [0.1, 0.2, 0.4, 0.7], "b": ["x", "y", "x", "y"]}, {"test": "fisher-z"}, "'b' is discrete"),
        ({"a": [0.1, 0.2, 0.4, 0.7], "b": ["x", "y", "x", "y"]}, {"test": "x2"}, "'a' is continuous"),
        ({"a": [0, 1] * 30, "b": [1, 0] * 30}, {"alpha": 1.0}, "between 0 and 1"),
        ({"a": [0, 1] * 30, "b": [1, 0] * 30}, {"test": "t"}, "'test'"),
        ({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}, {"test": "fisher-z"}, "needs continuous columns"),
    ],
)
def test_bad_input(rows, options, error):
    with pytest.raises(DagoraError, match=error):
        dagora.learn(rows, "pc", **options)


def test_few_rows_and_a_limit_on_what_is_given():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(6, 5)) + rng.normal(size=(6, 1)) * 5
    table = dagora.Table.from_numpy(rows, names=list("abcde"))
    with pytest.warns(match="too few rows"):
        dagora.learn(table, "pc", alpha=0.999)
    limited = dagora.learn(table, "pc", alpha=0.5, max_given=0)
    assert limited.stats["largest_set"] == 0


def test_independent_columns_have_no_edges():
    rows = np.random.default_rng(4).integers(0, 3, size=(300, 6))
    table = dagora.Table.from_numpy(rows, names=list("abcdef"), discrete=list("abcdef"))
    assert not dagora.learn(table, "pc", alpha=0.001).graph.edges


def test_a_column_that_is_determined():
    with pytest.raises(DataError, match="equal up to scale"):
        dagora.learn({"a": [0.1, 0.5, 0.9, 0.3], "b": [0.2, 1.0, 1.8, 0.6]}, "pc")


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_forbidden_pair_can_still_be_the_ends_of_a_v_structure(orientation):
    truth = dagora.DAG("abc", [("a", "c"), ("b", "c")])
    apart = Run(dagora.Knowledge(forbidden=[("a", "b"), ("b", "a")]))
    found = pc_by(SeparationOracle(truth), apart, orientation=orientation)
    assert found.graph == CPDAG.from_dag(truth)


def test_too_few_rows_for_any_test():
    with pytest.raises(DataError, match="cannot make a single test"):
        dagora.learn({"a": [0.1, 0.5, 0.9], "b": [0.7, 0.2, 0.4]}, "pc")


def test_on_one_kind_of_columns_mixed_is_the_test_of_that_kind():
    numbers = {"a": [0.1, 0.5, 0.9, 0.3, 0.2, 0.7], "b": [0.7, 0.2, 0.4, 0.1, 0.9, 0.3]}
    assert "by fisher-z at level" in dagora.learn(numbers, "pc", test="mixed").message
    assert (
        "by x2 at level"
        in dagora.learn({"a": ["x", "y"] * 9, "b": ["u", "v", "v"] * 6}, "pc", test="mixed").message
    )


def test_separating_sets_are_in_the_result():
    a, b, c = np.random.default_rng(1).normal(size=(3, 500))
    result = dagora.learn({"z": a, "b": a + b, "c": a + b + c}, "pc")
    (found,) = result.separating_sets
    assert found[:3] == ("c", "z", ("b",))
    assert 0.01 < found.p <= 1
    assert result.stats["tests"] >= 4
    assert dagora.Result.from_json(result.to_json()).separating_sets == result.separating_sets


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_over_sites_a_round_has_many_tests(orientation):
    """The graph of the pooled rows, in a few rounds: of votes, one a level; of first ones, waves."""
    table = greenhouse().sample(900, seed=5)
    asked = []

    class Counting(OpenFederation):
        def counts(self, column_sets):
            asked.append(len(column_sets))
            return super().counts(column_sets)

    sites = [Site(f"s{k}", part) for k, part in enumerate(split_rows(table, 3))]
    apart = dagora.learn(SecureStatistics(Counting.over(sites, TASKS)), "pc", orientation=orientation)
    pooled = dagora.learn(table, "pc", orientation=orientation)
    assert apart.graph == pooled.graph
    assert apart.separating_sets == pooled.separating_sets
    assert apart.stats["tests"] == pooled.stats["tests"]
    assert len(asked) <= 12 < apart.stats["tests"] / 3


def test_time_is_looked_at_between_calls():
    class Clock:
        exhausted = False

    class Slow(SeparationOracle):
        def p_values(self, x, y, given):
            assert len(x) <= 3
            Clock.exhausted = True
            return super().p_values(x, y, given)

    oracle = Slow(dagora.random_dag("er", 6, 2, seed=0))
    oracle.batch_size = 3
    run = replace(Run(), budget=Clock())
    for largest in (True, False):
        Clock.exhausted = False
        complete = ~np.eye(6, dtype=np.bool_)
        assert TestedSets(oracle, largest=largest).separate(complete, 1, 0.01, run)[1] == 3


@pytest.mark.full
def test_many_rows_are_counted_by_few_tests_at_a_time():
    rows = np.random.default_rng(0).integers(0, 2, size=(2_000_000, 2))
    table = dagora.Table.from_numpy(rows, names=["a", "b"], discrete=["a", "b"])
    assert CountTest(TableStatistics(table), "x2", "it").batch_size == 10


class GivenValues:
    """A test whose p-values are given, as {"ab|cd": p}; all others are 0."""

    batch_size = 1000

    def __init__(self, names: str, p_values: dict[str, float]) -> None:
        self.names = tuple(names)
        self.max_given = len(names)
        self.asked: list[str] = []
        self._p_values = p_values

    def p_values(self, x: np.ndarray, y: np.ndarray, given: np.ndarray) -> np.ndarray:
        asked = [
            "|".join("".join(sorted(self.names[k] for k in part)) for part in ([a, b], rest))
            for a, b, rest in zip(x.tolist(), y.tolist(), given.tolist(), strict=True)
        ]
        self.asked += asked
        return np.array([self._p_values.get(each, 0.0) for each in asked])


def test_half_of_the_votes_is_doubt_and_no_v_structure() -> None:
    # Of the sets that separate a and b, {} and {c}, one has c.
    found = pc_by(GivenValues("abc", {"ab|": 0.5, "ab|c": 0.4}), Run(), orientation="majority")
    assert found.graph == CPDAG("abc", undirected=["ac", "bc"])
    assert found.warnings == (
        "separating sets disagree on 1 path a — c — b: whether a → c ← b is open, and no v-structure was made",
    )


@pytest.mark.parametrize(("with_c", "arrows", "doubtful"), [(1, True, 0), (2, False, 1), (3, False, 0)])
def test_by_majority_only_half_is_doubt(with_c: int, arrows: bool, doubtful: int) -> None:
    """Four sets separate a and b, of which so many have c: a quarter is none, three quarters are enough."""
    sets = [
        ["ab|", "ab|d", "ab|e", "ab|c"],
        ["ab|", "ab|d", "ab|c", "ab|cd"],
        ["ab|", "ab|c", "ab|cd", "ab|ce"],
    ]
    names = "abcde"
    adjacent = np.zeros((5, 5), dtype=np.bool_)
    for a, b in ("ac", "bc", "ad", "ae"):
        adjacent[names.index(a), names.index(b)] = adjacent[names.index(b), names.index(a)] = True
    test = GivenValues(names, dict.fromkeys(sets[with_c - 1], 0.5))
    skeleton = Skeleton(adjacent, max_given=5, level=2)
    separates, _ = by_votes(skeleton, np.zeros_like(adjacent), test, 0.01, Run(), majority=True)
    assert separates(0, 2, 1) == (not arrows)
    only_c = Skeleton(adjacent.copy(), max_given=5, level=2)
    # Paths through others: no set separates their ends, so they are as the skeleton says, and never in doubt.
    assert by_votes(only_c, np.zeros_like(adjacent), test, 0.01, Run(), majority=True)[1] == doubtful
    assert by_votes(only_c, np.zeros_like(adjacent), test, 0.01, Run(), majority=False)[1] == 1, (
        "conservatively all three are in doubt"
    )


@pytest.mark.parametrize("most", [None, 1])
def test_the_whole_neighbourhood_has_a_vote(most: int | None) -> None:
    """a — b — c — d — a: the skeleton needs no set of two, but {b, d} can separate a and c."""
    p_values = {"ac|": 0.5, "bd|a": 0.5, "ac|bd": 0.4}
    test = GivenValues("abcd", p_values)
    found = pc_by(test, Run(), orientation="conservative", max_given=most)
    assert found.stats["largest_set"] == 1
    assert ("ac|bd" in test.asked) == (most is None), "no more is given than allowed"
    assert any("disagree on 2 paths a — c — b" in said for said in found.warnings) == (most is None)


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.2), (0.2, 0.9)])
def test_of_contradicting_v_structures_the_more_certain_one_is_kept(first: float, second: float) -> None:
    # a → b ← c and b → c ← d cannot both be: the ends with the larger p-value are more surely independent.
    test = GivenValues("abcd", {"ac|": first, "bd|": second, "ad|": 0.5})
    found = pc_by(test, Run())
    kept = [("a", "b"), ("c", "b")] if first > second else [("b", "c"), ("d", "c")]
    assert set(kept) <= set(found.graph.edges)
    assert any("1 v-structures contradict others" in said for said in found.warnings)


@pytest.mark.parametrize(("variance", "tested"), [(COLLINEAR, False), (2 * COLLINEAR, True)])
def test_a_column_of_no_variance_is_in_no_test(variance, tested):
    covariances = np.array([[variance, 0.0], [0.0, 1.0]])
    squares, sets = np.ones(1), np.zeros((1, 0), dtype=np.int64)
    gaussian_sets.test_ends(covariances, np.zeros(0, dtype=np.int64), 0.5, True, squares, sets)
    assert (squares[0] < 1) == tested
