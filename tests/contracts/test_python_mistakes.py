"""Mistakes in Python: each raises an error of ours, in one line that names what is wrong and the way out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora as dg
from dagora import (
    CPDAG,
    DAG,
    DataError,
    DisagreementError,
    FormatError,
    GraphError,
    Knowledge,
    KnowledgeError,
    OptionError,
    ProtocolError,
    RowsUnavailableError,
    Table,
)

BITS = Table.from_numpy(
    [[0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]] * 10, names="abc", discrete=["a", "b", "c"]
)
NUMBERS = Table.from_numpy(np.random.default_rng(0).normal(size=(40, 3)), names="abc")
MIXED = Table.from_numpy(np.column_stack([np.arange(40) % 2, NUMBERS.values(0)]), names="ab", discrete=["a"])
GRAPH = DAG("abc", [("a", "b")])
STRANGER = DAG(["a", "z"], [("a", "z")])
NETWORK = dg.fit(GRAPH, BITS)
RESULT = dg.learn(BITS)
POSTERIOR = dg.sample(BITS, "exact", draws=5, chains=1)
SITES = {"north": BITS, "south": BITS, "west": BITS}
KEYED = Table.from_numpy([[i, i % 2] for i in range(20)], names=["id", "p"], discrete=["id", "p"])


def case(name: str, mistake: Callable[[], object], error: type[dg.DagoraError], way_out: str) -> object:
    return pytest.param(mistake, error, way_out, id=name)


MISTAKES = [
    # what to learn from
    case("learn None", lambda: dg.learn(None), DataError, "pandas, polars or Arrow frame"),
    case("learn a number", lambda: dg.learn(3), DataError, "pandas, polars or Arrow frame"),
    case("learn a series", lambda: dg.learn(pd.Series([1, 2])), DataError, "frame"),
    case("learn a graph", lambda: dg.learn(GRAPH), DataError, "frame"),
    case("learn no file", lambda: dg.learn("nothere.csv"), DataError, "nothere.csv: there is no such file"),
    case("learn ragged lists", lambda: dg.learn([[1, 2], [3]]), DataError, ""),
    case("learn a vector", lambda: dg.learn(np.zeros(3)), DataError, ""),
    case("learn a cube", lambda: dg.learn(np.zeros((2, 2, 2))), DataError, ""),
    case("learn ragged columns", lambda: dg.learn({"a": [1, 2], "b": [1]}), DataError, ""),
    case("mixed columns", lambda: dg.learn(MIXED, score="bic"), DataError, 'score="bic-mixed"'),
    # methods, scores, options
    case("Hill_Climb", lambda: dg.learn(BITS, "Hill_Climb"), OptionError, "did you mean 'hill-climb'?"),
    case("hillclimb", lambda: dg.learn(BITS, "hillclimb"), OptionError, "did you mean 'hill-climb'?"),
    case("method None", lambda: dg.learn(BITS, None), OptionError, "known are auto"),
    case("method list", lambda: dg.learn(BITS, ["tabu"]), OptionError, "did you mean 'tabu'?"),
    case("score misspelt", lambda: dg.learn(BITS, score="bdue"), OptionError, "did you mean 'bdeu'?"),
    case("score number", lambda: dg.learn(BITS, score=3), OptionError, "known are bic"),
    case("score of the other kind", lambda: dg.learn(BITS, score="bge"), DataError, "use a method and score for such columns"),
    case("score for notears", lambda: dg.learn(NUMBERS, "notears", score="bge"), OptionError, "takes no score"),
    case("option misspelt", lambda: dg.learn(BITS, "hill-climb", restart=3), OptionError, "it has: start, restarts"),
    case("option of another method", lambda: dg.learn(BITS, restarts=3), OptionError, "hill-climb, tabu, obs have it"),
    case("option of a wrong type", lambda: dg.learn(BITS, "hill-climb", restarts="3"), OptionError, "a whole number"),
    case("option out of range", lambda: dg.learn(BITS, "hill-climb", restarts=-1), OptionError, "at least 0"),
    case("graph option as text", lambda: dg.learn(BITS, "hill-climb", start="g.json"), FormatError, "g.json: no such file"),
    case("seed", lambda: dg.learn(BITS, seed=-1), OptionError, "0 or more"),
    case("jobs", lambda: dg.learn(BITS, jobs=0), OptionError, "1 or more"),
    case("time limit", lambda: dg.learn(BITS, time_limit="1h"), OptionError, "positive number of seconds"),
    case("max_parents", lambda: dg.learn(BITS, max_parents="3"), KnowledgeError, "a whole number, 0 or more"),
    case("max_parents of notears", lambda: dg.learn(NUMBERS, "notears", max_parents=1), KnowledgeError, "raise lambda1"),
    case("start with strangers", lambda: dg.learn(BITS, "hill-climb", start=STRANGER), GraphError, "only the graph has 'z'"),
    case("methods", lambda: dg.methods("notear"), OptionError, "did you mean 'notears'?"),
    # knowledge
    case("knowledge list", lambda: dg.learn(BITS, knowledge=[("a", "b")]), KnowledgeError, "a mapping with required"),
    case("knowledge key", lambda: dg.learn(BITS, knowledge={"require": []}), KnowledgeError, "use causes, forbidden"),
    case("knowledge about strangers", lambda: dg.learn(BITS, knowledge={"required": [("a", "z")]}), KnowledgeError, "'z'"),
    case("knowledge file", lambda: dg.learn(BITS, knowledge="nothere.json"), KnowledgeError, "no such file"),
    case("contradiction", lambda: Knowledge([("a", "b")], [("a", "b")]), KnowledgeError, "both required and forbidden"),
    case("required cycle", lambda: Knowledge([("a", "b"), ("b", "a")]), KnowledgeError, "a → b → a"),
    case("required word", lambda: Knowledge(["ab"]), KnowledgeError, "a list of pairs"),
    case("tiers", lambda: Knowledge(tiers=["ab"]), KnowledgeError, "one list per tier"),
    # graphs
    case("cycle", lambda: DAG("ab", [("a", "b"), ("b", "a")]), GraphError, "a → b → a"),
    case("self loop", lambda: DAG("ab", [("a", "a")]), GraphError, "a → a"),
    case("unknown node", lambda: DAG("ab", [("a", "c")]), GraphError, "known are a, b"),
    case("twice", lambda: DAG("aa"), GraphError, "two nodes are named 'a'"),
    case("number of nodes", lambda: DAG(3), GraphError, "a list of names"),
    case("edges with weights", lambda: DAG("ab", [("a", "b", 0.5)]), GraphError, 'pairs such as ("a", "b")'),
    case("parents of a stranger", lambda: GRAPH.parents("z"), GraphError, "known are a, b, c"),
    case("parents beyond", lambda: DAG.from_parents("ab", [(), (5,)]), GraphError, "from 0 to 1"),
    case("no square", lambda: DAG.from_numpy([[0, 1]]), GraphError, "must be square"),
    case("no networkx", lambda: DAG.from_networkx([("a", "b")]), GraphError, "DAG(nodes, edges)"),
    case("both kinds of edge", lambda: CPDAG("ab", [("a", "b")], [("a", "b")]), GraphError, "both directed and"),
    case("score strangers", lambda: dg.score(BITS, STRANGER), GraphError, "only the graph has 'z'"),
    case("score a file", lambda: dg.score(BITS, "g.json"), GraphError, "read_graph reads one"),
    case("fit strangers", lambda: dg.fit(STRANGER, BITS), DataError, "known are a, b, c"),
    case("fit the wrong way round", lambda: dg.fit(BITS, GRAPH), GraphError, "must be a DAG or CPDAG, not a Table"),
    case("fit a class", lambda: dg.fit(CPDAG("abc", undirected=[("a", "b")]), BITS), GraphError, "extension()"),
    case("fit pseudocount", lambda: dg.fit(GRAPH, BITS, pseudocount="1"), OptionError, "a finite number"),
    case("compare strangers", lambda: dg.compare(STRANGER, GRAPH), GraphError, "'b' is a node of the truth"),
    case("compare a result", lambda: dg.compare(RESULT, GRAPH), GraphError, "pass its attribute graph"),
    # files
    case("read folder", lambda: dg.read_table("folder.csv"), DataError, "name a file in it"),
    case("read ending", lambda: dg.read_graph("t.xyz"), FormatError, "known are .json"),
    case("read None", lambda: dg.read_graph(None), FormatError, "the name of a file"),
    case("read no network", lambda: dg.read_network("x.dot"), FormatError, "use .json or .bif"),
    case("write ending", lambda: dg.write_graph(GRAPH, "x.xyz"), FormatError, "known are .json"),
    case("write the wrong way round", lambda: dg.write_graph("x.json", GRAPH), FormatError, "the name of a file"),
    case("write a graph as network", lambda: dg.write_network(GRAPH, "x.json"), GraphError, "fit(graph, data)"),
    case("write no table", lambda: dg.write_table("t", "x.csv"), DataError, "read_table"),
    case("write nowhere", lambda: dg.write_graph(GRAPH, "no/x.json"), FormatError, "there is no folder 'no'"),
    case("report on a graph", lambda: dg.write_report(GRAPH, "x.html"), OptionError, "what learn, sample, bootstrap or effect returned"),
    case("report with a file as truth", lambda: dg.write_report(RESULT, "x.html", truth="t.json"), GraphError, "read_graph"),
    case("garbage as result", lambda: dg.Result.from_json("garbage"), FormatError, "not a result in JSON"),
    case("list as posterior", lambda: dg.Posterior.from_json("[1]"), FormatError, "not a posterior in JSON"),
    # tables
    case("names of a matrix", lambda: Table.from_numpy([[1, 2]], names="abc"), DataError, "3 names for a matrix of 2"),
    case("select a stranger", lambda: BITS.select(["z"]), DataError, "known are a, b, c"),
    case("rows beyond", lambda: BITS.take([999]), DataError, "from 0 to 39"),
    case("codes by name", lambda: BITS.codes("a"), DataError, "index(name)"),
    case("codes of numbers", lambda: NUMBERS.codes(0), DataError, "discretise it first"),
    case("discretise how", lambda: dg.discretise(NUMBERS, "thirds"), OptionError, "choose mean, width, quantile"),
    case("discretise bins", lambda: dg.discretise(NUMBERS, "width", bins=1), OptionError, "from 2 to"),
    case("discretise codes", lambda: dg.discretise(BITS, columns=["a"]), DataError, "leave it out"),
    # samples and simulations
    case("draws", lambda: dg.sample(BITS, draws=0), OptionError, "1 or more"),
    case("chains", lambda: dg.sample(BITS, chains=-1), OptionError, "1 or more"),
    case("prior", lambda: dg.sample(BITS, prior="flat"), OptionError, "one of uniform"),
    case("bge of codes", lambda: dg.sample(BITS, score="bge"), DataError, "use a method and score for such columns"),
    case("lasso posterior", lambda: dg.sample(NUMBERS, score="lasso"), OptionError, "sample with bge or gp"),
    case("method as sampler", lambda: dg.sample(BITS, "tabu"), OptionError, "known are partition"),
    case("reweight", lambda: dg.sample(BITS, reweight="qmc"), OptionError, "the scores gp and gp2"),
    case("feature", lambda: POSTERIOR.feature("parents", "a", "b"), OptionError, "known are edge"),
    case("feature of a stranger", lambda: POSTERIOR.feature("edge", "a", "z"), GraphError, "known are a, b, c"),
    case("feature of one", lambda: POSTERIOR.feature("edge", "a"), OptionError, "feature('edge', 'a', 'b')"),
    case("threshold", lambda: POSTERIOR.consensus(2), OptionError, "a probability"),
    case("metric", lambda: POSTERIOR.expected("sdh", GRAPH), OptionError, "did you mean 'shd'?"),
    case("likelihood columns", lambda: dg.log_likelihood(NETWORK, BITS.select("ab")), DataError, "known are a, b"),
    case("likelihood kind", lambda: dg.log_likelihood(NETWORK, NUMBERS), DataError, "discretise it first"),
    case("likelihood of a graph", lambda: dg.log_likelihood(GRAPH, BITS), GraphError, "fit(graph, data)"),
    case("rows of a graph", lambda: dg.sample_network(GRAPH, 10, 1), GraphError, "fit(graph, data)"),
    case("sem", lambda: dg.simulate(GRAPH, "normal", 10, 1), OptionError, "choose one of gaussian"),
    case("simulate no rows", lambda: dg.simulate(GRAPH, "gaussian", 0, 1), OptionError, "at least 1"),
    case("simulate a file", lambda: dg.simulate("g.json", "gaussian", 10, 1), GraphError, "read_graph"),
    case("noise", lambda: dg.simulate(GRAPH, "gaussian", 10, 1, noise_scale="big"), OptionError, "numbers above 0"),
    case("weights", lambda: dg.simulate(GRAPH, "gaussian", 10, 1, weight_range=3), OptionError, "two numbers"),
    case("random graph", lambda: dg.random_dag("tree", 5, 1), OptionError, "use er or sf"),
    case("random nodes", lambda: dg.random_dag("er", 0, 1), OptionError, "1 or more"),
    case("candidates", lambda: dg.candidates(BITS, max_parents=-1), KnowledgeError, "0 or more"),
    case("candidates jobs", lambda: dg.candidates(BITS, jobs=0), OptionError, "1 or more"),
    # parties
    case("one site", lambda: dg.learn_federated({"north": BITS}), OptionError, "add sites"),
    case("two sites", lambda: dg.learn_federated({"n": BITS, "s": BITS}), OptionError, "minimum=2 accepts that"),
    case("sites in a list", lambda: dg.learn_federated([BITS] * 3), DataError, "a mapping from each site's name"),
    case("coordinator", lambda: dg.learn_federated({**SITES, "coordinator": BITS}), ProtocolError, "another"),
    case("name of a site", lambda: dg.learn_federated({1: BITS, 2: BITS, 3: BITS}), ProtocolError, "letters, digits"),
    case("a site without table", lambda: dg.learn_federated({**SITES, "east": None}), DataError, "east: "),
    case("other columns", lambda: dg.learn_federated({**SITES, "east": MIXED}), DisagreementError, "the same columns"),
    case("rows over sites", lambda: dg.learn_federated(SITES, score="gp"), RowsUnavailableError, "counts or moments"),
    case("truth", lambda: dg.learn_federated(SITES, "best"), OptionError, "needs the option truth"),
    case("no key", lambda: dg.learn_private(KEYED, KEYED, key="ID"), DataError, "known are id, p"),
    case("same columns", lambda: dg.learn_private(KEYED, KEYED, key="id"), DisagreementError, "rename"),
    case("private None", lambda: dg.learn_private(None, KEYED, key="id"), DataError, "frame"),
    case("private parents", lambda: dg.learn_private(KEYED, KEYED, key="id", max_parents="3"), OptionError, "from 1 to 6"),
    case("private score", lambda: dg.learn_private(KEYED, KEYED, key="id", score="bic"), OptionError, "f or g"),
    case("private security", lambda: dg.learn_private(KEYED, KEYED, key="id", security="brave"), OptionError, "semi-honest or malicious"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "error", "way_out"), MISTAKES)
def test_a_mistake_gets_one_line(
    mistake: Callable[[], object],
    error: type[dg.DagoraError],
    way_out: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(dg.DagoraError) as caught:
        mistake()
    line = str(caught.value)
    assert isinstance(caught.value, error), f"{type(caught.value).__name__}: {line}"
    assert line
    assert "\n" not in line
    assert "--" not in line
    assert way_out in line
    assert [file.name for file in tmp_path.iterdir()] == ["folder.csv"], "a file was written"


def test_there_are_many() -> None:
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize(("method", "score"), [("Tabu", "BDeu"), ("HILL-CLIMB", "Bic")])
def test_names_in_any_case_are_no_mistake(method: str, score: str) -> None:
    found = dg.learn(BITS, method, score=score)
    assert (found.method, found.score_name) == (method.lower(), score.lower())
    assert dg.sample(BITS, "Exact", score="BDEU", draws=5).score_name == "bdeu"
