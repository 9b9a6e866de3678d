"""Learning from tables with holes: what is modelled, told, refused, and how the graphs come out."""

import warnings

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError

RNG = np.random.default_rng(1)


def chain(rows: int, seed: int = 1) -> dict[str, list]:
    """Four discrete columns, a → b → c, and d alone."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    b = np.where(rng.random(rows) < 0.9, a, rng.integers(0, 2, rows))
    c = np.where(rng.random(rows) < 0.85, b, rng.integers(0, 2, rows))
    d = rng.integers(0, 3, rows)
    return {name: [f"{name}{v}" for v in column] for name, column in zip("abcd", (a, b, c, d), strict=True)}


def punched(columns: dict[str, list], share: float, seed: int = 2) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    return {name: [None if rng.random() < share else v for v in column] for name, column in columns.items()}


def lines(rows: int, seed: int = 3) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    y = x + 0.5 * rng.standard_normal(rows)
    return {"x": x.tolist(), "y": y.tolist(), "z": rng.standard_normal(rows).tolist()}


def skeleton(result: dagora.Result) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in (*result.graph.edges, *result.graph.undirected)}


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
@pytest.mark.parametrize("method", ["auto", "tabu", "ges", "order-search"])
def test_graphs_are_found_through_holes(method: str) -> None:
    result = dagora.learn(punched(chain(600), 0.3), method)
    assert skeleton(result) == {frozenset("ab"), frozenset("bc")}
    assert "of 2400 cells" in result.message
    assert "missing at random" in result.message
    assert result.settings["missing"] == "model"
    assert result.data["holes"]["columns"].keys() == set("abcd")
    assert sum(result.data["holes"]["columns"].values()) == result.data["holes"]["cells"]
    assert dagora.Result.from_json(result.to_json()).data == result.data


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_the_score_is_the_bic_of_what_was_seen() -> None:
    data = punched(chain(300), 0.2)
    result = dagora.learn(data)
    network = dagora.fit(result.graph, data, missing="model")
    from dagora.data.accepting import as_any_table
    from dagora.data.columns.reading_options import ReadingOptions
    from dagora.network.incomplete.bucket_tree import BucketTree
    from dagora.network.incomplete.matching import node_codes

    table = as_any_table(data, ReadingOptions(missing="model", why_not_model=lambda _: ""))
    logs = BucketTree(network).log_likelihoods(network, node_codes(network, table))
    parameters = sum(t.size - t.size // t.shape[-1] for t in network.tables.values())
    assert result.score == pytest.approx(logs.sum() - parameters * np.log(300) / 2, abs=0.05)
    assert result.trace[-1].score == result.score


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_the_order_of_the_columns_does_not_matter_and_a_run_repeats() -> None:
    data = punched(chain(300), 0.3)
    one = dagora.learn(data, seed=5)
    turned = dagora.learn({name: data[name] for name in "dbca"}, seed=5)
    assert set(turned.graph.edges) == set(one.graph.edges)
    assert dagora.learn(data, seed=5).graph == one.graph


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_continuous_and_mixed_tables_with_holes() -> None:
    numbers = punched(lines(300), 0.2)
    assert skeleton(dagora.learn(numbers)) == {frozenset("xy")}
    both = {**numbers, **punched(chain(300), 0.2)}
    result = dagora.learn(both)
    assert result.score_name == "bic-mixed"
    assert {frozenset("xy"), frozenset("ab"), frozenset("bc")} <= skeleton(result)


@pytest.mark.filterwarnings("ignore::dagora.DagoraWarning")
def test_without_rounds_the_method_runs_once_on_what_was_seen() -> None:
    result = dagora.learn(punched(chain(300), 0.2), "tabu", em_rounds=0)
    assert "em_rounds" not in result.stats
    assert "bic on the observed values" in result.message
    limited = dagora.learn(punched(chain(300), 0.2), time_limit=1e-6)
    assert limited.status == "time-limit"


def test_complete_data_are_learned_from_as_ever() -> None:
    data = chain(200)
    assert dagora.learn(data).score == dagora.learn(data, missing="error").score
    assert "missing" not in dagora.learn(data).settings


NEVER = {"a": ["x", "y", None, None] * 20, "b": [None, None, "x", "y"] * 20, "c": ["u", "v"] * 40}


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (punched(chain(60), 0.2), {"score": "bdeu"}, 'cells are missing.*missing="drop"'),
        (
            punched(chain(60), 0.2),
            {"score": "bdeu", "missing": "model"},
            "the score bdeu needs complete rows",
        ),
        (punched(lines(60), 0.2), {"method": "notears"}, 'cells are missing.*missing="drop"'),
        (punched(lines(60), 0.2), {"method": "notears", "missing": "model"}, "notears needs complete rows"),
        (punched(chain(60), 0.2), {"missing": "error"}, 'missing="model" would learn from what is there'),
        (NEVER, {}, "columns 'a' and 'b' were never seen in the same row"),
        ({**chain(40), "e": [None] * 40}, {"discrete": ["e"], "missing": "model"}, "all cells of column 'e'"),
        ({"a": [None] * 9, "b": [None] * 9}, {}, "no column can be used"),
        (punched(chain(60), 0.2), {"em_rounds": -1}, "em_rounds must be a whole number"),
        (punched(chain(60), 0.2), {"missing": "ignore"}, "missing must be one of error, drop, level, model"),
    ],
)
def test_what_cannot_be_modelled_is_refused_in_one_line(data: dict, options: dict, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DagoraError, match=words) as refused:
            dagora.learn(data, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "call",
    [
        dagora.candidates,
        lambda data: dagora.score(data, dagora.DAG("abcd")),
        dagora.sample,
        lambda data: dagora.candidates(data, missing="model"),
    ],
)
def test_other_doors_refuse_holes(call: object) -> None:
    with pytest.raises(DagoraError, match="missing"):
        call(punched(chain(60), 0.2))


def test_a_table_with_holes_is_written_and_read_again(tmp_path) -> None:
    table = dagora.punch_holes(
        dagora.Table.from_frame(__import__("pandas").DataFrame(chain(50))), "mcar:0.3", 1
    )
    from dagora.data.accepting import as_any_table
    from dagora.data.columns.reading_options import ReadingOptions

    for name in ("t.csv", "t.tsv.gz", "t.parquet", "t.feather"):
        dagora.write_table(table, tmp_path / name)
        reading = ReadingOptions(missing="model", why_not_model=lambda _: "")
        again = as_any_table(str(tmp_path / name), reading)
        np.testing.assert_array_equal(again.seen, table.seen)
        for one, other, seen in zip(again.columns, table.columns, table.seen, strict=True):
            np.testing.assert_array_equal(one[seen], other[seen])


@pytest.mark.parametrize("how", ["mcar", "mar", "mnar"])
def test_holes_are_punched_as_asked_for(how: str) -> None:
    table = dagora.Table.from_numpy(np.random.default_rng(1).standard_normal((4000, 6)), continuous=["all"])
    holes = dagora.punch_holes(table, f"{how}:0.2", 4)
    assert abs(holes.missing / holes.seen.size - 0.2) < 0.01
    assert dagora.punch_holes(table, f"{how}:0.2", 4).seen.tolist() == holes.seen.tolist()
    gap = [
        abs(column[~seen].mean() - column[seen].mean()) if not seen.all() else 0.0
        for column, seen in zip(table.columns, holes.seen, strict=True)
    ]
    assert (max(gap) > 0.3) == (how == "mnar")


def test_a_number_that_is_constant_once_rows_are_dropped_is_left_out():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    constant = np.where(np.arange(100) < 90, 3.5, x)
    holed = np.where(np.arange(100) < 90, y, np.nan)
    with pytest.warns(dagora.DagoraWarning, match=r"left out: 'k' \(a constant number\)"):
        result = dagora.learn({"k": constant, "h": holed, "x": x}, missing="drop")
    assert result.graph.nodes == ("h", "x")
