"""A covariance matrix is learned from as the rows are that it comes from."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora

GRAPH = dagora.random_dag("er", 6, 2, seed=3)
TABLE = dagora.simulate(GRAPH, "gaussian", 300, seed=3).table
NAMES = TABLE.names
MATRIX = np.cov(np.column_stack(TABLE.columns), rowvar=False)
FRAME = pd.DataFrame(MATRIX, columns=NAMES)
# What papers print: means and tests of ability, n = 88 (Mardia, Kent & Bibby 1979, table 1.2.1).
MARKS = {
    "mechanics": [305.7680, 127.2226, 101.5794, 106.2727, 117.4049],
    "vectors": [127.2226, 172.8422, 85.1573, 94.6729, 99.0120],
    "algebra": [101.5794, 85.1573, 112.8860, 112.1134, 121.8706],
    "analysis": [106.2727, 94.6729, 112.1134, 220.3804, 155.5355],
    "statistics": [117.4049, 99.0120, 121.8706, 155.5355, 297.7554],
}


@pytest.mark.parametrize("method", ["tabu", "pc", "ges", "notears"])
def test_graph_and_score_are_those_of_the_rows(method: str) -> None:
    given = dagora.learn(dagora.read_covariance(MATRIX, 300, names=NAMES), method)
    rows = dagora.learn(TABLE, method)
    assert given.graph == rows.graph
    if rows.score is not None and method in ("tabu", "ges"):
        assert given.score == pytest.approx(rows.score, rel=1e-9)


def test_scores_and_posteriors_are_those_of_the_rows() -> None:
    given = dagora.read_covariance(FRAME, 300)
    assert dagora.score(given, GRAPH) == pytest.approx(dagora.score(TABLE, GRAPH), rel=1e-9)
    one = dagora.sample(given, "exact", seed=1).edge_probability
    other = dagora.sample(TABLE, "exact", seed=1).edge_probability
    assert np.allclose(one, other, atol=1e-6)


def test_correlations_give_the_same_graph() -> None:
    correlations = np.corrcoef(np.column_stack(TABLE.columns), rowvar=False)
    given = dagora.read_covariance(correlations, 300, names=NAMES)
    assert dagora.learn(given, "ges").graph == dagora.learn(TABLE, "ges").graph


@pytest.mark.parametrize("form", ["whole", "labelled", "lower", "upper"])
def test_files_as_people_have_them(form: str, tmp_path: Path, run: Callable) -> None:
    matrix = MATRIX.copy()
    if form == "lower":
        matrix[np.triu_indices(6, 1)] = np.nan
    if form == "upper":
        matrix[np.tril_indices(6, -1)] = np.nan
    frame = pd.DataFrame(matrix, columns=NAMES)
    if form == "labelled":
        frame.insert(0, "", NAMES)
    file = tmp_path / "cov.csv"
    frame.to_csv(file, index=False)
    ran = run("learn", file, "--covariance", "--rows", 300, "--json")
    assert ran.code == 0, ran.err
    assert dagora.Result.from_json(ran.out).graph == dagora.learn(TABLE).graph


def test_the_published_graph_of_the_marks() -> None:
    """Whittaker (1990), section 1.2: mechanics and vectors are independent of the other two given algebra."""
    given = dagora.read_covariance(pd.DataFrame(MARKS), 88)
    graph = dagora.learn(given, "pc", alpha=0.05).graph
    pairs = {frozenset(edge) for edge in (*graph.edges, *graph.undirected)}
    assert {frozenset(("algebra", other)) for other in MARKS if other != "algebra"} <= pairs
    for one in ("mechanics", "vectors"):
        assert not {frozenset((one, other)) for other in ("analysis", "statistics")} & pairs


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[1, 0.5], [0.4, 1]], "not symmetric: 'x0' with 'x1' has 0.5"),
        ([[1, 2], [2, 1]], "eigenvalue of -1"),
        ([[0, 0], [0, 1]], "variance of 'x0' is not above 0"),
        ([[1, 0.5, 0.1], [0.5, 1, 0.1]], "has as many rows"),
        ([[1, np.inf], [np.inf, 1]], "no finite number"),
        ([[1, "a"], ["a", 1]], "no numbers"),
    ],
)
def test_what_is_no_covariance_matrix_is_refused(matrix: list, said: str) -> None:
    with pytest.raises(dagora.DataError, match=said):
        dagora.read_covariance(matrix, 50)


def test_what_needs_rows_says_so(tmp_path: Path, run: Callable) -> None:
    given = dagora.read_covariance(MATRIX, 300, names=NAMES)
    with pytest.raises(dagora.RowsUnavailableError, match="only their covariance matrix is given"):
        dagora.learn(given, "lingam")
    with pytest.raises(dagora.OptionError, match="rows"):
        dagora.read_covariance(MATRIX, 1)
    file = tmp_path / "cov.csv"
    FRAME.to_csv(file, index=False)
    for more, said in (
        (["--covariance"], "--covariance and --rows N go together"),
        (["--rows", "30"], "go together"),
        (["--covariance", "--rows", "300", "--drop", NAMES[0]], "has no cells to read"),
        (["--covariance", "--rows", "300", "--bootstrap", "5"], "draws rows"),
        (["--covariance", "--rows", "300", "--method", "lingam"], "only their covariance matrix is given"),
    ):
        ran = run("learn", file, *more)
        assert ran.code == 2
        assert said in ran.err


def test_a_matrix_without_names_is_not_taken_for_a_smaller_one(tmp_path: Path, run: Callable) -> None:
    """Its first row and its first column are the same, as names of columns and of rows are."""
    file = tmp_path / "cov.csv"
    file.write_text("1.0,0.5,0.2\n0.5,1.0,0.1\n0.2,0.1,1.0\n")
    ran = run("learn", file, "--covariance", "--rows", "88")
    assert ran.code == 2
    assert "the first line begins with the number 1.0: put a line with names first" in ran.err
    file.write_text(",1,2,3\n1,1.0,0.5,0.2\n2,0.5,1.0,0.1\n3,0.2,0.1,1.0\n")
    assert dagora.read_covariance(file, 88).schema.names == ("1", "2", "3")


def test_the_file_of_a_result_says_why_it_has_no_parameters(tmp_path: Path, run: Callable) -> None:
    file = tmp_path / "cov.csv"
    FRAME.to_csv(file, index=False)
    ran = run("learn", file, "--covariance", "--rows", 300, "-o", tmp_path / "network.json")
    assert ran.code == 0
    assert "a covariance matrix tells no means" in ran.err
    assert "sites" not in ran.err


def test_numbers_that_overflow_are_refused_in_one_line(tmp_path: Path) -> None:
    given = dagora.read_covariance([[1e308, 1e307], [1e307, 1e308]], 88)
    with pytest.raises(dagora.DataError, match="too large to be squared"):
        dagora.learn(given, "tabu")
