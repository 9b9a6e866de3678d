"""Fill the missing values of data from a network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dagora.base.errors import OptionError, announce
from dagora.base.wording import option
from dagora.data.accepting import as_any_table
from dagora.data.columns.reading_options import always, split_reading, takes_reading
from dagora.data.incomplete import IncompleteTable
from dagora.data.interventions import GivenInterventions, find_marks, warnings_of_marks
from dagora.data.made_tables import without_design
from dagora.data.table import Table
from dagora.learners.source import marked_column
from dagora.network.incomplete.imputation import Imputation
from dagora.network.incomplete.imputing import impute_table
from dagora.network.incomplete.set_rows import impute_set_rows, name_empty_marks, read_set_rows
from dagora.network.networks import GaussianNetwork, Network, require_network
from dagora.network.time.time_network import TimeNetwork


@takes_reading(missing="model")
def impute(
    network: Network | TimeNetwork,
    data: object,
    *,
    draws: int = 0,
    seed: int = 0,
    interventions: GivenInterventions | None = None,
    time: str | None = None,
    series: str | None = None,
    most_probable: bool = False,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Imputation:
    """Fill missing values of data from a network, given all that was seen in the same row.

    Discrete values are filled by the most probable level, continuous ones by their mean. With a network in
    time, all that was seen in the same series counts, before and after.

    Parameters
    ----------
    network : DiscreteNetwork, GaussianNetwork, MixedNetwork or TimeNetwork
        What `fit` or `read_network` returns.
    data : path, data frame, matrix, mapping of columns, Table or IncompleteTable
        Rows with columns of the network.
    draws : int, default 0
        Number of tables to fill at random as well, as the values may have been (multiple imputation).
    seed : int, default 0
        The same seed gives the same draws.
    interventions : str, mapping or list, optional
        As for `learn`: in a row in which a variable was set from outside, its value tells of what depends on
        it, and nothing of its causes.
    time : str, optional
        Column that says when a row was, for a network in time.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    most_probable : bool, default False
        Fill the levels of a series by its most probable history (Viterbi), not each by itself.
    {reading}

    Returns
    -------
    Imputation
        `.table` is complete, `.cells` lists what was filled, with the probability of the level or the
        standard deviation of the number, and `.draws` are the tables filled at random.

    Examples
    --------
    >>> import dagora
    >>> days = {"rain": ["no"] * 8 + ["yes"] * 8, "wet": ["no"] * 7 + ["yes"] * 9}
    >>> network = dagora.fit(dagora.DAG(["rain", "wet"], [("rain", "wet")]), days)
    >>> filled = impute(network, {"rain": ["yes", None], "wet": [None, "no"]})
    >>> [(cell.row, cell.column, cell.value, cell.probability) for cell in filled.cells]
    [(1, 'wet', 'yes', 1.0), (2, 'rain', 'no', 1.0)]
    >>> filled.table.to_pandas().values.tolist()
    [['yes', 'yes'], ['no', 'no']]
    """
    if isinstance(network, TimeNetwork) or time is not None or series is not None:
        if draws or interventions is not None:
            refused = option("draws") if draws else option("interventions")
            raise OptionError(f"{refused} does not go with {option('time')}: leave one of them out")
        in_time = network if isinstance(network, TimeNetwork) else TimeNetwork(network)
        filled = in_time.fill(data, time=time, series=series, most_probable=most_probable, **reading)
        announce(filled.warnings)
        return filled
    if most_probable:
        raise OptionError(f"{option('most_probable')} goes with {option('time')}")
    require_network(network)
    levels = {} if isinstance(network, GaussianNetwork) else network.levels
    numbers = frozenset(network.graph.nodes) - set(levels)
    given = reading if isinstance(data, Table | IncompleteTable) else {"missing": "model", **reading}
    options, _ = split_reading(
        given, network.graph.nodes, why_not_model=always, levels=levels, numbers=numbers
    )
    table = without_design(as_any_table(data, replace(options, marks=marked_column(interventions))))
    nodes = network.graph.nodes
    if interventions is None:
        table = name_empty_marks(table, find_marks(table.schema, nodes))
        filled = impute_table(network, table, draws, seed)
        announce([*warnings_of_marks(table.schema, nodes), *filled.warnings])
        return filled
    table = name_empty_marks(table, marked_column(interventions))
    known = read_set_rows(interventions, table, nodes)
    filled = impute_set_rows(network, table, known, draws, seed)
    announce(filled.warnings)
    return filled
