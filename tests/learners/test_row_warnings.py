"""What is looked for in the rows after a search: all of it, or, where time is up, a bounded part with a word."""

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.learners import row_warnings as module
from dagora.learners.influential_rows import MOST_WORK, takes_long
from dagora.learners.row_warnings import (
    LATE_ROWS,
    LATE_SHARE,
    MOST_ROWS,
    NOT_LOOKED,
    curved_pairs,
    rising_pairs,
)

R = np.random.default_rng(0)


def outlier_table(columns: int = 3, rows: int = 100) -> dagora.Table:
    """Noise with one row far away in two columns, which brings an edge."""
    values = R.normal(size=(rows, columns))
    values[16, :2] = 40, 30
    return dagora.Table.from_numpy(values, names=[f"x{k}" for k in range(columns)])


def interrupted(reason: str = "it was interrupted") -> tuple[Budget, object]:
    """A budget, and an observer that exhausts it at the first event of a search that has found an edge."""
    budget = Budget()
    return budget, lambda event: budget.stop(reason) if event.step >= 1 else None


def test_a_row_that_carries_an_edge_is_told_after_ctrl_c_too() -> None:
    budget, stop = interrupted()
    result = dagora.learn(outlier_table(), "hill-climb", budget=budget, on_event=stop)
    assert result.status == "time-limit"
    assert any("rests on data row 17 alone" in line for line in result.warnings)
    assert NOT_LOOKED not in result.message


def test_what_takes_long_is_left_out_with_a_word_where_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    table = outlier_table()
    monkeypatch.setattr(module, "LATE_SHARE", 1e-9)
    budget, stop = interrupted()
    late = dagora.learn(table, "hill-climb", budget=budget, on_event=stop)
    assert NOT_LOOKED in late.message
    assert not any("rests on data row" in line for line in late.warnings)
    early = dagora.learn(table, "hill-climb")
    assert NOT_LOOKED not in early.message
    assert any("rests on data row 17 alone" in line for line in early.warnings)


def test_where_time_is_up_few_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    for name in ("curved_pairs", "rising_pairs"):
        monkeypatch.setattr(module, name, lambda _table, _graph, rows: looked.append(rows) or [])
    budget, stop = interrupted()
    dagora.learn(outlier_table(), "hill-climb", budget=budget, on_event=stop)
    assert looked == [LATE_ROWS, LATE_ROWS]
    looked.clear()
    dagora.learn(outlier_table(), "hill-climb")
    assert looked == [MOST_ROWS, MOST_ROWS]


def test_thousands_of_families_of_few_rows_are_much_work() -> None:
    """A fit takes its time however few the rows are: 5,000 edges would take seconds after Ctrl-C."""
    names = [f"x{k}" for k in range(101)]
    dag = dagora.DAG(names, [(names[i], names[j]) for j in range(101) for i in range(j)])
    table = dagora.Table.from_numpy(R.normal(size=(30, 101)), names=names)
    assert len(dag.edges) == 5050
    assert takes_long(table, dag, MOST_WORK * LATE_SHARE)
    assert takes_long(table, dag, MOST_WORK)
    assert not takes_long(table, dagora.DAG(names, dag.edges[:20]), MOST_WORK * LATE_SHARE)


RNG = np.random.default_rng(0)


@pytest.mark.full
def test_a_parabola_is_named():
    x = RNG.normal(size=400)
    rows = {"x": x, "y": x**2 + 0.3 * RNG.normal(size=400), "z": RNG.normal(size=400)}
    result = dagora.learn(rows, "hill-climb")
    assert result.graph.edges == ()
    assert sum("y depends on the square of x" in line for line in result.warnings) == 1
    assert not any("square" in line for line in dagora.learn(rows, "hill-climb", score="gp").warnings)


def test_lines_outliers_tails_and_noise_are_not_named():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        table = dagora.Table.from_numpy(
            np.column_stack(
                [x, x + rng.normal(size=300), rng.standard_cauchy(300), rng.exponential(size=300) ** 3]
            ),
            names=list("abcd"),
        )
        assert curved_pairs(table, dagora.DAG("abcd")) == []


def test_many_pairs_share_a_line():
    x = RNG.normal(size=300)
    columns = np.column_stack([x, *(x**2 + 0.1 * RNG.normal(size=300) for _ in range(5))])
    table = dagora.Table.from_numpy(columns, names=[f"v{i}" for i in range(6)])
    (line,) = curved_pairs(table, dagora.DAG([f"v{i}" for i in range(6)]))
    assert "more such pairs" in line
    assert line.count("depends on") == 3


def items(rng, rows=150, weight=1.2):
    """Two items of a trait and one of its own, from 1 to 7."""
    trait = weight * rng.normal(size=rows)

    def item(of):
        return np.clip(np.round(4 + of + 1.6 * rng.normal(size=rows)), 1, 7).astype(int)

    return {"item1": item(trait), "item2": item(trait), "z": item(0.0)}


def lines(result):
    return [line for line in result.warnings if "rise together" in line or "against each other" in line]


def test_items_without_an_edge_that_a_correlation_shows_are_told():
    told = [
        lines(dagora.learn(items(np.random.default_rng(seed), weight=1.4), discrete=["all"]))
        for seed in range(5)
    ]
    assert sum(map(bool, told)) >= 3
    line = next(one[0] for one in told if one)
    assert line.startswith("'item1' and 'item2' rise together (correlation 0.")
    assert 'declare both continuous (continuous=["item1"], …)' in line


def test_noise_words_and_adjacent_items_are_not():
    for seed in range(10):
        noise = {name: np.random.default_rng([seed, k]).integers(1, 8, 200) for k, name in enumerate("abcd")}
        assert not lines(dagora.learn(noise, "hill-climb", discrete=["all"]))
    table = dagora.Table.from_numpy(np.column_stack([[1, 2, 3, 4, 5] * 20] * 2), ["a", "b"], discrete=["all"])
    assert rising_pairs(table, dagora.DAG("ab", [("a", "b")])) == []
    assert rising_pairs(table, dagora.DAG("ab")) != []


def test_items_that_go_against_each_other_are_told():
    codes = np.array([1, 2, 3, 4, 5] * 20)
    table = dagora.Table.from_numpy(np.column_stack([codes, 6 - codes]), ["a", "b"], discrete=["all"])
    assert rising_pairs(table, dagora.DAG("ab"))[0].startswith("'a' and 'b' go against each other")
