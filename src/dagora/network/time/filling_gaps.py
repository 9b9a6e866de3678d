"""Fill missing cells of series from a network in time, given all that was seen before and after."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, QueryError
from dagora.base.wording import col, option
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.network.incomplete.imputation import FilledCell, Imputation, complete_table, in_order
from dagora.network.time.discrete import best_levels, discrete_history, smoothed_levels
from dagora.network.time.histories import Histories, SeriesHistory
from dagora.network.time.kalman import run_smoother
from dagora.network.time.step_model import StepModel

Array = NDArray[np.float64]


def fill_gaps(steps: StepModel, histories: Histories, *, together: bool = False) -> Imputation:
    """Fill the cells of all rows; a variable without a column becomes one.

    `together` fills levels by the most probable history, in place of the most probable level of each cell.
    Steps that no row has stay out of the table.
    """
    if steps.model.kind not in ("discrete", "gaussian"):
        raise QueryError(
            "gaps are filled exactly in networks of discrete variables and in linear Gaussian ones; this one "
            "has both kinds: cut its numbers into levels"
        )
    table = with_hidden(histories.table, steps)
    for name, seen in zip(table.names, table.seen, strict=True):
        if name not in steps.variables and not seen.all():
            raise DataError(
                f"{col(name)} has missing values but is no variable of the network: leave it out "
                f"({option('drop', name)})"
            )
    columns = {name: table.columns[table.schema.index(name)].copy() for name in steps.variables}
    cells: list[FilledCell] = []
    for history in histories.series:
        if history.seen[history.rows >= 0].all():
            continue
        values, doubt = filled_values(steps, history, together)
        for step, k in np.argwhere(~history.seen & (history.rows >= 0)[:, None]).tolist():
            row, name = int(history.rows[step]), steps.variables[k]
            columns[name][row] = values[step, k]
            if name in steps.model.levels:
                level = steps.model.levels[name][int(values[step, k])]
                cells.append(FilledCell(row + 1, name, level, probability=float(doubt[step, k])))
            else:
                cells.append(FilledCell(row + 1, name, float(values[step, k]), sd=float(doubt[step, k])))
    recoded = recode(steps, columns, histories)
    whole = complete_table(
        IncompleteTable(table.schema, table.columns, np.ones_like(table.seen), table.overview),
        recoded,
        {name: tuple(steps.model.levels[name]) for name in steps.variables if name in steps.model.levels},
    )
    return Imputation(whole, in_order(cells, table), warnings=histories.notes)


def filled_values(steps: StepModel, history: SeriesHistory, together: bool) -> tuple[Array, Array]:
    """The value of every cell, with its probability or its standard deviation."""
    if steps.model.kind == "gaussian":
        means, covariances = run_smoother(steps, history)
        variances = np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0)
        return means, np.sqrt(variances)
    rows = discrete_history(steps, history)
    chances = smoothed_levels(rows)
    doubt = np.zeros(history.values.shape)
    values = history.values.copy()
    best = best_levels(rows) if together else None
    for k, name in enumerate(steps.variables):
        levels = chances[name].argmax(axis=1) if best is None else best[:, k]
        values[:, k] = levels
        doubt[:, k] = np.take_along_axis(chances[name], levels[:, None], axis=1)[:, 0]
    return values, doubt


def with_hidden(table: IncompleteTable, steps: StepModel) -> IncompleteTable:
    """The table with an unseen column for each variable that has none."""
    hidden = [name for name in steps.variables if name not in table.names]
    if not hidden:
        return table
    variables = [
        Variable(name, Kind.DISCRETE, tuple(steps.model.levels[name]))
        if name in steps.model.levels
        else Variable(name, Kind.CONTINUOUS)
        for name in hidden
    ]
    blank = [
        np.zeros(table.n_rows, dtype=np.uint16 if each.kind is Kind.DISCRETE else np.float64)
        for each in variables
    ]
    seen = np.concatenate([table.seen, np.zeros((len(hidden), table.n_rows), dtype=np.bool_)])
    return IncompleteTable(Schema([*table.schema, *variables]), (*table.columns, *blank), seen)


def recode(
    steps: StepModel, columns: Mapping[str, NDArray[np.generic]], histories: Histories
) -> dict[str, NDArray[np.generic]]:
    """The columns of the variables with codes in the network's order of levels."""
    found: dict[str, NDArray[np.generic]] = {}
    for k, name in enumerate(steps.variables):
        if name not in steps.model.levels:
            found[name] = columns[name]
            continue
        column = np.asarray(columns[name]).copy()
        for history in histories.series:
            there = (history.rows >= 0) & history.seen[:, k]
            column[history.rows[there]] = history.values[there, k]
        found[name] = column
    return found
