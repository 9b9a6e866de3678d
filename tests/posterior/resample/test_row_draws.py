"""Whole groups of rows are drawn: edges between columns that only patients share are no longer certain."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.table import Table
from dagora.posterior.resample.row_draws import drawn_groups, drawn_statistics
from dagora.stats.designed import DesignStatistics

PATIENTS, VISITS = 120, 10


def patients(seed: int) -> pd.DataFrame:
    """Visits of patients, whose columns are independent between patients and nearly the same within one."""
    random = np.random.default_rng(seed)
    of_row = np.repeat(np.arange(PATIENTS), VISITS)
    columns = {
        name: random.normal(size=PATIENTS)[of_row] + 0.3 * random.normal(size=len(of_row)) for name in "abcde"
    }
    return pd.DataFrame({"patient": of_row, **columns})


def test_false_edges_of_repeated_patients_lose_their_strength() -> None:
    """They become those of a table with one row for each patient."""
    for seed in (4, 5):
        rows, options = patients(seed), {"samples": 40, "seed": seed}
        plain = dagora.bootstrap(rows, "hill-climb", drop=["patient"], **options)
        grouped = dagora.bootstrap(rows, "hill-climb", group="patient", **options)
        means = rows.groupby("patient").mean().reset_index(drop=True)
        once = dagora.bootstrap(means, "hill-climb", **options)
        assert plain.adjacency_frequency.max() == 1.0
        assert grouped.adjacency_frequency.max() < 0.6
        assert grouped.adjacency_frequency == pytest.approx(once.adjacency_frequency, abs=0.15)
        assert "groups of rows, drawn with replacement" in grouped.message
        assert "in 120 groups of 'patient' (design effect" in grouped.message


def test_true_edges_within_patients_stay() -> None:
    rows = patients(1)
    random = np.random.default_rng(9)
    rows["f"] = random.normal(size=len(rows))
    rows["g"] = rows["f"] + random.normal(size=len(rows))
    found = dagora.bootstrap(rows, "hill-climb", group="patient", samples=20)
    names = list(found.nodes)
    assert found.adjacency_frequency[names.index("f"), names.index("g")] == 1.0
    learned = dagora.learn(rows, "hill-climb", group="patient")
    assert {frozenset(edge) for edge in learned.graph.edges} == {frozenset("fg")}


def test_centring_within_patients_leaves_what_varies_within_them() -> None:
    random = np.random.default_rng(3)
    rows = patients(4)[["patient", "a", "b"]]
    within = random.normal(size=(len(rows)))
    rows["a"] += within
    rows["b"] += 0.4 * within + 0.5 * random.normal(size=len(rows))
    found = dagora.learn(rows, "hill-climb", group="patient", within_groups=["all"])
    assert len(found.graph.edges) == 1
    assert found.stats["effective_rows"] == PATIENTS * VISITS - PATIENTS + 1


@pytest.mark.parametrize(("way", "groups"), [("rows", 30), ("halves", 15), ("half-rows", 15)])
def test_drawn_groups_are_whole(way: str, groups: int) -> None:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 6, 30)
    of_row = random.permutation(np.repeat(np.arange(30), sizes))
    table = Table.from_numpy((of_row + 0.5)[:, None])
    weights = random.uniform(1, 2, len(of_row))
    designed = DesignedTable(table, RowDesign(weights, of_row, "w", "g"))
    some = drawn_groups(way, designed, np.random.default_rng(2))
    assert len(np.unique(some.design.groups)) == groups
    for group in range(groups):
        rows = some.design.groups == group
        (value,) = np.unique(some.table.values(0)[rows])
        assert rows.sum() == sizes[int(value)]
        own = np.sort(weights[of_row == int(value)])
        assert np.array_equal(np.sort(some.design.weights[rows]), own)
    again = drawn_statistics(DesignStatistics(designed), way, np.random.default_rng(2))
    assert np.array_equal(again.designed.table.values(0), some.table.values(0))


def test_a_bootstrap_of_groups_is_the_same_in_processes_and_from_a_file(tmp_path) -> None:
    rows = patients(2)
    options = {"samples": 6, "seed": 3, "group": "patient"}
    one = dagora.bootstrap(rows, "hill-climb", **options)
    file = tmp_path / "samples.npz"
    dagora.bootstrap(rows, "hill-climb", checkpoint=file, **{**options, "samples": 3})
    again = dagora.bootstrap(rows, "hill-climb", checkpoint=file, **options)
    assert np.array_equal(one.marks, again.marks)
    assert "3 of them from a file" in again.message
    with pytest.raises(dagora.OptionError, match="other data"):
        dagora.bootstrap(rows.assign(patient=rows["patient"] // 2), "hill-climb", checkpoint=file, **options)
