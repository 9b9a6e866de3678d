"""Multiple imputation joined with any method: draws have the right spread, and shares pool the graphs."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.api.pooled_result import pooled_result
from dagora.base.errors import DataError, OptionError
from dagora.data.incomplete import IncompleteTable
from dagora.data.table import Table
from dagora.graph.bits import pack
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.posterior.resample.completions import completed, imputing_graph
from dagora.posterior.resample.strengths import Strengths
from dagora.stats.observed.statistics import IncompleteStatistics


def pair(rows=400, share=0.4, seed=0):
    """b = a + noise; b is missing in some rows, more often where a is large."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    b = a + rng.normal(size=rows)
    seen = np.ones((2, rows), dtype=bool)
    seen[1] = rng.random(rows) > share * (a > 0) * 1.5
    return IncompleteTable.of(Table.from_numpy(np.column_stack([a, b]), names="ab"), seen)


def test_completions_keep_what_was_seen_and_have_the_spread_of_the_rest():
    table = pair()
    statistics = IncompleteStatistics(table)
    graph = imputing_graph(statistics, Run())
    assert graph.edges == (("a", "b"),)
    slopes, means = [], []
    for k in range(20):
        drawn = completed(statistics, graph, np.random.default_rng(k), k).rows()
        a, b = drawn.values(0), drawn.values(1)
        assert (b[table.seen[1]] == table.columns[1][table.seen[1]]).all()
        slope = np.cov(a, b)[0, 1] / a.var(ddof=1)
        slopes.append(slope)
        means.append(b.mean())
        assert (b - b.mean() - slope * (a - a.mean())).std() == pytest.approx(1.0, abs=0.15)
    assert np.mean(slopes) == pytest.approx(1.0, abs=0.12)
    # Leaving rows out shifts the mean of b, as rows with a large a lack it; drawing does not.
    assert abs(np.mean(means)) < 0.15 < abs(table.columns[1][table.seen[1]].mean())
    assert np.std(means) > 0.01, "the parameters differ between draws, too"


def test_levels_are_drawn_from_a_searched_network():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.9, a, 1 - a)
    table = Table.from_numpy(np.column_stack([a, b]), names="ab", discrete=["a", "b"])
    seen = rng.random((2, 500)) > 0.2
    seen[0] |= ~seen[1]
    statistics = IncompleteStatistics(IncompleteTable.of(table, seen))
    drawn = completed(statistics, imputing_graph(statistics, Run()), np.random.default_rng(3), 3).rows()
    agree = (drawn.codes(0) == drawn.codes(1)).mean()
    assert agree == pytest.approx(0.9, abs=0.05)


def chain(rows=400, share=0.15, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, rows))
    b = a + rng.normal(size=rows)
    values = np.column_stack([a, b, c, b + c + rng.normal(size=rows)])
    holes = rng.random(values.shape) < share
    return pd.DataFrame(np.where(holes, np.nan, values), columns=list("abcd"))


def test_a_method_that_needs_complete_rows_learns_from_completions():
    strengths = dagora.bootstrap(chain(), "dual-pc", samples=6, resample="impute")
    assert strengths.samples == 6
    assert "missing values drawn" in strengths.message
    graph = strengths.consensus()
    joined = {frozenset(edge) for edge in (*graph.edges, *graph.undirected)}
    assert joined == {frozenset("ab"), frozenset("bd"), frozenset("cd")}
    again = dagora.bootstrap(chain(), "dual-pc", samples=6, resample="impute")
    assert (again.marks == strengths.marks).all()
    other = dagora.bootstrap(chain(), "dual-pc", samples=6, resample="impute", seed=1)
    assert other.samples == 6


def test_any_score_will_do():
    strengths = dagora.bootstrap(chain(200), "hill-climb", score="bge", samples=3, resample="impute")
    assert strengths.score_name == "bge"
    assert strengths.samples == 3


def test_the_pooled_graph_obeys_what_each_graph_obeys():
    # Two in five have a → b and c → b each, the rest b → a and b → c: most join both pairs, into b.
    graphs = [["ab"], ["cb"], ["ab"], ["cb"], ["ba", "bc"]]
    marks = np.array([pack(dagora.DAG("abc", edges).to_numpy().T) for edges in graphs])
    settings = {"knowledge": Knowledge(max_parents=1).to_dict()}
    fields = {"score_name": "bic", "seconds": 0.0, "seed": 0, "stats": {}, "versions": {}, "warnings": ()}
    strengths = Strengths(
        tuple("abc"), marks, True, "tabu", "finished", "5 samples", settings=settings, **fields
    )
    assert strengths.consensus().parents("b") == ("a", "c")
    result = pooled_result(strengths)
    assert result.graph in [dagora.DAG("abc", edges) for edges in graphs]
    assert "b has 2 parents" in result.message
    free = pooled_result(replace(strengths, settings={"knowledge": Knowledge().to_dict()}))
    assert free.graph == strengths.consensus()


def test_refusals():
    whole = chain(share=0.0)
    with pytest.raises(DataError, match="no cell is missing"):
        dagora.bootstrap(whole, "pc", samples=3, resample="impute")
    with pytest.raises(
        OptionError, match=r"returns a PAG.* each test then counts the rows that saw its columns"
    ):
        dagora.bootstrap(chain(), "fci", samples=3, resample="impute")


@pytest.mark.parametrize(("method", "told"), [("pc", True), ("hill-climb", False)])
def test_a_method_by_tests_takes_drawn_cells_for_seen_ones_and_is_told(method, told):
    found = dagora.bootstrap(chain(), method, samples=3, resample="impute")
    assert any("take drawn cells for seen ones" in each for each in found.warnings) is told


def test_on_the_command_line(run, tmp_path):
    chain(200).to_csv(tmp_path / "m.csv", index=False)
    ran = run("learn", tmp_path / "m.csv", "-m", "pc", "--impute", 3, "--json", "-o", tmp_path / "o.json")
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    assert "joined in more than half of 3 graphs" in content["message"]
    assert content["settings"]["resample"] == "impute"
    assert dagora.read_graph(tmp_path / "o.json").nodes == tuple("abcd")
    assert (
        "* joined in more than half of these graphs"
        in run("learn", tmp_path / "m.csv", "-m", "pc", "--impute", 3).out
    )
    for line, told in (
        (("--impute", 3, "--bootstrap", 3), "leave one of them out"),
        (("--impute", 3, "--resample", "halves"), "--resample goes with --bootstrap"),
        (("--impute", 3, "-m", "fci"), "returns a PAG"),
        (("--impute", 3, "--estimate"), "does not go with --estimate"),
    ):
        refused = run("learn", tmp_path / "m.csv", *line)
        assert refused.code == 2
        assert told in refused.err
