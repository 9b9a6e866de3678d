"""The front door: data in every form, options handed on, circumstances checked, results complete."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagora
from dagora.api.candidates import candidates
from dagora.api.learn import learn
from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError, DataError, FormatError, GraphError, KnowledgeError, OptionError
from dagora.base.events import Event
from dagora.base.options import Option
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.learners.checks import split_options
from dagora.learners.outcome import Outcome
from dagora.learners.registry import METHODS, method_named
from dagora.learners.result import Result
from dagora.learners.run import Run
from dagora.learners.search.greedy.hill_climb import hill_climb
from dagora.scores.registry import SCORES, score_named
from dagora.stats.accepting import as_statistics
from dagora.stats.table import TableStatistics
from tests.random_tables import (
    continuous_table,
    discrete_table,
    random_continuous,
    random_dag,
    random_discrete,
    random_mixed,
)

TABLE = random_discrete(np.random.default_rng(0), 300, [2, 3, 2, 3, 2])
NUMBERS = random_continuous(np.random.default_rng(1), 100, 4)
BOTH = random_mixed(np.random.default_rng(2), 100, [2, 0, 3, 0])
# Scores that integrate take their time.
FEW_NUMBERS = random_continuous(np.random.default_rng(1), 20, 3)
DEAR = {"gp": {"estimator": "laplace"}, "gp2": {"estimator": "laplace"}}
# So do neural networks.
TINY = {"rl-bic": {"rounds": 5, "hidden": 2, "heads": 1, "blocks": 1, "sample": 4}}


@pytest.mark.parametrize("method", [entry.name for entry in METHODS if entry.takes == "score"])
@pytest.mark.parametrize("score", [entry.name for entry in SCORES])
def test_every_method_runs_on_every_score(method, score):
    numbers = FEW_NUMBERS if score in DEAR else NUMBERS
    table = {Kind.DISCRETE: TABLE, "mixed": BOTH}.get(score_named(score).kind, numbers)
    options = DEAR.get(score, {})
    if method_named(method).needs_equivalence and not score_named(score).equivalent:
        with pytest.raises(OptionError, match="equivalent"):
            learn(table, method, score=score)
        return
    network = TINY.get(method, {})
    result = learn(table, method, score=score, seed=3, **options, **network)
    assert (result.method, result.score_name, result.seed) == (method, score, 3)
    assert result.graph.nodes == table.names
    assert result.score == pytest.approx(dagora.score(table, result.graph, score, **options), rel=1e-12)
    assert result.stats["rows"] == table.n_rows
    assert result.seconds > 0
    assert set(result.versions) == {"python", "dagora", "numpy", "numba", "scipy"}
    if method == "hill-climb":  # of every method, `tests/contracts` has it
        # Two runs agree to the last bit, time aside.
        again = learn(table, method, score=score, seed=3, **options, **network).to_dict()
        assert without_time(again) == without_time(result.to_dict())


def without_time(content):
    return {
        **content,
        "seconds": 0,
        "trace": [p[1:] for p in content["trace"]],
        "stats": {key: value for key, value in content["stats"].items() if not key.endswith("_seconds")},
    }


def test_learn_adds_nothing_to_the_search_itself():
    outcome = hill_climb(score_named("bic").make(TableStatistics(TABLE)), Run(seed=4), restarts=3)
    result = learn(TABLE, "hill-climb", seed=4, restarts=3)
    assert (result.graph, result.score, result.status) == (outcome.graph, outcome.score, outcome.status)
    assert result.score_name == "bic"
    assert learn(NUMBERS).score_name == "bic-gaussian"


@pytest.mark.full
def test_data_in_every_form_give_one_answer(tmp_path):
    frame = pd.DataFrame({name: TABLE.codes(i).astype(int) for i, name in enumerate(TABLE.names)})
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    forms = [TABLE, TableStatistics(TABLE), frame, pl.from_pandas(frame), str(path), path]
    graphs = {learn(form).graph for form in forms}
    assert len(graphs) == 1
    assert next(iter(graphs)).edges
    assert len({round(dagora.score(form, random_dag(np.random.default_rng(0), 5)), 9) for form in forms}) == 1


def test_the_number_of_jobs_changes_nothing():
    assert learn(TABLE, jobs=2).graph == learn(TABLE).graph
    one, two = candidates(TABLE, jobs=1), candidates(TABLE, jobs=2)
    assert [entry.parents for entry in one] == [entry.parents for entry in two]


def test_results_go_through_json():
    start = DAG(TABLE.names, [("x0", "x1")])
    knowledge = {"forbidden": [["x0", "x2"]], "tiers": [["x0"], ["x1"]]}
    result = learn(
        TABLE, "tabu", score="bdeu", ess=2, knowledge=knowledge, max_parents=2, time_limit=50, start=start
    )
    again = Result.from_json(result.to_json())
    assert again.to_dict() == result.to_dict()
    settings = json.loads(result.to_json())["settings"]
    assert settings["ess"] == 2.0
    assert settings["start"] == [["x0", "x1"]]
    assert settings["length"] == 100
    assert settings["knowledge"] == {**knowledge, "max_parents": 2}
    assert settings["time_limit"] == 50


def test_the_trace_climbs_to_the_result():
    events = []
    result = learn(TABLE, "tabu", on_event=events.append)
    scores = [point.score for point in result.trace]
    assert scores == sorted(set(scores))
    assert scores[-1] == result.score
    assert len(events) == result.stats["steps"] > len(scores)
    assert [point.seconds for point in result.trace] == sorted(point.seconds for point in result.trace)


def test_the_steps_of_a_trace_count_on_from_phase_to_phase(monkeypatch):
    events = [
        Event("searching", 10, score=-9.0),
        Event("searching", 30, score=-8.0),
        Event("learning", 0, total=9),
        Event("learning", 2, score=-8.0, total=9),
        Event("learning", 5, score=-7.0, total=9),
        Event("searching", 40, score=-6.0),
    ]

    def told(score, run, **options):
        for event in events:
            run.on_event(event)
        return Outcome(DAG(score.schema.names), "finished", "", -6.0)

    monkeypatch.setattr("dagora.learners.registry.Method.load", lambda method: told)
    trace = learn(TABLE, "ges").trace
    assert [(point.step, point.score) for point in trace] == [(10, -9.0), (30, -8.0), (35, -7.0), (45, -6.0)]


def test_what_is_missing_for_want_of_time_names_the_limit_that_was_asked_for():
    result = learn(TABLE, "order-search", time_limit=1e-4)
    (warning,) = [warning for warning in result.warnings if "incomplete" in warning]
    assert "(the time limit of 0.0001 s was reached)" in warning


def test_an_estimated_score_says_how_exact_it_is():
    result = learn(FEW_NUMBERS, score="gp", points=32, max_parents=1)
    local = make_score(FEW_NUMBERS, "gp", points=32)
    errors = [local.details((i, (j,))).standard_error for i in range(3) for j in range(3) if i != j]
    assert result.stats["estimated_families"] == 6
    assert result.stats["score_error_largest"] == pytest.approx(max(errors), rel=1e-6)
    assert result.stats["score_error_median"] == pytest.approx(np.median(errors), rel=1e-6)
    assert "score_error_median" not in learn(FEW_NUMBERS).stats


def test_options_reach_the_score_and_the_method():
    loose, strict = learn(TABLE, score="bdeu", ess=100.0), learn(TABLE, score="bdeu", ess=1e-9)
    assert loose.score != strict.score
    assert learn(TABLE, "hill-climb", max_steps=1).status == "step-limit"
    assert len(learn(TABLE, "hill-climb", max_steps=1).graph.edges) == 1


def test_a_start_may_be_an_equivalence_class():
    result = learn(TABLE, "hill-climb", start=CPDAG(TABLE.names, undirected=[("x0", "x1")]), max_steps=0)
    assert len(result.graph.edges) == 1
    assert set(result.graph.edges[0]) == {"x0", "x1"}


@pytest.mark.parametrize(
    "form",
    [Knowledge(required=[("x4", "x0")]), {"required": [["x4", "x0"]]}, "file"],
    ids=["object", "dict", "file"],
)
def test_knowledge_in_every_form(tmp_path, form):
    if form == "file":
        form = tmp_path / "knowledge.json"
        form.write_text('{"required": [["x4", "x0"]]}', encoding="utf-8")
    assert learn(TABLE, knowledge=form).graph.has_edge("x4", "x0")


def test_the_stricter_parent_limit_holds():
    assert as_knowledge({"max_parents": 2}, 3).max_parents == 2
    assert as_knowledge({"max_parents": 2}, 1).max_parents == 1
    assert as_knowledge(None, 0).max_parents == 0
    assert as_knowledge({"max_parents": 2}, None).max_parents == 2
    assert learn(TABLE, max_parents=0).graph.edges == ()


def test_odd_data_are_warned_about():
    rng = np.random.default_rng(2)
    table = discrete_table([rng.integers(0, 2, 50), np.zeros(50), [1] + [0] * 49], [2, 1, 2])
    warnings = learn(table).warnings
    assert any("constant" in text and "'x1'" in text for text in warnings)
    assert any("once" in text and "'x2'" in text for text in warnings)


def test_a_spent_budget_returns_the_start():
    budget = Budget()
    budget.stop("interrupted")
    result = learn(TABLE, budget=budget)
    assert (result.status, result.graph.edges) == ("time-limit", ())
    assert "interrupted" in result.message
    assert Result.from_json(result.to_json()).graph == result.graph


MIXED = Table(
    Schema([Variable("a", Kind.DISCRETE, ("0", "1")), Variable("x", Kind.CONTINUOUS)]),
    (np.array([0, 1], dtype=np.uint16), np.array([0.0, 1.0])),
)


@pytest.mark.parametrize(
    ("data", "options", "error", "word"),
    [
        (TABLE, {"method": "hillclimb"}, OptionError, "did you mean 'hill-climb'"),
        (TABLE, {"score": "bicc"}, OptionError, "did you mean 'bic'"),
        (TABLE, {"score": "bge"}, DataError, "'x0' is discrete"),
        (NUMBERS, {"score": "bic"}, DataError, "'x0' is continuous"),
        (MIXED, {"score": "bic"}, DataError, "'x' is continuous.*score=\"bic-mixed\""),
        (TABLE, {"restart": 3}, OptionError, "no option 'restart'"),
        (TABLE, {"ess": 3.0}, OptionError, "the method auto with the score bic has no option 'ess'"),
        (TABLE, {"method": "tabu", "restarts": -1}, OptionError, "'restarts' must be at least 0"),
        (TABLE, {"method": "tabu", "restarts": 1.5}, OptionError, "a whole number"),
        (TABLE, {"method": "tabu", "start": DAG(["a"])}, GraphError, "only the graph has 'a'"),
        (TABLE, {"method": "tabu", "start": 3}, OptionError, "'start' takes a graph, not 3"),
        (TABLE, {"method": "tabu", "start": "graph.json"}, FormatError, "graph.json: no such file"),
        (TABLE, {"seed": -1}, OptionError, "seed must be"),
        (TABLE, {"seed": 1.0}, OptionError, "seed must be"),
        (TABLE, {"seed": True}, OptionError, "seed must be"),
        (TABLE, {"jobs": 0}, OptionError, "jobs"),
        (TABLE, {"jobs": "2"}, OptionError, "jobs"),
        (TABLE, {"time_limit": 0}, OptionError, "time_limit must be"),
        (TABLE, {"time_limit": -1.0}, OptionError, "time_limit must be"),
        (TABLE, {"time_limit": math.nan}, OptionError, "time_limit must be"),
        (TABLE, {"time_limit": math.inf}, OptionError, "time_limit must be"),
        (TABLE, {"time_limit": 10**400}, OptionError, "time_limit must be"),
        (TABLE, {"restarts": 10**400}, OptionError, "'restarts'"),
        (TABLE, {"time_limit": "10"}, OptionError, "time_limit must be"),
        (TABLE, {"max_parents": -1}, KnowledgeError, "max_parents"),
        (TABLE, {"max_parents": "2", "knowledge": {"max_parents": 3}}, KnowledgeError, "max_parents"),
        (TABLE, {"knowledge": {"forbidden": [["x0", "y"]]}}, KnowledgeError, "'y'"),
        (TABLE, {"knowledge": "no such file.json"}, KnowledgeError, "no such file.json"),
        ("no such file.csv", {}, DagoraError, "no such file.csv"),
        (discrete_table([[0, 1]], [2]), {}, DataError, "1 column"),
        (continuous_table([[1.0, 2.0]]), {}, DataError, "1 row"),
        (continuous_table([[1.0, 2.0], [1.0, 3.0]]), {}, DataError, "'x0' is constant"),
        (None, {}, DataError, "an object of type NoneType is no data"),
        (17, {}, DataError, "an object of type int is no data"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(data, options, error, word):
    with pytest.raises(error, match=word) as caught:
        learn(data, **options)
    assert "\n" not in str(caught.value)


def test_scores_of_graphs_and_their_refusals():
    graph = DAG(TABLE.names)
    expected = make_score(TABLE, "bdeu", ess=4).families([(i, ()) for i in range(5)]).sum()
    assert dagora.score(TABLE, graph, "bdeu", ess=4) == pytest.approx(expected)
    with pytest.raises(OptionError, match="has no option 'ess'"):
        dagora.score(TABLE, graph, "bic", ess=4)
    with pytest.raises(GraphError, match="only the data have 'x1'"):
        dagora.score(TABLE, DAG(["x0"]), "bic")


def test_candidates_obey_what_is_known():
    found = candidates(TABLE, "k2", max_parents=1, knowledge={"forbidden": [["x1", "x0"]]})
    assert found.names == TABLE.names
    assert all(len(parents) <= 1 for entry in found for parents in entry.parents)
    assert all(1 not in parents for parents in found.sets[0].parents)
    with pytest.raises(KnowledgeError, match="'y'"):
        candidates(TABLE, knowledge={"required": [["y", "x0"]]})


def test_statistics_pass_through():
    statistics = TableStatistics(TABLE)
    assert as_statistics(statistics) is statistics
    assert as_statistics(TABLE).rows() is TABLE


@pytest.mark.parametrize("method", ["dynamic", "astar", "ilp"])
def test_no_proof_on_some_of_the_parent_sets(method):
    found = candidates(TABLE, "bic")
    assert found.complete
    assert learn(found, method).status == "optimal"
    some = replace(found, complete=False, note="some sets were left out")
    result = learn(some, method)
    assert result.status == "finished"
    assert result.warnings == ("the candidate parent sets are incomplete; some sets were left out",)


def test_published_is_meant_for_method_and_score() -> None:
    """Where both have the option, one word sets both; any other option goes to its owner alone."""
    method = replace(
        method_named("hill-climb"),
        options=(Option("published", "bool", False, "as in its paper"), Option("zeal", "int", 1, "how much")),
    )
    of_method, of_score = split_options(method, score_named("gp2"), {"published": True, "points": 64})
    assert of_method == {"published": True, "zeal": 1}
    assert (of_score["published"], of_score["points"]) == (True, 64)
    assert "zeal" not in of_score


@pytest.mark.full
def test_the_message_says_what_published_was_meant_for() -> None:
    """Of method and score where both have it, of the score alone where the method has it not."""
    rows = np.random.default_rng(0).normal(size=(12, 2))
    columns = {"a": rows[:, 0], "b": rows[:, 1]}
    given = {"score": "gp2", "estimator": "laplace", "published": True}
    both = learn(columns, "rbnets", episodes=1, hidden=2, **given)
    assert "RBNets of Zheng et al. 2023; not as in the paper" in both.message
    assert "; score gp2 with the kernel of the code published by Giudice et al. (2023)" in both.message
    knowing = learn(columns, "rbnets", episodes=1, hidden=2, knowledge={"forbidden": [["a", "b"]]}, **given)
    assert "not as in the paper: knowledge of edges, " in knowing.message
    assert "knowledge" not in both.message
    for found in (learn(columns, "hill-climb", **given), dagora.sample(columns, "exact", draws=2, **given)):
        assert "score gp2 with the kernel of the code published" in found.message
        assert "RBNets" not in found.message
    ours = learn(columns, "hill-climb", **{**given, "published": False})
    assert "published" not in ours.message
