"""Fit the parameters of a graph, as tables, linear regressions or Gaussian processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.reading_options import always, split_reading, takes_reading
from dagora.data.incomplete import IncompleteTable
from dagora.graph.lagged_graph import LaggedGraph
from dagora.learners.rows_to_fit import graph_and_directions, unset_rows
from dagora.network.fit import fit as fit_tables_or_lines

if TYPE_CHECKING:
    from dagora.data.interventions import GivenInterventions
    from dagora.graph.dag import DAG
    from dagora.learners.result import Result
    from dagora.network.gaussian_process.network import GaussianProcessNetwork
    from dagora.network.networks import Network
    from dagora.network.table_prior import PseudoCount
    from dagora.network.time.time_network import TimeNetwork

PROCESSES = ("gp", "gp2")


@overload
def fit(
    graph: LaggedGraph | DAG | Result,
    data: object,
    *,
    time: str,
    series: str | None = None,
    pseudocount: PseudoCount = 0.0,
    ess: float | None = None,
    seed: int = 0,
    name: str = "network",
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> TimeNetwork: ...


@overload
def fit(
    graph: DAG | Result,
    data: object,
    *,
    score: None = None,
    pseudocount: PseudoCount = 0.0,
    ess: float | None = None,
    seed: int = 0,
    name: str = "network",
    interventions: GivenInterventions | None = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> Network: ...


@overload
def fit(
    graph: DAG | Result,
    data: object,
    *,
    score: str,
    published: bool = False,
    name: str = "network",
    interventions: GivenInterventions | None = None,
    **reading: Any,  # noqa: ANN401 - those of `read_table`
) -> GaussianProcessNetwork: ...


@takes_reading(missing="error")
def fit(
    graph: LaggedGraph | DAG | Result,
    data: object,
    *,
    score: str | None = None,
    published: bool = False,
    pseudocount: PseudoCount = 0.0,
    ess: float | None = None,
    seed: int = 0,
    name: str = "network",
    interventions: GivenInterventions | None = None,
    time: str | None = None,
    series: str | None = None,
    **reading: Any,
) -> Network | GaussianProcessNetwork | TimeNetwork:
    """Fit the parameters of a graph whose nodes are columns of data.

    With missing="model", tables and regressions are fitted by EM to what was seen, as missing at random.

    Parameters
    ----------
    graph : DAG, Result or LaggedGraph
        Columns that are not nodes of it are ignored. A network of a result remembers which directions the
        data leave open, and says so where an answer depends on them.
    {data}
    score : str, optional
        None: probability tables, or linear regressions with Gaussian noise; with columns of both kinds, a
        regression for each configuration of the discrete parents, logistic for a discrete node. A
        configuration of too few rows gets the regression over all rows. "gp" or "gp2": Gaussian processes
        with the kernel and priors of that score, which predict, draw rows, and have functions with bands.
    published : bool, default False
        As for the score "gp2".
    pseudocount : float or "one-row", default 0
        Added to every cell of a probability table. "one-row" spreads one row evenly over the levels of a
        variable, for each combination of its parents' levels.
    ess : float, optional
        An equivalent sample size that is spread over the cells of each table instead.
    seed : int, default 0
        Decides what is drawn where EM samples missing values (both kinds of columns, wide graphs).
    name : str, default "network"
        Name of the network.
    interventions : str, mapping or list, optional
        As for `learn`: a row in which a variable was set from outside does not count for what this variable
        depends on. A `Result` knows the column that it was learned with.
    time : str, optional
        Column that says when a row was. The graph is then one in time, and the parameters are those of a step
        given the steps before it, the same at all steps.
    series : str, optional
        Column that says which series a row belongs to; without it, there is one.
    {reading}

    Returns
    -------
    DiscreteNetwork, GaussianNetwork, MixedNetwork, GaussianProcessNetwork or, with a time, TimeNetwork

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> days = {"rain": ["no", "no", "no", "yes", "yes"], "wet": ["no", "no", "yes", "yes", "yes"]}
    >>> network = fit(DAG(["rain", "wet"], [("rain", "wet")]), days)
    >>> network.tables["rain"], network.tables["wet"][1]
    (array([0.6, 0.4]), array([0., 1.]))
    >>> heat = {"hour": [h / 4 for h in range(96)], "degrees": [abs(h - 40) ** 1.5 / 50 for h in range(96)]}
    >>> curves = fit(DAG(["hour", "degrees"], [("hour", "degrees")]), heat, score="gp")
    >>> [(curve.parent, curve.child) for curve in curves.functions()]
    [('hour', 'degrees')]
    """
    if time is not None or series is not None:
        if score is not None or published or interventions is not None:
            given = "score" if score is not None else "published" if published else "interventions"
            raise OptionError(f"{option(given)} does not go with {option('time')}: leave one of them out")
        from dagora.api.network_in_time import fit_to_time, timing_of
        from dagora.network.table_prior import TablePrior

        prior = TablePrior(pseudocount, ess)
        missing = {"missing": "error", **reading}
        return fit_to_time(graph, data, timing_of(time, series), prior, missing, name=name, seed=seed)
    if isinstance(graph, LaggedGraph):
        raise OptionError(f"a graph in time is fitted to rows in time: {option('time')} names their column")
    dag, directions = graph_and_directions(graph)
    data, reading = unset_rows(graph, dag, data, interventions, reading)
    if score is None:
        if published:
            raise OptionError(f"{option('published')} belongs to {option('score', 'gp2')}")
        from dagora.network.drawing import seed_sequence
        from dagora.network.incomplete.fitting import fit_with_missing_values
        from dagora.network.table_prior import TablePrior
        from dagora.stats.accepting import as_statistics
        from dagora.stats.observed.statistics import IncompleteStatistics

        seed_sequence(seed)
        if isinstance(data, IncompleteTable | IncompleteStatistics) or reading.get("missing") == "model":
            options, _ = split_reading(reading, dag.nodes, only=dag.nodes, why_not_model=always)
            data, reading = as_statistics(data, reading=options), {}
            if isinstance(data, IncompleteStatistics):
                prior = TablePrior(pseudocount, ess)
                return fit_with_missing_values(
                    dag, data, prior=prior, name=name, seed=seed, directions=directions
                )
        return fit_tables_or_lines(
            dag, data, pseudocount=pseudocount, ess=ess, name=name, directions=directions, **reading
        )
    if score not in PROCESSES:
        raise OptionError(
            f"fit has the scores gp and gp2, for Gaussian processes, not {score!r}: without a score it fits "
            "probability tables or linear regressions"
        )
    if pseudocount or ess is not None:
        raise OptionError(
            f"pseudocount and ess are for probability tables: leave out {option('score', score)}"
        )
    if published and score != "gp2":
        raise OptionError(f"{option('published')} belongs to {option('score', 'gp2')}")
    from dagora.scores.gp.fitted import fit_processes
    from dagora.stats.accepting import as_statistics
    from dagora.stats.interventional import InterventionalStatistics

    if isinstance(data, InterventionalStatistics):
        raise OptionError(
            f"Gaussian processes are fitted to rows in which nothing was set: leave {option('score', score)} "
            "out, or give the other rows"
        )

    options, _ = split_reading(reading, dag.nodes, only=dag.nodes)
    statistics = as_statistics(data, reading=options)
    return fit_processes(dag, statistics, score, published=published, name=name)
