"""Rows that depend on each other are told: groups, copies, series; sorted tables are not."""

import numpy as np
import pytest

import dagora
from dagora.api.open_rows import open_rows


def said(table, **options):
    """The warnings about a table, in one text."""
    return "\n".join(dagora.inspect(table, **options).warnings)


def visits(seed=0, patients=120, each=10):
    """Repeated measurements whose columns depend on the patient."""
    draw = np.random.default_rng(seed)
    patient = np.repeat(np.arange(1, patients + 1), each)
    own = draw.standard_normal((3, patients))[:, patient - 1]
    return patient, {f"x{i}": own[i] + 0.3 * draw.standard_normal(patients * each) for i in range(3)}


@pytest.mark.parametrize(
    "name", ["patient_id", "MRN", "SubjectID", "participant_no", "pat_nr", "hhid", "case"]
)
@pytest.mark.parametrize("write", [int, lambda number: f"P{number:03}"])
def test_a_column_that_says_who_was_measured_is_left_out(name, write):
    patient, rows = visits()
    overview = dagora.inspect({name: [write(number) for number in patient], **rows})
    assert overview.columns[0].type == "left out"
    assert f"rows that share a '{name}' are not independent" in "\n".join(overview.warnings)


def test_scanned_rows_leave_it_out_too(tmp_path):
    patient, rows = visits()
    lines = [",".join(map(str, row)) for row in zip(patient, *rows.values(), strict=True)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient_id,x0,x1,x2", *lines]))
    overview = open_rows(tmp_path / "visits.csv").overview
    assert overview.columns[0].type == "left out"
    assert "rows that share a 'patient_id' are not independent" in "\n".join(overview.warnings)


def test_twelve_patients_stay_levels_and_are_told():
    patient, rows = visits(patients=12, each=50)
    overview = dagora.inspect({"patient": patient, **rows})
    assert overview.columns[0].type != "left out"
    assert "rows that share a 'patient' seem to belong together" in "\n".join(overview.warnings)


def test_runs_of_one_length_are_told_whatever_their_name():
    patient, rows = visits()
    assert "rows that share a 'unit' seem to belong together" in said({"unit": patient, **rows})


@pytest.mark.parametrize("name", ["mass_index", "visit_no", "acid", "ward_id"])
def test_other_names_and_few_levels_are_no_groups(name):
    draw = np.random.default_rng(0)
    levels = 10 if name == "ward_id" else 40
    table = {name: draw.integers(1, levels, 500), "x": draw.standard_normal(500)}
    overview = dagora.inspect(table)
    assert overview.columns[0].type != "left out"
    assert "not independent" not in "\n".join(overview.warnings)


def test_copies_of_rows_are_counted_where_chance_is_no_reason():
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.standard_normal((200, 3)).round(2), draw.integers(0, 3, 200)])
    twice = np.vstack([rows, rows[:25]])
    names = ["a", "b", "c", "d"]
    assert "25 of 225 rows are exact copies of others" in said(dict(zip(names, twice.T, strict=True)))
    assert "copies" not in said(dict(zip(names, rows.T, strict=True)))


def test_copies_of_levels_are_counted_where_there_are_enough_columns():
    draw = np.random.default_rng(0)
    levels = draw.integers(0, 4, (300, 16))
    twice = np.vstack([levels, levels[:40]])
    assert "40 of 340 rows are exact copies" in said({f"x{i}": column for i, column in enumerate(twice.T)})
    few = draw.integers(0, 3, (300, 3))
    assert "copies" not in said({f"x{i}": column for i, column in enumerate(few.T)})


@pytest.mark.parametrize(
    "name", ["alarm", "asia", "child", "insurance", "hailfinder", "win95pts", "earthquake"]
)
def test_rows_of_networks_are_no_copies(data_dir, name):
    network = dagora.read_network(data_dir / f"networks/{name}.bif.gz")
    for rows in (200, 2000):
        assert "copies" not in said(network.sample(rows, seed=1).to_pandas())


def test_random_walks_point_to_time():
    walks = np.random.default_rng(0).standard_normal((400, 3)).cumsum(0)
    told = said({f"x{i}": column for i, column in enumerate(walks.T)})
    assert "rows resemble the row before them in 'x0', 'x1', 'x2'" in told
    assert "time says so" in told


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("by", ["number", "level", "closely", "not"])
def test_sorted_tables_are_no_series(seed, by):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal(600)
    group = draw.integers(0, 20, 600)
    key = {"number": x, "closely": x, "level": group, "not": draw.random(600)}[by]
    table = {
        "x": x,
        "y": x + (0.01 if by == "closely" else 0.5) * draw.standard_normal(600),
        "z": group + 0.5 * draw.standard_normal(600),
        "group": np.array([f"g{i}" for i in group]),
    }
    order = np.argsort(key, kind="stable")
    assert "row before" not in said({name: column[order] for name, column in table.items()})


def test_rows_that_were_entered_twice_with_a_change_are_told():
    draw = np.random.default_rng(0)
    rows = draw.integers(0, 1000, (300, 4)) / 10
    again = rows[draw.choice(300, 40, replace=False)].copy()
    again[:, 3] = draw.integers(0, 1000, 40) / 10
    both = np.vstack([rows, again])
    assert "40 of 340 rows equal another one but for one cell" in said(dict(zip("abcd", both.T, strict=True)))
    assert "but for one cell" not in said(dict(zip("abcd", rows.T, strict=True)))
    levels = draw.integers(0, 3, (300, 6))
    assert "but for one cell" not in said(dict(zip("abcdef", levels.T, strict=True)))


@pytest.mark.parametrize("name", ["visit", "Wave", "time_point", "session"])
def test_columns_that_number_visits_are_told_by_name(name):
    draw = np.random.default_rng(0)
    rows = {"x": draw.standard_normal(300), "y": draw.standard_normal(300)}
    assert f"'{name}' seems to number the times" in said({name: draw.integers(1, 5, 300), **rows})
    assert "number the times" not in said({name: draw.choice(["home", "clinic"], 300), **rows})


def test_columns_that_count_on_and_begin_again_are_told_under_any_name():
    draw = np.random.default_rng(0)
    lengths = draw.integers(2, 7, 80)
    counts = np.concatenate([np.arange(1, length + 1) for length in lengths])
    rows = {name: draw.standard_normal(len(counts)) for name in "xy"}
    assert "'k' seems to number the times" in said({"k": counts, **rows})
    assert "number the times" not in said({"k": draw.permutation(counts), **rows})
    assert "number the times" not in said({"k": np.sort(counts), **rows})


@pytest.mark.parametrize("changed", ["w", None])
def test_near_copies_are_told_beside_an_exact_copy_and_under_two_clinics(changed):
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(300, 3)).round(3)
    clinic = np.repeat(["A", "B"], 300)
    again = rows.copy()
    if changed is not None:
        again[:, 2], clinic[300:] = draw.normal(size=300).round(3), "A"
        again[0] = rows[0]
    table = dict(zip("xyw", np.vstack([rows, again]).T, strict=True))
    told = said({**table, "v": np.r_[rows[:, 0] ** 2, rows[:, 0] ** 2].round(3), "clinic": clinic})
    assert f"{299 if changed else 300} of 600 rows equal another one but for one cell" in told


def test_a_hundredth_of_the_rows_at_least_are_near_copies():
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(1000, 5)).round(4)
    for number, told in ((9, False), (10, True)):
        table = rows.copy()
        table[-number:, 1:] = table[:number, 1:]
        assert ("but for one cell" in said(dict(zip("abcde", table.T, strict=True)))) is told


def test_rows_of_columns_that_depend_on_each_other_are_no_near_copies():
    draw = np.random.default_rng(3)
    x = draw.integers(0, 300, 2000)
    table = {"x": x, "y": 3 * x + draw.integers(0, 3, 2000), "z": 7 * x + draw.integers(0, 3, 2000)}
    table |= {"u": x // 2 + draw.integers(0, 3, 2000), "v": draw.integers(0, 30, 2000)}
    assert "but for one cell" not in said(table)


def test_columns_that_were_each_sorted_are_told():
    rng = np.random.default_rng(4)
    sorted_by_itself = {name: np.sort(rng.normal(size=200)) for name in "abc"}
    assert "all numbers are sorted from the first row to the last" in said(sorted_by_itself)
    falling = {**sorted_by_itself, "c": sorted_by_itself["c"][::-1], "who": ["x", "y"] * 100}
    assert "in 'a', 'b', 'c': if" in said(falling)
    assert "are sorted" not in said({**sorted_by_itself, "d": rng.normal(size=200)})
    assert "are sorted" not in said({name: sorted_by_itself[name] for name in "ab"})
    few = {name: np.sort(rng.normal(size=12)) for name in "abc"}
    assert "are sorted" not in said(few, continuous="all")
