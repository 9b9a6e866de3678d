"""One self-contained HTML page per result.

A page loads nothing: its pictures (SVG), style and script are in the page itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from dagora.base.errors import GraphError, OptionError
from dagora.base.files import require_path, write_whole
from dagora.learners.result import Result

if TYPE_CHECKING:
    from dagora.data.incomplete import AnyTable
    from dagora.effects.all_pairs import AllEffects
    from dagora.effects.effect_ranges import EffectRanges
    from dagora.effects.result import Effect
    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.lagged_graph import LaggedGraph
    from dagora.network.gaussian_process.network import GaussianProcessNetwork
    from dagora.network.networks import Network
    from dagora.network.time.backtest import Backtest
    from dagora.network.time.histories import Histories
    from dagora.network.time.row_scores import RowScores
    from dagora.network.time.trajectory import Trajectory
    from dagora.posterior.criticism.check import Check
    from dagora.posterior.resample.strengths import Strengths
    from dagora.posterior.summary.posterior import Posterior


def write_comparison(
    estimate: AnyGraph,
    truth: AnyGraph,
    path: str | PathLike[str],
    *,
    names: tuple[str, str] = ("estimate", "truth"),
) -> None:
    """Write a page with two graphs side by side, and what they have in common.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dagora.graph.dag import DAG
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "difference.html")
    ...     write_comparison(DAG("ab", ["ab"]), DAG("ab", ["ba"]), page)
    ...     "other direction" in page.read_text(encoding="utf-8")
    True
    """
    from dagora.report.compared import comparison_page

    require_path(path)
    write_whole(path, comparison_page(estimate, truth, names))


def write_check(
    check: Check, path: str | PathLike[str], *, names: tuple[str, str] = ("graph", "data")
) -> None:
    """Write a page about a check, with pictures; `names` are those of the graph and of the data.

    >>> import tempfile, dagora
    >>> from pathlib import Path
    >>> found = dagora.check(dagora.DAG("ab", ["ab"]), {"a": [0, 1] * 30, "b": [0, 1, 1] * 20})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "check.html")
    ...     write_check(found, page)
    ...     "Single changes" in page.read_text(encoding="utf-8")
    True
    """
    from dagora.report.checked import check_page

    require_path(path)
    write_whole(path, check_page(check, names))


def write_forecast(
    found: Trajectory | Backtest,
    path: str | PathLike[str],
    *,
    graph: LaggedGraph,
    source: str = "series",
    histories: Histories | None = None,
    scores: RowScores | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write a page about forecasts, filtered or smoothed steps, or a backtest, by a graph in time.

    `histories` are the rows before forecasts, which are drawn; `scores` those of `score_rows`.

    >>> import tempfile, dagora
    >>> from pathlib import Path
    >>> rows = {"t": range(40), "x": [0.1 * (k % 7) for k in range(40)]}
    >>> graph = dagora.LaggedGraph("x", 1, [("x", "x", 1)])
    >>> network = dagora.fit(graph, rows, time="t")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "forecast.html")
    ...     write_forecast(network.forecast(rows, 3), page, graph=graph, histories=network.histories(rows))
    ...     "Forecasts" in page.read_text(encoding="utf-8")
    True
    """
    from dagora.network.time.backtest import Backtest
    from dagora.report.forecasts import backtest_page, trajectory_page

    require_path(path)
    if isinstance(found, Backtest):
        write_whole(path, backtest_page(found, graph, source))
        return
    content = trajectory_page(found, graph, source, histories=histories, scores=scores, notes=notes)
    write_whole(path, content)


def write_report(
    found: Result | Posterior | Strengths | Effect | AllEffects | EffectRanges,
    path: str | PathLike[str],
    *,
    truth: AnyGraph | None = None,
    network: Network | GaussianProcessNetwork | None = None,
    source: str | None = None,
    strengths: Strengths | None = None,
    table: AnyTable | None = None,
    seconds: float | None = None,
) -> None:
    """Write an HTML page about what `learn`, `sample`, `bootstrap`, `effect` or `all_effects` returned.

    Parameters
    ----------
    found : Result, Posterior, Strengths, Effect, AllEffects or EffectRanges
        What to show; of effects, `source` is the only other thing that matters.
    path : path
        The file to write, such as "network.html".
    truth : DAG, CPDAG or PAG, optional
        A graph to compare with; a PAG only with a Result.
    network : network with parameters, optional
        Parameters to show with a Result, from `fit`.
    source : str, optional
        Name of the data.
    strengths : Strengths, optional
        Strengths of the edges to show with a Result, from `bootstrap`.
    table : Table or IncompleteTable, optional
        Data whose columns' distributions are shown, as counts and never as rows.
    seconds : float, optional
        Leave out a picture of a Result that would take about so long to draw or longer.

    Returns
    -------
    None

    Examples
    --------
    >>> import dagora, tempfile
    >>> from pathlib import Path
    >>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
    >>> result = dagora.learn(table)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder, "report.html")
    ...     fitted = dagora.fit(result, table)
    ...     write_report(result, page, network=fitted, source="two columns", table=table)
    ...     "two columns" in page.read_text(encoding="utf-8")
    True
    """
    from dagora.effects.all_pairs import AllEffects
    from dagora.effects.effect_ranges import EffectRanges
    from dagora.effects.result import Effect
    from dagora.graph.ancestral.pag import PAG
    from dagora.posterior.resample.strengths import Strengths
    from dagora.posterior.summary.posterior import Posterior
    from dagora.report.distribution import distributions
    from dagora.report.learned import result_page
    from dagora.report.sampled import posterior_page
    from dagora.report.strength_section import strength_sections, strengths_page

    require_path(path)
    if isinstance(found, Effect | AllEffects | EffectRanges):
        write_whole(path, page_of_effects(found, source))
        return
    plain = None if truth is None or isinstance(truth, PAG) else truth
    distributed = None if table is None else distributions(table)
    if isinstance(found, Result):
        shown = [] if strengths is None else strength_sections(strengths, plain)
        content = result_page(
            found,
            truth=truth,
            network=network,
            source=source,
            strengths=shown,
            distributions=distributed,
            seconds=seconds,
        )
    elif isinstance(truth, PAG):
        raise GraphError("the truth of a posterior or of strengths must be a DAG or CPDAG, not a PAG")
    elif isinstance(found, Strengths):
        content = strengths_page(found, truth=truth, source=source, distributions=distributed)
    elif not isinstance(found, Posterior):
        raise OptionError(
            f"a report shows what learn, sample, bootstrap or effect returned, not a {type(found).__name__}"
        )
    else:
        content = posterior_page(found, truth=truth, source=source, distributions=distributed)
    write_whole(path, content)


def page_of_effects(found: Effect | AllEffects | EffectRanges, source: str | None) -> str:
    """A whole HTML document about one effect, or those of all pairs."""
    from dagora.effects.all_pairs import AllEffects
    from dagora.effects.result import Effect
    from dagora.report.all_effects import all_effects_page, effect_ranges_page
    from dagora.report.effect_sections import effect_page

    if isinstance(found, Effect):
        return effect_page(found, source)
    return (
        all_effects_page(found, source)
        if isinstance(found, AllEffects)
        else effect_ranges_page(found, source)
    )
