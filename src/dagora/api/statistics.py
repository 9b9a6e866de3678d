"""Count and sum a table, to learn later without its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dagora.base.errors import OptionError
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.incomplete import IncompleteTable
from dagora.data.made_tables import without_design
from dagora.stats.stored.accepting_stored import are_stored, open_stored, without
from dagora.stats.stored.make_statistics import statistics_of_table
from dagora.stats.stored.stored_statistics import StoredStatistics


@takes_reading()
def statistics(
    data: object,
    *,
    max_parents: int | None = None,
    sets: Iterable[Sequence[str]] | None = None,
    minus: object = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> StoredStatistics:
    """Count and sum the rows of a table, to save, add and take away, and to learn from without the rows.

    Discrete columns are counted, continuous ones summed without rounding: what is learned from statistics of
    parts is what is learned from those of all rows, to the last bit. Few rows can be read off their counts.

    Parameters
    ----------
    {data}
        Files of statistics, and lists of them, are added.
    max_parents : int, optional
        Count families of up to so many parents only; by default all columns are counted together, which takes
        as much as the distinct rows.
    sets : list of lists of columns, optional
        Count these sets of discrete columns, such as the families of a graph.
    minus : file of statistics, StoredStatistics, or a list of these, optional
        Statistics of rows to take away.
    {reading}

    Returns
    -------
    StoredStatistics
        `save(FILE)` writes them, `describe()` says how large they are. `learn` and others take them as data.

    Examples
    --------
    >>> import dagora
    >>> march = {"smoker": ["no", "yes"] * 20, "cough": ["no", "yes"] * 18 + ["yes", "no"] * 2}
    >>> april = {"smoker": ["no", "yes"] * 30, "cough": ["no", "yes"] * 27 + ["yes", "no"] * 3}
    >>> months = [dagora.statistics(march), dagora.statistics(april)]
    >>> dagora.learn(months).graph.edges
    (('cough', 'smoker'),)
    >>> dagora.statistics(months, minus=months[0])
    StoredStatistics(60 rows, 2 columns, 1 table of 4 cells)
    """
    whole = isinstance(max_parents, int) and not isinstance(max_parents, bool) and max_parents >= 0
    if max_parents is not None and not whole:
        raise OptionError(option="max_parents", value=max_parents, must="be a whole number, 0 or more")
    options, unknown = split_reading(reading)
    if unknown:
        raise OptionError(f"statistics has no option '{next(iter(unknown))}'")
    if are_stored(data):
        given = [*options.non_defaults(), *["max_parents"] * (max_parents is not None)]
        given += ["sets"] * (sets is not None)
        if given:
            raise OptionError(f"{given[0]} is about rows, and these are statistics of them: leave it out")
        return open_stored(data, minus)
    if minus is not None:
        return without(data, minus)
    table = without_design(as_any_table(data, options))
    assert not isinstance(table, IncompleteTable), "missing cells are refused where nothing models them"
    named = table.overview.source if table.overview is not None else None
    name = named or (Path(data).name if isinstance(data, str | Path) else "rows")
    return statistics_of_table(table, max_parents, sets, name)
