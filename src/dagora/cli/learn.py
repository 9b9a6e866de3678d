"""`dagora learn`: learn a network from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from dagora.cli import completing
from dagora.cli.bootstrap_options import BootstrapRequest, bootstrap_options
from dagora.cli.cluster_options import READING_THERE, check_reading_there, dask_option, rows_there
from dagora.cli.data_options import (
    INTERVENTIONS,
    Reading,
    TimeRequest,
    data_options_with_model,
    time_options_with_choice,
)
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import learn_options
from dagora.cli.learn_request import LearnRequest
from dagora.cli.one_data import one_data
from dagora.cli.rehearsal import rehearsing
from dagora.cli.terminal import echo

if TYPE_CHECKING:
    from dagora.data.made_tables import ReadTable
    from dagora.data.series import Timing
    from dagora.learners.candidates.candidates import Candidates
    from dagora.stats.scan.scan_statistics import ScanStatistics
    from dagora.stats.statistics import Statistics

EXAMPLES = """\b
Examples:
  dagora learn patients.csv
  dagora learn patients.csv --score bdeu --option ess=10 -o network.bif --report network.html
  dagora learn sensors.parquet --method notears --option lambda1=0.05 --time-limit 60 --json
  dagora learn patients.csv --method order-search --jobs 2
  dagora learn patients.csv --method astar --estimate
  dagora learn patients.csv --method tabu --bootstrap 200 --jobs 2 --report network.html
  dagora learn cells.csv --interventions drug:A=Mek,B=Raf+Mek
  dagora learn plant.csv --time hour --series reactor --lags 2
  dagora learn 'sales/**/*.parquet' --method hill-climb
  dagora learn duckdb:shop.db --table orders --sample 100000
  dagora learn visits.csv --group patient --bootstrap 200
  dagora learn survey.csv --weights w --missing drop
  dagora learn marks.csv --covariance --rows 88 --method pc
  dagora learn march.stats april.stats --minus old.stats --start network.json
  dagora learn survey.csv --missing drop --knowledge known.json --truth truth.bif
  dagora learn survey.csv --score bdeu --impute 20
  dagora learn patients.csv --method ilp --option best=20
  dagora learn genes.parquet --target BRCA1 --report blanket.html
"""


@click.command("learn", cls=PagedCommand, short_help="Learn a network from a table.", epilog=EXAMPLES)
@click.argument("data", nargs=-1, required=True, metavar="DATA", shell_complete=completing.files)
@click.option(
    "--minus",
    multiple=True,
    metavar="OLD.stats",
    shell_complete=completing.files,
    help="Take away the statistics of these rows (repeatable), where DATA are files of statistics.",
)
@INTERVENTIONS
@learn_options
@click.option(
    "--em-rounds",
    type=click.IntRange(0),
    default=6,
    show_default=True,
    help="Most rounds of structural EM where missing values are modelled.",
)
@dask_option(
    "Learn", f": {READING_THERE} With --bootstrap, DATA is read here, and the workers learn from the samples."
)
@click.option(
    "--estimate",
    is_flag=True,
    help="Say about how long it would take, from trying it on parts of DATA for 2 s, and do not learn.",
)
@click.option(
    "--covariance", is_flag=True, help="DATA is a covariance or correlation matrix, of --rows N rows."
)
@click.option("--rows", type=click.IntRange(2), metavar="N", help="Rows behind the matrix of --covariance.")
@bootstrap_options
@time_options_with_choice
@data_options_with_model
def command(
    *,
    data: tuple[str, ...],
    minus: tuple[str, ...],
    estimate: bool,
    interventions: str | None,
    covariance: bool,
    rows: int | None,
    request: LearnRequest,
    em_rounds: int,
    dask: str | None,
    again: BootstrapRequest,
    in_time: TimeRequest,
    reading: Reading,
) -> None:
    """Learn a network from DATA (.csv .tsv .parquet .feather .xlsx .dta .sav .rds; or scores in .jkl).

    Several DATA are files of statistics (.stats, by `dagora statistics`), which are added.

    A folder, a pattern ('sales/**/*.parquet') and a database (duckdb:FILE or postgresql://HOST/NAME, with
    --table or --query) may hold more rows than memory: they are read anew for every round of questions.

    Text, booleans and numbers of few distinct values are discrete, other numbers continuous; `dagora
    inspect` shows how a table is understood. Ctrl-C or --time-limit returns the best graph found so far.
    """
    click.get_current_context().with_resource(rehearsing(request.method))
    request.check()
    from dagora.api.learn import learn
    from dagora.base.dask_cluster import connect_cluster
    from dagora.stats.stored.accepting_stored import are_stored

    outputs = (request.output, request.picture, request.report)
    again.check(request.method, outputs, (*data, *minus, *request.graph_files))
    for file in (*data, *minus):
        request.check_overwriting(file)
    timing = in_time.timing
    again.refuse_imputing(
        {"--time": timing, "--covariance": covariance, "--estimate": estimate, ".jkl": any(map(is_jkl, data))}
    )
    if timing is None:
        again.refuse_block()
    asked = in_time.settings({**request.settings, "em_rounds": em_rounds})
    others = {"--dask": dask, "--time": timing, "--interventions": interventions}
    request.refuse_with_target(
        {
            **others,
            "--estimate": estimate,
            "--covariance": covariance,
            "--minus": minus,
            "--impute": again.impute,
            "--bootstrap": again.bootstrap,
        }
    )
    if are_stored(list(data)) or minus:
        own = {**others, "--estimate": estimate or None, "--covariance": covariance or None, "--rows": rows}
        own |= {"--bootstrap": again.bootstrap, "--impute": again.impute}
        check_statistics(reading, own)
        return learn_from_statistics(request, data, minus, asked)
    file = one_data(data)
    if covariance or rows is not None:
        check_covariance(reading, again, covariance, rows, {**others, "--estimate": estimate or None})
        return learn_from_covariance(request, file, cast("int", rows), asked)
    if estimate:
        return say_time(request, reading, file, asked, again, others)
    if dask is not None and again.bootstrap is None:
        check_reading_there(reading, {"--time": timing, "--interventions": interventions})
        return learn_on_cluster(request, reading, file, dask, asked)
    if is_jkl(file):
        again.refuse_scores(file)
        scores = read_scores(file, reading)
        request.check_data(scores.names, None)
        with request.progress(None, file) as on_event:
            result = learn(
                scores,
                on_event=on_event,
                interventions=interventions,
                time=in_time.time,
                series=in_time.series,
                **asked,
            )
        return request.present(result, None, Path(file).name)
    if timing is not None:
        with connect_cluster(dask) as cluster:
            return learn_in_time(request, reading, file, timing, interventions, asked, again, cluster)
    if again.impute is not None:
        again.refuse_imputing({"--interventions": interventions, "-o as a network": request.writes_tables})
        return learn_from_completions(request, reading, file, asked, again, dask)
    with connect_cluster(dask) as cluster:
        return learn_from_rows(request, reading, file, interventions, asked, again, cluster)


def check_statistics(reading: Reading, others: Mapping[str, object]) -> None:
    """Refuse what does not go with files of statistics, which have no rows."""
    from dagora.base.errors import OptionError

    if not reading.says_nothing:
        raise OptionError(
            "files of statistics have no cells to read: leave out the options about columns and cells"
        )
    for option, value in others.items():
        if value is not None:
            raise OptionError(f"{option} does not go with files of statistics, which have no rows")


def learn_from_statistics(
    request: LearnRequest, data: Sequence[str], minus: Sequence[str], asked: dict[str, Any]
) -> None:
    """Learn from files of statistics, which are added, without those of `minus`."""
    from dagora.api.learn import learn
    from dagora.stats.stored.accepting_stored import without

    rows = without(list(data), list(minus) or None)
    request.check_data(rows.schema.names, rows.schema)
    with request.progress(None, data[0]) as on_event:
        result = learn(rows, on_event=on_event, **asked)
    return request.present(result, rows, ", ".join(Path(file).name for file in data))


def check_covariance(
    reading: Reading,
    again: BootstrapRequest,
    covariance: bool,
    rows: int | None,
    others: Mapping[str, object],
) -> None:
    """Refuse what does not go with a covariance matrix."""
    from dagora.base.errors import OptionError

    if not covariance or rows is None:
        raise OptionError("--covariance and --rows N go together: a matrix, and how many rows it comes from")
    if again.bootstrap is not None:
        raise OptionError("--bootstrap draws rows, and a covariance matrix has none: leave it out")
    if not reading.says_nothing:
        raise OptionError(
            "a covariance matrix has no cells to read: leave out the options about columns and cells"
        )
    for option, value in others.items():
        if value is not None:
            raise OptionError(f"--covariance does not go with {option}: leave one of them out")


def learn_from_covariance(request: LearnRequest, data: str, rows: int, asked: dict[str, Any]) -> None:
    """Learn from a covariance matrix."""
    from dagora.api.learn import learn
    from dagora.api.read_covariance import read_covariance

    matrix = read_covariance(data, rows)
    request.check_data(matrix.schema.names, matrix.schema)
    with request.progress(None, data) as on_event:
        result = learn(matrix, on_event=on_event, **asked)
    return request.present(result, matrix, Path(data).name)


def say_time(
    request: LearnRequest,
    reading: Reading,
    data: str,
    asked: dict[str, Any],
    again: BootstrapRequest,
    others: Mapping[str, object],
) -> None:
    """Say about how long it would take to learn."""
    from dagora.api.estimate_time import estimate_time
    from dagora.base.errors import OptionError
    from dagora.base.files import json_text
    from dagora.stats.accepting import statistics_of

    written = {"--output": request.output, "--picture": request.picture, "--report": request.report}
    for option, file in written.items():
        if file is not None:
            raise OptionError(f"--estimate learns nothing: leave {option} out")
    for option, value in others.items():
        if value is not None:
            raise OptionError(f"--estimate does not go with {option}: leave one of them out")
    if is_jkl(data) or reading.scans(data):
        raise OptionError("--estimate needs rows that are read into memory: name one file that holds a table")
    rows = statistics_of(request.read_any(reading, data), request.jobs)
    request.check_data(rows.schema.names, rows.schema)
    asked = {name: value for name, value in asked.items() if name not in {"time_limit", "budget"}}
    found = estimate_time(rows, samples=again.bootstrap or 0, **asked)
    echo(json_text(found.to_dict()) if request.as_json else f"{found}.")


def learn_from_rows(
    request: LearnRequest,
    reading: Reading,
    data: str,
    interventions: str | None,
    asked: dict[str, Any],
    again: BootstrapRequest,
    cluster: object,
) -> None:
    """Learn from rows, and from samples of them where that was asked for, on a cluster if there is one."""
    from dagora.api.learn import learn
    from dagora.data.columns.reading_options import always
    from dagora.learners.source import interventional_statistics, marked_column
    from dagora.stats.accepting import as_statistics, is_folder, statistics_of

    table: ReadTable | ScanStatistics | None
    rows: Statistics
    if reading.given["counts"] is not None and is_folder(data):
        table, rows = None, as_statistics(data, request.jobs, reading.options(why_not_model=always))
    elif reading.scans(data):
        again.refuse_scanned(data)
        table = rows = request.scan(reading, data)
    elif (
        again.bootstrap is None
        and interventions is None
        and request.target is None
        and (large := request.scan_large(reading, data))
    ):
        table = rows = large
    else:
        others = (interventions, request.target, again.bootstrap, request.writes_tables or None)
        table = request.read_any(
            reading,
            data,
            marked_column(interventions),
            target=request.target,
            imputes=all(other is None for other in others),
        )
        rows = statistics_of(table, request.jobs)
    if interventions is not None:
        rows = interventional_statistics(rows, interventions, request.jobs)
    request.check_data(rows.schema.names, rows.schema)
    with request.progress(table, data) as on_event:
        result = learn(rows, on_event=on_event, **again.leaving_time(asked))
        strengths = again.run(rows, on_event, asked, cluster)
    if request.target is not None:
        rows = statistics_of(rows.rows().select(result.graph.nodes), request.jobs)
    return request.present(result, rows, Path(data).name, strengths)


def learn_from_completions(
    request: LearnRequest,
    reading: Reading,
    data: str,
    asked: dict[str, Any],
    again: BootstrapRequest,
    dask: str | None,
) -> None:
    """Learn from completions of a table with missing values; the result is what most of them have."""
    from dagora.api.pooled_result import pooled_result
    from dagora.base.dask_cluster import connect_cluster
    from dagora.base.errors import OptionError
    from dagora.stats.accepting import statistics_of

    if reading.scans(data):
        raise OptionError("--impute completes rows in memory: name one file that holds a table")
    table = request.read_any(reading, data, completes=True)
    rows = statistics_of(table, request.jobs)
    request.check_data(rows.schema.names, rows.schema)
    with (
        connect_cluster(dask) as cluster,
        request.progress(table, data) as on_event,
        rehearsing(request.method),
    ):
        strengths = again.run(rows, on_event, asked, cluster)
    if strengths is not None:
        request.present(pooled_result(strengths), None, Path(data).name, strengths)


def learn_on_cluster(
    request: LearnRequest, reading: Reading, data: str, address: str, asked: dict[str, Any]
) -> None:
    """Learn where the rows are: on the workers of a Dask cluster."""
    from dagora.api.learn import learn
    from dagora.base.dask_cluster import connect_cluster

    with connect_cluster(address):
        rows = rows_there(reading, data, request.jobs)
        request.check_data(rows.schema.names, rows.schema)
        with request.progress(rows, data) as on_event:
            result = learn(rows, on_event=on_event, **asked)
        return request.present(result, rows, Path(data).name)


def learn_in_time(
    request: LearnRequest,
    reading: Reading,
    data: str,
    timing: Timing,
    interventions: str | None,
    asked: dict[str, Any],
    again: BootstrapRequest,
    cluster: object,
) -> None:
    """Learn from series, and from blocks of them where that was asked for; show the graph in time."""
    from dagora.api.learn import learn
    from dagora.base.errors import OptionError
    from dagora.learners.in_windows import LAGS, refuse_series
    from dagora.learners.registry import method_named
    from dagora.learners.source import in_series
    from dagora.stats.accepting import statistics_of

    refuse_series(method_named(request.method))
    if interventions is not None:
        raise OptionError("--interventions does not go with --time: leave one of them out")
    if reading.given["discretise"] is not None:
        raise OptionError("--discretise does not go with --time: leave it out")
    table = request.read_any(reading, data, timing=timing)
    rows = in_series(statistics_of(table, request.jobs), timing, request.jobs)
    request.check_windows(rows.schema.names, asked.get("lags", LAGS))
    with request.progress(table, data) as on_event:
        result = learn(rows, on_event=on_event, **again.leaving_time(asked))
        strengths = again.run(rows, on_event, asked, cluster)
    return request.present(result, rows, Path(data).name, strengths)


def is_jkl(path: str) -> bool:
    """Return True if a file holds scores instead of rows."""
    return path.lower().removesuffix(".gz").endswith(".jkl")


def read_scores(path: str, reading: Reading) -> Candidates:
    """Read scored parent sets; options about columns do not apply to them."""
    from dagora.base.errors import OptionError
    from dagora.learners.candidates.jkl import read_jkl

    if not reading.says_nothing:
        raise OptionError(f"{path} holds scores and no rows: leave out the options about columns and cells")
    return read_jkl(path)
