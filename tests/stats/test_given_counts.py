"""A folder of contingency tables has the counts of the rows, where one of the tables has the columns."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dagora

RANDOM = np.random.default_rng(4)
SMOKER = RANDOM.integers(0, 2, 400)
COUGH = np.where(RANDOM.random(400) < 0.8, SMOKER, 1 - SMOKER)
FEVER = np.where(RANDOM.random(400) < 0.7, COUGH, RANDOM.integers(0, 3, 400))
ROWS = pd.DataFrame({"smoker": SMOKER, "cough": COUGH, "fever": FEVER}).astype(str)


def write(folder: Path, *sets: tuple[str, ...], rows: pd.DataFrame = ROWS) -> Path:
    """Write the contingency table of each set of columns."""
    folder.mkdir(exist_ok=True)
    for columns in sets:
        counted = rows.groupby(list(columns)).size().reset_index(name="n")
        counted.to_csv(folder / f"{'_'.join(columns)}.csv", index=False)
    return folder


def test_tables_of_all_pairs_give_the_tree_of_the_rows(tmp_path: Path, run: Callable) -> None:
    folder = write(tmp_path / "tables", *combinations(ROWS, 2))
    expected = dagora.learn(ROWS, "hill-climb", max_parents=1, discrete=["all"])
    found = dagora.learn(folder, "hill-climb", counts="n", max_parents=1)
    assert set(map(frozenset, found.graph.edges)) == set(map(frozenset, expected.graph.edges))
    assert found.score == pytest.approx(expected.score, rel=1e-12)
    ran = run("learn", folder, "--counts", "n", "--method", "hill-climb", "--max-parents", "1", "--json")
    assert ran.code == 0


def test_one_table_of_all_columns_gives_what_the_rows_give(tmp_path: Path) -> None:
    folder = write(tmp_path / "tables", tuple(ROWS), ("smoker", "cough"))
    for method in ("tabu", "pc", "ges"):
        expected = dagora.learn(ROWS[sorted(ROWS)], method, discrete=["all"])
        found = dagora.learn(folder, method, counts="n")
        assert found.score == pytest.approx(expected.score, rel=1e-12) if found.score else True
        assert len(found.graph.edges) + len(getattr(found.graph, "undirected", ())) == len(
            expected.graph.edges
        ) + len(getattr(expected.graph, "undirected", ()))


def test_a_family_that_no_table_has_is_named(tmp_path: Path, run: Callable) -> None:
    folder = write(tmp_path / "tables", ("smoker", "cough"), ("cough", "fever"))
    with pytest.raises(dagora.DataError, match="no table has 'fever' and 'smoker' together"):
        dagora.learn(folder, "tabu", counts="n")
    ran = run("learn", folder, "--counts", "n")
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    known = {"forbidden": [["smoker", "fever"], ["fever", "smoker"]]}
    found = dagora.learn(folder, "hill-climb", counts="n", knowledge=known, max_parents=1)
    assert {frozenset(edge) for edge in found.graph.edges} == {
        frozenset(("smoker", "cough")),
        frozenset(("cough", "fever")),
    }


def test_tables_of_other_rows_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "tables", ("smoker", "cough"))
    write(folder, ("cough", "fever"), rows=ROWS.iloc[:390])
    with pytest.raises(
        dagora.DataError, match=r"cough_fever.csv and smoker_cough.csv count 390 and 400 rows"
    ):
        dagora.learn(folder, counts="n")
    other = ROWS.assign(cough=ROWS["cough"].sample(frac=1, random_state=1).to_numpy())
    other.loc[other.index[:1], "cough"] = np.where(other["cough"].iloc[:1] == "0", "1", "0")
    write(folder, ("cough", "fever"), rows=other)
    with pytest.raises(dagora.DataError, match="count cough differently"):
        dagora.learn(folder, counts="n")


def test_a_folder_without_tables_or_counts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dagora.DataError, match="has no table"):
        dagora.learn(tmp_path, counts="n")
    (tmp_path / "a.csv").write_text("smoker,m\nno,3\nyes,4\n")
    with pytest.raises(dagora.DataError, match="there is no column 'n'"):
        dagora.learn(tmp_path, counts="n")
    (tmp_path / "a.csv").write_text("smoker,cough,n\nno,no,30\nyes,no,4\nno,yes,7\nyes,yes,30\n")
    with pytest.raises(dagora.DagoraError, match="needs rows"):
        dagora.bootstrap(tmp_path, counts="n")


def test_options_that_tables_cannot_follow_are_refused(tmp_path: Path, run: Callable) -> None:
    """None is passed over: groups, orders and types would change the answer."""
    folder = write(tmp_path / "tables", *combinations(ROWS, 2))
    asked = {
        "group": "fever",
        "continuous": ["fever"],
        "ordinal": ["fever"],
        "missing": "drop",
        "discretise": "mean",
        "ranks": ["all"],
        "join": ["all"],
    }
    for name, value in asked.items():
        with pytest.raises(dagora.OptionError, match=f"leave {name} out for a folder of them"):
            dagora.learn(folder, "tabu", counts="n", max_parents=1, **{name: value})
    with pytest.raises(dagora.DataError, match="there is no column 'fewer' \\(to be left out\\)"):
        dagora.learn(folder, "tabu", counts="n", max_parents=1, drop=["fewer"])
    found = dagora.learn(folder, "tabu", counts="n", max_parents=1, drop=["fever"], discrete=["all"])
    assert found.graph.nodes == ("cough", "smoker")
    ran = run("learn", folder, "--counts", "n", "--group", "fever")
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1


def test_the_way_out_of_a_set_that_is_too_large_works(tmp_path: Path) -> None:
    folder = write(tmp_path / "tables", *combinations(ROWS, 2))
    with pytest.raises(dagora.DataError, match=r"fewer parents \(max_parents=1; of tests, max_given=0\)"):
        dagora.learn(folder, "pc", counts="n")
    assert dagora.learn(folder, "pc", counts="n", max_given=0).graph.undirected
    assert dagora.learn(folder, "tabu", counts="n", max_parents=1).graph.edges
