"""What every method promises: knowledge, seeds, time limits, options, odd data, and sums instead of rows.

A method or score is covered by being registered; its entry says which parts of knowledge it obeys.
"""

import inspect
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import dagora
from dagora.base.errors import DataError, KnowledgeError, OptionError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.learners.method import ALL_KNOWLEDGE, KnowledgePart, Method
from dagora.learners.outcome import STATUSES
from dagora.learners.registry import METHODS
from dagora.learners.result import Result
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.scores.registry import SCORES, Score
from dagora.stats.basis import BasisMoments
from dagora.stats.capabilities import StatisticsCapabilities
from dagora.stats.indicators import IndicatorMoments
from dagora.stats.statistics import CellCounts, Contingency, Moments

MIXED = "mixed"
KINDS = (Kind.DISCRETE, Kind.CONTINUOUS)
PARTS = get_args(KnowledgePart)
IMPOSSIBLE = 1e-300  # the probability of an edge that no data bring back
# They regress each column on all before it, on rows whose noise should not be normal.
LINGAM = {"lingam", "ica-lingam"}
# Every site learns on its own rows, and its weights are shown to the coordinator.
EACH_SITE_ALONE = {"vote", "average", "best"}
# Options that can make a method run for longer than any time limit, the first of them that it has.
ENDLESS = ("restarts", "orders", "patience", "disturbances")


def maximises_a_score(method: Method) -> bool:
    """Whether a method runs on a score, directly or through candidates, and not on an objective of its own."""
    return method.takes in {"score", "candidates"}


def kinds_of(method: Method) -> tuple[Kind, ...]:
    """The kinds of columns that a method takes; that it refuses the others is tested as well."""
    return KINDS if maximises_a_score(method) or method.any_kind else (Kind.CONTINUOUS,)


def endless(method: Method) -> dict[str, object]:
    """An option that makes a method run for very long, where it has one."""
    names = [option.name for option in method.options]
    return next(({name: 10**9} for name in ENDLESS if name in names), {})


def named(value: object) -> str:
    """Name of a case."""
    return value.name if isinstance(value, Method | Score) else str(value)


# Methods on rows that are independent of each other; `test_methods_in_time` has the others.
ON_ROWS = tuple(method for method in METHODS if not method.in_time)

CASES = [(method, kind) for method in ON_ROWS for kind in kinds_of(method)]

# Both kinds of columns in one table, which every method on scores takes too.
BOTH = [*CASES, *((method, MIXED) for method in ON_ROWS if maximises_a_score(method) or method.any_kind)]

each_method = pytest.mark.parametrize("method", METHODS, ids=named)
each_method_on_rows = pytest.mark.parametrize("method", ON_ROWS, ids=named)
each_scored_method = pytest.mark.parametrize("method", list(filter(maximises_a_score, METHODS)), ids=named)
each_score = pytest.mark.parametrize("score", SCORES, ids=named)
each_case = pytest.mark.parametrize(("method", "kind"), CASES, ids=named)
each_case_and_both = pytest.mark.parametrize(("method", "kind"), BOTH, ids=named)


@cache
def table_of(kind: Kind | str) -> Table:
    """Seven columns with enough edges that knowledge can contradict what the data say."""
    if kind == MIXED:
        return dagora.simulate(
            dagora.random_dag("er", 7, 1.5, seed=2), "mixed", 300, seed=3, relations="shift"
        ).table
    if kind is Kind.DISCRETE:
        names = ["growth", "light", "season", "cloud", "soil", "watering", "temperature"]
        return sample_network(greenhouse(), 1500, seed=5).select(names)
    return dagora.simulate(dagora.random_dag("er", 7, 1.5, seed=2), "gaussian", 400, seed=3).table


def as_given(method: Method, data: object) -> object:
    """The data themselves, or spread over three sites for a method that works on those."""
    if method.takes != "federation":
        return data
    table = data if isinstance(data, Table) else Table.from_frame(data)
    sites = [Site(f"site{k}", part) for k, part in enumerate(split_rows(table, 3))]
    return SecureStatistics(OpenFederation.over(sites, TASKS))


def truth_for(method: Method, data: object) -> dict[str, object]:
    """A truth for the methods that cannot do without."""
    needed = any(option.name == "truth" for option in method.options)
    names = data.names if isinstance(data, Table) else [str(name) for name in getattr(data, "columns", ())]
    return {"truth": DAG(names)} if needed else {}


# A network too small to learn anything: what is promised here holds for whatever it draws.
TINY = {"rounds": 30, "hidden": 2, "heads": 1, "blocks": 1, "sample": 4, "bias": -1.5}


def light(method: Method) -> dict[str, object]:
    """Options that make a method quicker and change nothing that is promised here, where it has some."""
    if method.name == "rl-bic":
        return TINY
    quicker = {"hidden": 2, "max_rounds": 6} if method.name == "admm-mlp" else {"hidden": 2}
    return {option.name: quicker[option.name] for option in method.options if option.name in quicker}


def learn(method: Method, data: object, **given: object) -> Result:
    """Learn from data given in the way that the method takes them."""
    return dagora.learn(
        as_given(method, data), method.name, **{**light(method), **truth_for(method, data), **given}
    )


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks and additive models that are fitted roughly: what is promised here holds for rough ones too."""
    for program in ("mlp", "additive"):
        monkeypatch.setattr(f"dagora.learners.optimise.{program}.program.PATH_STEPS", 20)


@cache
def plain_result(method: Method, kind: Kind | str) -> Result:
    return learn(method, table_of(kind))


def randomised(method: Method) -> dict[str, object]:
    """Options that make a method draw random numbers, where it has them."""
    return {option.name: 3 for option in method.options if option.name == "restarts"}


def content(result: Result) -> str:
    """A result as text, to the last bit and without times."""
    fields = result.to_dict()
    fields["stats"] = {key: value for key, value in result.stats.items() if not key.endswith("_seconds")}
    fields["trace"] = [[point.step, point.score.hex()] for point in result.trace]
    fields["score"] = None if result.score is None else result.score.hex()
    return json.dumps({key: value for key, value in fields.items() if key != "seconds"}, sort_keys=True)


def same(a: Result, b: Result) -> bool:
    """Return True if two results agree to the last bit in all but time."""
    return content(a) == content(b)


def directed(graph: AnyGraph) -> DAG:
    """A DAG with the edges of a graph; those of a PAG lead along its nodes."""
    if isinstance(graph, PAG):
        return DAG(graph.nodes, [sorted(pair, key=graph.index) for pair in joined(graph)])
    return graph.extension() if isinstance(graph, CPDAG) else graph


def joined(graph: AnyGraph) -> set[frozenset[str]]:
    """The pairs with an edge."""
    if isinstance(graph, PAG):
        return {frozenset((one, other)) for one, _, other in graph.marked_edges}
    return {frozenset(edge) for edge in (*graph.edges, *graph.undirected)}


def may_cause(graph: AnyGraph) -> list[tuple[str, str]]:
    """The directions that the edges of a graph may have."""
    if isinstance(graph, PAG):
        ways = [way for one, _, other in graph.marked_edges for way in ((one, other), (other, one))]
        return [(a, b) for a, b in ways if graph.sign(a, b)[0] != "<" and graph.sign(a, b)[2] != "-"]
    return [*graph.edges, *graph.undirected, *((b, a) for a, b in graph.undirected)]


def broken(graph: AnyGraph, knowledge: Knowledge) -> list[object]:
    """What of the knowledge a graph does not obey, found by looking at its edges one by one."""
    possible = may_cause(graph)
    rank = {name: height for height, tier in enumerate(knowledge.tiers) for name in tier}
    found: list[object] = [edge for edge in knowledge.required if edge not in graph.edges]
    found += [edge for edge in possible if edge in knowledge.forbidden]
    found += [(a, b) for a, b in possible if a in rank and b in rank and rank[a] > rank[b]]
    dag = directed(graph)
    if knowledge.max_parents is not None:
        found += [name for name in dag.nodes if len(dag.parents(name)) > knowledge.max_parents]
    found += [(a, b) for a, b, chance in knowledge.prior if chance == IMPOSSIBLE and (a, b) in possible]
    unlikely = [{a, b} for a, b, chance in knowledge.prior_adjacent if chance == IMPOSSIBLE]
    found += [edge for edge in possible if set(edge) in unlikely]
    found += [(a, c) for a, c in knowledge.causes if a not in dag.ancestors(c)]
    return found


def against(graph: AnyGraph, part: str) -> Knowledge:
    """Knowledge that contradicts a graph in one of its parts."""
    dag = directed(graph)
    edges = dag.edges
    apart = [
        (a, b) for a in dag.nodes for b in dag.nodes if a < b and (a, b) not in edges and (b, a) not in edges
    ]
    if part == "required":
        return Knowledge(required=[apart[0], (edges[0][1], edges[0][0])])
    if part == "forbidden pairs":
        return Knowledge(forbidden=[edge for a, b in edges[::2] for edge in ((a, b), (b, a))])
    if part == "forbidden":
        possible = may_cause(graph)
        (a, b), *others = [edge for edge in edges[::2] if edge in possible]
        return Knowledge(forbidden=[(b, a), (a, b), *others] if others else [(a, b)])
    if part == "tiers":
        half = len(dag) // 2
        return Knowledge(tiers=[dag.order[half:], dag.order[:half]])
    if part == "prior":
        both = [way for a, b in edges[::2] for way in ((a, b), (b, a))]
        return Knowledge(prior=[(a, b, IMPOSSIBLE) for a, b in both])
    if part == "adjacent prior":
        return Knowledge(prior_adjacent=[(a, b, IMPOSSIBLE) for a, b in edges[::2]])
    if part == "causes":
        return Knowledge(causes=[edges[0][::-1]])
    return Knowledge(max_parents=max(len(dag.parents(name)) for name in dag.nodes) - 1)


def refuses(method: Method, *parts: str) -> AbstractContextManager[object]:
    """Expect a refusal that says who cannot obey what: one of these parts of knowledge."""
    return pytest.raises(KnowledgeError, match=f"the method {method.name} cannot obey ({'|'.join(parts)})")


def parts_of(method: Method) -> list[KnowledgePart]:
    """The parts to try a method on; pairs are a case of single edges where it obeys those."""
    weaker = {"forbidden pairs": True, "adjacent prior": "prior" in method.obeys}
    return [part for part in PARTS if part in method.obeys or not weaker.get(part, False)]


@pytest.mark.parametrize(
    ("method", "kind", "part"),
    [(method, kind, part) for method, kind in CASES for part in parts_of(method)],
    ids=named,
)
def test_obeys_knowledge_or_says_what_it_cannot(method: Method, kind: Kind, part: KnowledgePart) -> None:
    plain = plain_result(method, kind).graph
    knowledge = against(plain, part)
    assert broken(plain, knowledge), "this knowledge asks for nothing new"
    if part not in method.obeys:
        with refuses(method, "a prior" if "prior" in part else part):
            learn(method, table_of(kind), knowledge=knowledge)
        return
    graph = learn(method, table_of(kind), knowledge=knowledge, **randomised(method)).graph
    assert not broken(graph, knowledge)
    assert joined(graph)


@each_case_and_both
def test_obeys_all_knowledge_together(method: Method, kind: Kind | str) -> None:
    names = table_of(kind).names
    knowledge = Knowledge(
        required=[(names[6], names[0])],
        forbidden=[(names[6], names[1]), (names[1], names[0])],
        tiers=[names[4:], names[:4]],
        max_parents=2,
    )
    assert broken(plain_result(method, kind).graph, knowledge)
    if cannot := set(ALL_KNOWLEDGE) - set(method.obeys):
        with refuses(method, *cannot):
            learn(method, table_of(kind), knowledge=knowledge.to_dict())
        return
    result = learn(method, table_of(kind), knowledge=knowledge.to_dict(), **randomised(method))
    assert not broken(result.graph, knowledge)
    assert Knowledge.from_dict(result.settings["knowledge"]) == knowledge
    tight = learn(method, table_of(kind), knowledge=Knowledge(max_parents=2), max_parents=1)
    assert not broken(tight.graph, Knowledge(max_parents=1)), "the stricter parent limit holds"


@each_method_on_rows
def test_refuses_knowledge_about_strangers(method: Method) -> None:
    with pytest.raises(KnowledgeError, match="'stranger'"):
        dagora.learn(table_of(Kind.DISCRETE), method.name, knowledge={"forbidden": [["stranger", "growth"]]})


@each_case_and_both
def test_same_seed_same_answer(method: Method, kind: Kind | str) -> None:
    table = table_of(kind)
    copy = Table(table.schema, tuple(column.copy() for column in table.columns))
    first = learn(method, table, seed=4, **randomised(method))
    assert same(first, learn(method, copy, seed=4, **randomised(method)))
    threaded = learn(method, copy, seed=4, jobs=2, **randomised(method))
    # A program of its own may add up in another order with two threads, but must find the same graph.
    assert same(first, threaded) if maximises_a_score(method) else first.graph == threaded.graph


def on_one_kind_each() -> list[tuple[Method, Kind]]:
    """Methods on scores, in turn on discrete and on continuous columns."""
    return [(method, KINDS[k % 2]) for k, method in enumerate(filter(maximises_a_score, METHODS))]


@pytest.mark.full
def test_same_answer_in_another_process() -> None:
    """Nothing may depend on the order of a set, which differs between processes."""
    script = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_methods as here
for method, kind in here.on_one_kind_each():
    print(here.learn(method, here.table_of(kind), seed=4, **here.randomised(method)).to_json())
"""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "12345",
        "PYTHONPATH": str(Path(dagora.__file__).parents[1]),
    }
    there = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        env=environment, capture_output=True, text=True, check=True, timeout=300,
    ).stdout.splitlines()  # fmt: skip
    here = [
        learn(method, table_of(kind), seed=4, **randomised(method))
        for method, kind in on_one_kind_each()
    ]  # fmt: skip
    assert len(there) == len(here)
    for line, result in zip(there, here, strict=True):
        assert content(Result.from_json(line)) == content(result), result.method


@each_case_and_both
def test_the_score_is_the_graphs_score(method: Method, kind: Kind | str) -> None:
    result = plain_result(method, kind)
    assert result.status in STATUSES
    assert result.graph.nodes == table_of(kind).names
    if not maximises_a_score(method):
        assert result.score_name is None
        return
    assert result.score_name is not None
    assert result.score == pytest.approx(
        dagora.score(table_of(kind), directed(result.graph), score=result.score_name), rel=1e-9
    )
    steps = [point.score for point in result.trace]
    assert steps == sorted(steps)
    assert all(score <= result.score + 1e-9 * abs(result.score) for score in steps)


@each_case_and_both
def test_any_order_of_the_columns(method: Method, kind: Kind | str) -> None:
    table = table_of(kind)
    turned = table.select(table.names[::-1])
    result = learn(method, turned)
    assert result.graph.nodes == turned.names
    plain = plain_result(method, kind)
    if method.name == "ica-lingam":
        return  # FastICA starts from random directions, and ends elsewhere if columns stand in another order
    if not maximises_a_score(method):
        assert set(result.graph.edges) == set(plain.graph.edges), "the order of columns tells nothing"
        return
    graph = directed(result.graph)
    assert result.score == pytest.approx(dagora.score(table, graph, score=result.score_name), rel=1e-9)
    assert result.status == plain.status
    # The network of `TINY` is close to drawing at random.
    close = 1e-9 if result.status == "optimal" else 0.1 if method.name == "rl-bic" else 0.02
    assert result.score == pytest.approx(plain.score, rel=close), "not far from the other order's"


@each_case
def test_a_tiny_time_limit_still_gives_a_graph(method: Method, kind: Kind) -> None:
    required = (table_of(kind).names[1], table_of(kind).names[0])
    if "required" not in method.obeys:
        result = learn(method, table_of(kind), time_limit=1e-9)
    else:
        result = learn(method, table_of(kind), time_limit=1e-9, knowledge={"required": [required]})
        assert required in result.graph.edges
    assert result.status == "time-limit"
    assert "1e-09 s" in result.message
    assert result.graph.nodes == table_of(kind).names
    assert Result.from_json(result.to_json()).graph == result.graph


@pytest.mark.parametrize(("method", "kind"), [case for case in CASES if endless(case[0])], ids=named)
def test_a_time_limit_ends_long_work(method: Method, kind: Kind) -> None:
    plain = plain_result(method, kind)
    result = learn(method, table_of(kind), time_limit=0.2, **endless(method))
    assert result.status == "time-limit"
    assert 0.2 <= result.seconds < 20
    assert result.score >= plain.score - 1e-9 * abs(plain.score), "the best found is returned"


@each_method
def test_declared_options_are_the_learners(method: Method) -> None:
    parameters = inspect.signature(method.load()).parameters.values()
    options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert {option.name: option.default for option in method.options} == options
    assert sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) == 2, "data or score, and the run"
    assert len(options) + 2 == len(parameters)


@each_score
def test_declared_options_are_the_scores(score: Score) -> None:
    module, name = score.factory.split(":")
    factory = getattr(__import__(module, fromlist=[name]), name)
    _, *parameters = inspect.signature(factory).parameters.values()
    # No number for the penalty means that the rows and columns decide, before a score is made.
    assert {option.name: option.default for option in score.options} == {
        p.name: None if p.name == "penalty" else p.default for p in parameters
    }


@pytest.mark.parametrize("entry", [*METHODS, *SCORES], ids=lambda entry: entry.name)
def test_entries_are_complete(entry: Method | Score) -> None:
    assert entry.summary
    assert entry.reference
    assert len({option.name for option in entry.options}) == len(entry.options)
    for option in entry.options:
        assert option.summary
        assert option.type in {"int", "float", "bool", "text", "graph"}
        assert option.check(option.default) == option.default
        for bound, beyond in ((option.low, -1), (option.high, 1)):
            if bound is not None:
                with pytest.raises(OptionError, match=f"'{option.name}'"):
                    option.check(type(option.default or 1)(bound + beyond))
        with pytest.raises(OptionError, match=f"'{option.name}'"):
            option.check(object())


def test_no_option_name_is_ambiguous() -> None:
    """Options of the method and of the score share one namespace, with the arguments of `learn`.

    `published` alone may belong to both, and then holds for both. `lags` is an argument for all methods, and the
    option of those that make windows themselves.
    """
    arguments = {p.name for p in inspect.signature(dagora.learn).parameters.values()}
    names = [
        {option.name for option in entry.options} - ({"lags"} if getattr(entry, "in_time", False) else set())
        for entry in (*METHODS, *SCORES)
    ]
    assert not arguments & set.union(*names)
    for method in METHODS:
        for score in SCORES:
            shared = {o.name for o in method.options} & {o.name for o in score.options}
            assert shared <= {"published"} or not maximises_a_score(method)


@each_method
def test_refuses_unknown_names_and_wrong_values(method: Method) -> None:
    table = table_of(Kind.DISCRETE)
    with pytest.raises(OptionError, match="'zeal'"):
        dagora.learn(table, method.name, zeal=1)
    with pytest.raises(OptionError, match=f"did you mean '{method.name}'"):
        dagora.learn(table, f"{method.name}x")
    with pytest.raises(OptionError, match="'bicc'" if maximises_a_score(method) else "no score"):
        dagora.learn(table, method.name, score="bicc")
    for wrong in ({"seed": -1}, {"seed": 1.5}, {"time_limit": 0}, {"time_limit": math.nan}, {"jobs": 0}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            dagora.learn(table, method.name, **wrong)


@each_case
def test_json_round_trip(method: Method, kind: Kind) -> None:
    result = plain_result(method, kind)
    again = Result.from_json(result.to_json())
    assert again.to_dict() == result.to_dict()
    assert again.graph == result.graph
    assert type(again.graph) is type(result.graph)
    assert again.trace == result.trace
    assert (again.weights is None) == (result.weights is None)
    assert np.array_equal(again.weights, result.weights)
    assert {option.name for option in method.options} <= set(result.settings)
    assert result.stats["rows"] == table_of(kind).n_rows
    assert result.seed == 0


@each_case
def test_the_input_stays_as_it_was(method: Method, kind: Kind) -> None:
    import pandas as pd

    table = table_of(kind)
    frame = pd.DataFrame(
        {
            variable.name: np.array(variable.levels)[column] if kind is Kind.DISCRETE else column
            for variable, column in zip(table.schema, table.columns, strict=True)
        }
    )
    before = frame.copy(deep=True)
    result = learn(method, frame)
    pd.testing.assert_frame_equal(frame, before)
    assert result.graph == plain_result(method, kind).graph, "a frame is as good as a table"


def small(matrix: Sequence[Sequence[int]]) -> Table:
    names = [f"v{i}" for i in range(len(matrix[0]))]
    return Table.from_numpy(matrix, names=names, discrete=names)


def noisy_line(*further: NDArray[np.float64]) -> Table:
    """Two columns, v1 a multiple of v0 plus noise, and further ones."""
    cause, noise = np.random.default_rng(0).normal(size=(2, 60))
    columns = (cause, 1.5 * cause + noise, *further)
    return Table.from_numpy(np.column_stack(columns), names=[f"v{i}" for i in range(len(columns))])


@each_case
def test_two_columns(method: Method, kind: Kind) -> None:
    result = learn(method, small([[0, 0], [1, 1]] * 30 + [[0, 1]]) if kind is Kind.DISCRETE else noisy_line())
    assert joined(result.graph) == {frozenset({"v0", "v1"})}
    if method.name in LINGAM:
        assert "may be normal in 2 of 2 columns" in result.warnings[-1]
        return
    expected = "weights that every site learned" if method.name in EACH_SITE_ALONE else "units of the columns"
    warned = method.name in EACH_SITE_ALONE or method.name.startswith("notears")
    assert len(result.warnings) == warned
    assert all(expected in warning for warning in result.warnings)


@each_method_on_rows
def test_a_constant_number_is_refused_or_gets_no_edge(method: Method) -> None:
    data = noisy_line(np.full(60, 7.0))
    if method.name in EACH_SITE_ALONE:
        assert learn(method, data).graph.edges == (("v0", "v1"),), "it may be constant at one site only"
        return
    with pytest.raises(DataError, match=r"column 'v2',? (it )?is constant"):
        learn(method, data)


@each_scored_method
def test_a_constant_column_gets_no_edge(method: Method) -> None:
    rows = [[0, 0, 7], [1, 1, 7]] * 30 + [[0, 1, 7]]
    result = learn(method, small(rows))
    assert "v2" not in {name for edge in (*result.graph.edges, *result.graph.undirected) for name in edge}
    assert any("constant" in warning and "'v2'" in warning for warning in result.warnings)
    assert not any("'v0'" in warning or "'v1'" in warning for warning in result.warnings)


@each_scored_method
def test_a_level_seen_once(method: Method) -> None:
    result = learn(method, small([[0, 0, 1], [1, 1, 0]] * 30 + [[2, 1, 0]]))
    assert any("once" in warning and "'v0'" in warning for warning in result.warnings)
    assert result.score is None or math.isfinite(result.score)


@each_case_and_both
def test_fewer_rows_than_columns(method: Method, kind: Kind | str) -> None:
    table = table_of(kind).take(np.arange(5))
    if method.name in LINGAM:
        with pytest.raises(DataError, match=r"5 rows: .* needs more rows than 8"):
            learn(method, table)
        return
    result = learn(method, table)
    assert any("fewer rows" in warning and "(5)" in warning for warning in result.warnings)
    assert result.graph.nodes == table.names
    assert result.score is None or math.isfinite(result.score)


@each_method
def test_too_little_to_learn_from(method: Method) -> None:
    with pytest.raises(DataError, match="1 column"):
        dagora.learn(small([[0], [1]]), method.name)
    with pytest.raises(DataError, match="1 row"):
        dagora.learn(small([[0, 1]]), method.name)


def other(kind: Kind) -> Kind:
    return Kind.CONTINUOUS if kind is Kind.DISCRETE else Kind.DISCRETE


def in_order(table: Table) -> Table:
    """The same rows, with levels whose order means something."""
    return replace(table, schema=Schema(replace(one, ordered=bool(one.levels)) for one in table.schema))


@each_score
def test_a_score_takes_its_kind_of_column_and_no_other(score: Score) -> None:
    table = table_of(score.kind)
    if score.needs_rows:
        # Scores of rows are expensive.
        table = table.select(table.names[:3]).take(np.arange(40))
    asked = {"score": score.name}
    if score.name == "bic-latent":  # the levels have no order by themselves
        table = in_order(table)
    result = dagora.learn(table, **asked)
    assert result.score_name == score.name
    assert result.graph.edges
    assert result.score == pytest.approx(dagora.score(table, result.graph, **asked), rel=1e-9)
    assert result.score > dagora.score(table, DAG(table.names), **asked)
    if score.kind == MIXED:
        return
    right, wrong = (table_of(kind).take(np.arange(150)) for kind in (score.kind, other(score.kind)))
    odd = Schema([*right.schema.variables[:3], wrong.schema[4]])
    mixed = Table(odd, (*right.columns[:3], wrong.columns[4]))
    with pytest.raises(DataError, match=f"'{wrong.names[4]}'"):
        dagora.learn(mixed, score=score.name)
    assert dagora.learn(mixed).score_name == "bic-mixed"


@pytest.mark.parametrize(
    "score", [s for s in SCORES if s.kind is Kind.CONTINUOUS], ids=lambda score: score.name
)
def test_a_constant_column_is_bad_input_for_a_gaussian_score(score: Score) -> None:
    schema = Schema(Variable(name, Kind.CONTINUOUS) for name in ("free", "fixed"))
    table = Table(schema, (np.linspace(0.0, 1.0, 30), np.full(30, 4.2)))
    with pytest.raises(DataError, match="'fixed' is constant"):
        dagora.learn(table, score=score.name)


class SecureSums:
    """Statistics of data that nobody may see: sums, made here by plain numpy, and no rows."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.schema = table.schema
        self.n_rows = table.n_rows

    def contingency(self, columns: Sequence[int]) -> Contingency:
        if not len(columns):
            return Contingency(np.zeros((1, 0), dtype=np.int64), np.array([self.n_rows]))
        shape = [len(self.schema[i].levels) for i in columns]
        places = np.ravel_multi_index([self._table.codes(i) for i in columns], shape)
        # In the order of cells, and quicker than rows would be.
        seen, counts = np.unique(places, return_counts=True)
        return Contingency(np.stack(np.unravel_index(seen, shape), axis=1), counts.astype(np.int64))

    def counts(self, column_sets: Sequence[Sequence[int]]) -> CellCounts:
        parts = [self.contingency(columns).counts for columns in column_sets]
        offsets = np.cumsum([0, *map(len, parts)])
        return CellCounts(np.concatenate([np.zeros(0, dtype=np.int64), *parts]), offsets)

    def moments(self) -> Moments:
        continuous = [i for i, variable in enumerate(self.schema) if variable.kind is Kind.CONTINUOUS]
        matrix = np.array([self._table.values(i) for i in continuous]).reshape(len(continuous), self.n_rows)
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        return Moments(self.n_rows, matrix.mean(axis=1), centred @ centred.T)

    def basis_moments(self, functions: int) -> BasisMoments:
        columns = np.array([self._table.values(i) for i in range(len(self.schema))])
        low, high = columns.min(axis=1, keepdims=True), columns.max(axis=1, keepdims=True)
        scaled = (2 * columns - low - high) / (high - low)
        legendre = [np.polynomial.Legendre.basis(r + 1)(scaled) for r in range(functions)]
        features = np.stack(legendre, axis=1).reshape(-1, self.n_rows)
        mean = features.mean(axis=1)
        scatter = np.cov(features, bias=True) * self.n_rows
        centre, half_width = (low + high)[:, 0] / 2, (high - low)[:, 0] / 2
        return BasisMoments(functions, centre, half_width, Moments(self.n_rows, mean, scatter))

    def indicator_moments(self) -> IndicatorMoments:
        features, sizes = [], []
        for variable, column in zip(self.schema, self._table.columns, strict=True):
            if variable.kind is Kind.CONTINUOUS:
                own = [column, column**2]
            else:
                own = [(column == level).astype(float) for level in range(1, len(variable.levels))]
            features += own
            sizes.append(len(own))
        matrix = np.array(features)
        scatter = np.cov(matrix, bias=True) * self.n_rows
        moments = Moments(self.n_rows, matrix.mean(axis=1), scatter)
        return IndicatorMoments(moments, np.cumsum([0, *sizes]))

    @property
    def capabilities(self) -> StatisticsCapabilities:
        return StatisticsCapabilities(
            basis_moments=self.basis_moments, indicator_moments=self.indicator_moments
        )

    def rows(self) -> Table:
        raise RowsUnavailableError("the rows stay with their owners: choose a method that needs only sums")


@each_score
@each_scored_method
def test_sums_are_enough(method: Method, score: Score) -> None:
    """Every count- or covariance-based method runs unchanged on data that nobody may pool."""
    secure = SecureSums(in_order(table_of(score.kind)))
    if method.needs_equivalence and not score.equivalent:
        with pytest.raises(OptionError, match=f"{method.name} needs a score"):
            dagora.learn(secure, method.name, score=score.name)
        return
    if score.needs_rows or method.needs_rows or score.name == "bic-latent":  # counts do for levels alone
        with pytest.raises(RowsUnavailableError, match="rows"):
            dagora.learn(secure, method.name, score=score.name)
        return
    pooled = dagora.learn(table_of(score.kind), method.name, score=score.name, **randomised(method))
    apart = dagora.learn(secure, method.name, score=score.name, **randomised(method))
    assert apart.graph == pooled.graph
    assert (apart.status, apart.warnings) == (pooled.status, pooled.warnings)
    for key, value in pooled.stats.items():
        # How often ILP solves its program depends on the last bits of scores that are not exact.
        counted = not key.endswith("_seconds") and (method.name, score.kind) != ("ilp", MIXED)
        assert not counted or apart.stats[key] == pytest.approx(value, rel=1e-12)
    if score.kind is Kind.DISCRETE:
        assert apart.score == pooled.score, "counts are exact, and so is what is made of them"
    else:
        assert apart.score == pytest.approx(pooled.score, rel=1e-12)


@pytest.mark.parametrize("method", [m for m in ON_ROWS if m.takes == "statistics"], ids=named)
def test_sums_are_enough_without_a_score(method: Method) -> None:
    secure = SecureSums(table_of(Kind.CONTINUOUS))
    if method.needs_rows:
        with pytest.raises(RowsUnavailableError, match="rows"):
            dagora.learn(secure, method.name)
        return
    apart, pooled = dagora.learn(secure, method.name), plain_result(method, Kind.CONTINUOUS)
    assert apart.graph == pooled.graph
    assert (apart.status, apart.warnings) == (pooled.status, pooled.warnings)


@pytest.mark.parametrize(
    ("method", "kind"), [(m, kind) for m in ON_ROWS for kind in KINDS if kind not in kinds_of(m)], ids=named
)
def test_columns_of_another_kind_are_refused(method: Method, kind: Kind) -> None:
    table = table_of(kind)
    with pytest.raises(
        DataError, match=f"the method {method.name} needs continuous columns.*'{table.names[0]}'"
    ):
        learn(method, table)
