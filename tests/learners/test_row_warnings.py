"""What is looked for in the rows after a search: all of it, or, where time is up, a bounded part with a word."""

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.learners import row_warnings as module
from dagora.learners.influential_rows import MOST_WORK, takes_long
from dagora.learners.row_warnings import LATE_ROWS, LATE_SHARE, NOT_LOOKED

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
    looked: list[int | None] = []
    for name in ("curved_pairs", "rising_pairs"):
        monkeypatch.setattr(module, name, lambda _table, _graph, rows: looked.append(rows) or [])
    budget, stop = interrupted()
    dagora.learn(outlier_table(), "hill-climb", budget=budget, on_event=stop)
    assert looked == [LATE_ROWS, LATE_ROWS]
    looked.clear()
    dagora.learn(outlier_table(), "hill-climb")
    assert looked == [None, None]


def test_thousands_of_families_of_few_rows_are_much_work() -> None:
    """A fit takes its time however few the rows are: 5,000 edges would take seconds after Ctrl-C."""
    names = [f"x{k}" for k in range(101)]
    dag = dagora.DAG(names, [(names[i], names[j]) for j in range(101) for i in range(j)])
    table = dagora.Table.from_numpy(R.normal(size=(30, 101)), names=names)
    assert len(dag.edges) == 5050
    assert takes_long(table, dag, MOST_WORK * LATE_SHARE)
    assert takes_long(table, dag, MOST_WORK)
    assert not takes_long(table, dagora.DAG(names, dag.edges[:20]), MOST_WORK * LATE_SHARE)
