"""Learning where variables were set in some rows: from the front door, the command and files."""

import json

import numpy as np
import pytest

import dagora
from dagora import DAG, Result, candidates, fit, learn, read_table, sample
from dagora.api.score import make_score
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import COMMAND
from dagora.data.interventions import Interventions, Marks
from dagora.graph.enumerate import all_dags
from dagora.graph.interventions import interventional_cpdag, shown_by_interventions
from dagora.stats.interventional import InterventionalStatistics

METHODS = ["auto", "hill-climb", "tabu", "ges", "order-search", "dynamic", "astar", "ilp", "obs", "asobs"]


def rows(count=400, seed=0):
    """Rain → wet → slip; wet is set by a hose in half of the rows, slip by a banana in some."""
    rng = np.random.default_rng(seed)
    rain = rng.integers(2, size=count)
    wet = np.where(rng.random(count) < 0.85, rain, 1 - rain)
    said = rng.choice(["", "wet", "slip+wet"], size=count, p=[0.5, 0.4, 0.1])
    wet = np.where(said != "", rng.integers(2, size=count), wet)
    slip = np.where(rng.random(count) < 0.85, wet, 1 - wet)
    slip = np.where(said == "slip+wet", rng.integers(2, size=count), slip)
    return {"slip": slip.tolist(), "wet": wet.tolist(), "rain": rain.tolist(), "set": said.tolist()}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_scores_directs_what_the_interventions_show(method):
    result = learn(rows(), method, score="bdeu", interventions="set")
    assert set(result.cpdag.edges) == {("rain", "wet"), ("wet", "slip")}
    assert result.interventions == ((), ("slip", "wet"), ("wet",))
    assert "rows in which a variable was set do not count for it (slip" in result.message
    assert Result.from_json(result.to_json()).cpdag == result.cpdag


def test_a_list_for_each_row_says_the_same_as_a_column():
    table = rows()
    said = table.pop("set")
    given = [text.split("+") if text else None for text in said]
    assert learn(table, interventions=given).graph == learn(rows(), interventions="set").graph


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_a_list_for_each_row_loses_the_rows_that_are_dropped():
    table = {**rows(), "rain": [None if k % 9 == 0 else rain for k, rain in enumerate(rows()["rain"])]}
    by_column = learn(table, "dynamic", interventions="set", missing="drop")
    given = [text.split("+") if text else None for text in table.pop("set")]
    by_list = learn(table, "dynamic", interventions=given, missing="drop")
    assert (by_list.cpdag, by_list.score) == (by_column.cpdag, by_column.score)
    with pytest.raises(DataError, match="interventions are given for 399 rows, but there are 355"):
        learn(table, interventions=given[1:], missing="drop")


def test_levels_can_be_explained():
    table = rows()
    number = {"": 1, "wet": 2, "slip+wet": 3}
    table["experiment"] = [number[text] for text in table.pop("set")]
    text = learn(table, interventions="experiment:2=wet,3=slip+wet")
    assert text.interventions == ((), ("slip", "wet"), ("wet",))
    meant = {"experiment": {2: "wet", 3: ["slip", "wet"]}}
    assert learn(table, interventions=meant).graph == text.graph


def test_parameters_leave_the_set_rows_out():
    table = rows()
    statistics = InterventionalStatistics.of_marked(read_frame(table), Marks("set"))
    network = fit(DAG(["rain", "wet"], [("rain", "wet")]), statistics)
    free = [k for k, said in enumerate(table["set"]) if not said]
    plain = fit(
        DAG(["rain", "wet"], [("rain", "wet")]),
        {name: [table[name][k] for k in free] for name in ("rain", "wet")},
    )
    assert np.array_equal(network.tables["wet"], plain.tables["wet"])
    assert network.tables["wet"][0, 0] > 0.8


def read_frame(columns):
    from dagora.data.accepting import as_table
    from dagora.data.columns.reading_options import ReadingOptions

    return as_table(columns, ReadingOptions(marks="set"))


def test_the_command_and_its_report(run, tmp_path):
    table = rows()
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path, report, network = tmp_path / "rows.csv", tmp_path / "r.html", tmp_path / "n.json"
    path.write_text("\n".join(lines) + "\n")
    files = ["--report", report, "--picture", tmp_path / "p.svg", "-o", network]
    done = run("learn", path, "--interventions", "set", "--json", "--quiet", *files)
    assert done.code == 0, done.err
    result = Result.from_dict(json.loads(done.out))
    assert set(result.graph.nodes) == {"slip", "wet", "rain"}
    assert "by intervention" in report.read_text()
    assert "direction shown by an intervention: 2" in (tmp_path / "p.svg").read_text()


def test_what_interventions_show_beyond_the_class():
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    assert shown_by_interventions(chain, [("b",)]) == {("a", "b"), ("b", "c")}
    assert shown_by_interventions(chain, [()]) == set()
    collider = DAG("abc", [("a", "b"), ("c", "b")])
    assert shown_by_interventions(interventional_cpdag(collider, [("b",)]), [("b",)]) == set()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("sport", "names no column: the columns are slip, wet, rain, set"),
        ("rain", "names '0', which is no column .*a level of column 'rain'.*interventions='rain:0=slip'"),
        ("set:wet=hose", "names 'hose', which is no column"),
        ("set:dry=wet", "speaks of the level 'dry', which column 'set' does not have"),
        ("set:wet=wet,wet=slip", "gives the level 'wet' twice"),
        ("set:wet", "names no column"),
        ({"set": "wet"}, "takes one column"),
        (["wet"], "given for 1 rows, but there are 400"),
        (["wet"] * 400, "'wet' was set in every row"),
    ],
)
def test_what_cannot_be_meant_is_refused(said, message):
    table = rows()
    table["set"] = [text or "none" for text in table["set"]]
    with pytest.raises((DataError, OptionError), match=message):
        learn(table, interventions=said)


@pytest.mark.parametrize("method", ["notears", "dual-pc"])
def test_methods_with_an_objective_of_their_own_refuse(method):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=50), "b": rng.normal(size=50), "set": ["", "a"] * 25}
    with pytest.raises(OptionError, match="knows of no interventions"):
        learn(table, method, interventions="set")


def test_missing_cells_of_the_column_mean_that_nothing_was_set():
    table = rows()
    table["set"] = [text or None for text in table["set"]]
    assert learn(table, interventions="set").interventions == ((), ("slip", "wet"), ("wet",))


def test_interventions_of_rows():
    found = Interventions.of_rows([None, "a+b", ("b", "a"), float("nan")], "ab")
    assert found.regimes == ((), ("a", "b"))
    assert found.of_row.tolist() == [0, 1, 1, 0]
    assert found.unset("a").tolist() == [True, False, False, True]


def test_a_table_file_keeps_the_column_for_other_uses(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,set\n" + "0,0,\n1,1,a\n" * 20)
    assert read_table(path, missing="level").names == ("a", "b", "set")


def numbers(count=60, seed=1):
    """The same story in numbers, with a fourth column that nothing depends on."""
    rng = np.random.default_rng(seed)
    said = rng.choice(["none", "wet", "slip+wet"], size=count, p=[0.5, 0.3, 0.2])
    rain = rng.normal(size=count)
    wet = np.where(said == "none", 0.4 * rain, 0) + rng.normal(size=count)
    slip = np.where(said == "slip+wet", 0, 0.4 * wet) + rng.normal(size=count)
    return {"slip": slip, "wet": wet, "rain": rain, "other": rng.normal(size=count), "set": said.tolist()}


def probabilities_by_brute_force(table, score):
    """Of every edge: sums over all graphs, each family scored on its own rows, which are picked by hand."""
    names = [name for name in table if name != "set"]
    local = []
    for name in names:
        free = [k for k, said in enumerate(table["set"]) if name not in said.split("+")]
        local.append(make_score({other: [table[other][k] for k in free] for other in names}, score))
    graphs = list(all_dags(len(names)))
    totals = np.array(
        [
            sum(float(local[i].families([(i, graph.parent_indices(i))])[0]) for i in range(len(names)))
            for graph in graphs
        ]
    )
    weights = np.exp(totals - totals.max())
    return totals, sum(w * graph.to_numpy() for w, graph in zip(weights / weights.sum(), graphs, strict=True))


@pytest.mark.parametrize(("table", "score"), [(rows(60), "bdeu"), (numbers(), "bge")])
def test_posteriors_and_scores_count_a_row_for_what_was_not_set_in_it(table, score):
    totals, expected = probabilities_by_brute_force(table, score)
    exact = sample(table, "exact", score=score, draws=5, interventions="set")
    np.testing.assert_allclose(exact.edge_probability, expected, atol=1e-9)
    assert "rows in which a variable was set do not count for it (slip" in exact.draws.message
    plain = sample({name: table[name] for name in exact.nodes}, "exact", score=score, draws=5)
    assert np.abs(plain.edge_probability - expected).max() > 0.05, "the interventions make a difference"
    chains = sample(table, "partition", score=score, draws=4000, chains=1, interventions="set")
    np.testing.assert_allclose(chains.edge_probability, expected, atol=0.08)
    found = candidates(table, score, interventions="set")
    best = learn(found, "dynamic")
    assert best.score == pytest.approx(totals.max(), rel=1e-12)
    assert dagora.score(table, best.graph, score, interventions="set") == pytest.approx(
        totals.max(), rel=1e-12
    )


def test_sample_and_score_take_interventions_on_the_command_line(run, tmp_path):
    table = rows(60)
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    done = run(
        "sample", path, "--interventions", "set", "--method", "exact", "--draws", 5, "--json", "--quiet"
    )
    assert done.code == 0, done.err
    expected = sample(table, "exact", draws=5, interventions="set").to_dict(draws=False)
    assert json.loads(done.out)["edge_probability"] == expected["edge_probability"]
    assert run("score", path, "--interventions", "set", "-o", tmp_path / "s.jkl").code == 0
    best = json.loads(run("learn", tmp_path / "s.jkl", "--method", "dynamic", "--json", "--quiet").out)
    assert best["score"] == pytest.approx(learn(table, "dynamic", interventions="set").score, abs=1e-5)
    for command in (["sample"], ["score", "-o", tmp_path / "t.jkl"]):
        refused = run(*command, path, "--interventions", "set:dry=wet")
        assert refused.code == 2
        assert refused.err.splitlines()[-1].startswith(
            "dagora: error: --interventions speaks of the level 'dry'"
        )


@pytest.mark.parametrize("door", [learn, sample, candidates])
def test_holes_beside_the_marks_are_refused_in_one_line(door):
    table = {"a": [0, 1] * 30, "b": [0, 0, 1, 1] * 15, "set": ["", "b"] * 30, "h": ["p", None, "q"] * 20}
    why = "interventions needs complete rows, and " if door is learn else ""
    with pytest.raises(DataError, match=f"^{why}20 cells are missing, the first in column 'h', data row 2"):
        door(table, interventions="set")
    assert door({**table, "h": ["p", "q"] * 30}, interventions="set")


def test_a_misspelt_column_of_marks_is_named_before_its_empty_cells_are_counted():
    table = {"a": [0, 1] * 30, "b": [0, 0, 1, 1] * 15, "set": ["", "b"] * 30}
    with pytest.raises(DataError, match="names no column: the columns are a, b, set"):
        learn(table, interventions="sett")


def test_what_a_level_means_is_said_in_the_words_of_the_door():
    table = rows()
    table["set"] = [text or "none" for text in table["set"]]
    with pytest.raises(DataError) as caught:
        learn(table, interventions="rain")
    assert caught.value.column == "rain"
    assert caught.value.render(COMMAND).startswith(
        "an intervention names '0', which is no column (a level of"
    )
    assert caught.value.render(COMMAND).endswith("--interventions rain:0=slip says what a level means")
