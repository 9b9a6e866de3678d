"""The graph and the rows that parameters are fitted to, for graphs and for results of learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.reading_options import split_reading

if TYPE_CHECKING:
    from typing import Any

    from dagora.data.interventions import GivenInterventions
    from dagora.data.schema import Schema
    from dagora.graph.dag import DAG
    from dagora.graph.directions import Directions
    from dagora.learners.result import Result


def graph_and_directions(graph: DAG | Result) -> tuple[DAG, Directions | None]:
    """The DAG to fit, and the directions that the data leave open where a result says so."""
    from dagora.graph.cpdag import require_dag
    from dagora.learners.result import Result

    if isinstance(graph, Result):
        return require_dag(graph.graph, "the graph of the result"), graph.directions
    return require_dag(graph), None


def unset_rows(
    graph: DAG | Result,
    dag: DAG,
    data: object,
    interventions: GivenInterventions | None,
    reading: dict[str, Any],
) -> tuple[object, dict[str, Any]]:
    """Data that know in which rows variables were set, where that is given or the result was learned so."""
    from dagora.learners.result import Result
    from dagora.learners.source import read_rows
    from dagora.stats.interventional import InterventionalStatistics

    if isinstance(data, InterventionalStatistics):
        return data, reading
    if interventions is None and isinstance(graph, Result):
        interventions = graph.settings.get("interventions")
        if interventions is None and any(graph.interventions):
            raise OptionError(
                "the result was learned with variables set in some rows: say which, as for learn "
                f"({option('interventions')})"
            )
    if interventions is None:
        warn_of_marks(dag, data)
        return data, reading
    options, _ = split_reading(reading, dag.nodes)
    return read_rows(data, reading=options, interventions=interventions), {}


def warn_of_marks(dag: DAG, data: object) -> None:
    """Warn where a column beside the nodes names variables that were set in some rows."""
    from dagora.base.errors import announce
    from dagora.data.interventions import find_marks
    from dagora.data.schema import Schema

    known = getattr(data, "schema", None)  # tables and statistics have one
    schema = known if isinstance(known, Schema) else columns_beside(dag, data)
    found = None if schema is None else find_marks(schema, dag.nodes)
    if found is not None:
        rows = "rows in which a variable was set count for what it depends on"
        said = f"unless you say {option('interventions', found)}"
        announce([f"column '{found}' names variables, as marks of interventions do: {rows} {said}"])


def columns_beside(dag: DAG, data: object) -> Schema | None:
    """The columns that are no nodes; None where there are none or they cannot be read."""
    import warnings

    from dagora.base.errors import DagoraError
    from dagora.data.accepting import as_any_table
    from dagora.data.columns.reading_options import ReadingOptions

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return as_any_table(data, ReadingOptions(drop=dag.nodes, missing="level")).schema
        except DagoraError:
            return None
