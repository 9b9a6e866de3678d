"""`dagora sample`: networks from their posterior, given a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.base.files import json_text
from dagora.cli import completing
from dagora.cli.cluster_options import dask_option
from dagora.cli.command_line import command_line
from dagora.cli.common_request import CommonRequest
from dagora.cli.data_options import INTERVENTIONS, Reading, TimeRequest, data_options, time_options
from dagora.cli.gathering import F, gather_options
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import COMMON_OPTIONS, PRINTING, REPORT
from dagora.cli.learn_request import untold
from dagora.cli.terminal import echo
from dagora.cli.truth_checks import check_truth
from dagora.cli.written_options import parse_pairs

if TYPE_CHECKING:
    from dagora.data.made_tables import ReadTable
    from dagora.posterior.summary.posterior import Posterior
    from dagora.stats.statistics import Statistics

EXAMPLES = """\b
Examples:
  dagora sample patients.csv
  dagora sample patients.csv --method exact --score bdeu --option ess=10 --json
  dagora sample sensors.parquet --method order --draws 5000 --jobs 4 --report posterior.html
  dagora sample cells.csv --score gp --reweight qmc --prior sparse --truth known.json
  dagora sample survey.csv --weights w
  dagora sample survey.csv --knowledge known.json --time-limit 600 --checkpoint survey.npz
  dagora sample survey.csv --method order --impute 20
  dagora sample plant.csv --time hour --series reactor --lags 2
"""


@dataclass(frozen=True)
class SampleRequest(CommonRequest):
    """The options of sampling and of its output."""

    draws: int | None
    chains: int | None
    prior: str | None
    reweight: str | None
    checkpoint: str | None
    dask: str | None
    impute: int | None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Arguments of `sample`; names and values are checked."""
        from dagora.posterior.registry import sampler_named
        from dagora.scores.registry import SCORES, score_named

        sampler = sampler_named(self.method)
        entries = [score_named(self.score)] if self.score else list(SCORES)
        known = [*(option for entry in entries for option in entry.options), *sampler.options]
        written = list(self.options)
        for name, value in (("prior", self.prior), ("checkpoint", self.checkpoint)):
            written += [] if value is None else [f"{name}={value}"]
        owner = f"the sampler {sampler.name} or its score"
        return {
            "method": sampler.name,
            "score": self.score,
            "draws": self.draws,
            "chains": self.chains,
            "knowledge": self.knowledge,
            "max_parents": self.max_parents,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "jobs": self.jobs,
            "budget": self.budget,
            "reweight": self.reweight,
            "dask": self.dask,
            **({} if self.impute is None else {"impute": self.impute}),
            **parse_pairs(tuple(written), known, owner),
        }

    def check(self) -> None:
        """Refuse invalid options and files before any data are read."""
        from dagora.base.dask_cluster import check_cluster
        from dagora.base.errors import FormatError
        from dagora.cli.outputs import check_target
        from dagora.formats.registry import find_format
        from dagora.graph.any_graph import without_pag
        from dagora.posterior.checks import check_on_cluster
        from dagora.posterior.registry import sampler_named

        _ = self.settings
        if self.dask is not None:
            check_on_cluster(sampler_named(self.method))
            check_cluster(self.dask)
        if self.output:
            if find_format(self.output).name != "JSON":
                raise FormatError(
                    f"{self.output}: a posterior is written as .json; `dagora convert` makes other formats "
                    "of its consensus graph"
                )
            check_target(self.output)
        self.check_pages()
        if self.settings.get("checkpoint"):
            check_target(self.settings["checkpoint"])
        if self.known_truth is not None:
            without_pag(self.known_truth, f"{self.truth}: a comparison with draws")

    def present(self, posterior: Posterior, rows: Statistics, source: str) -> None:
        """Warn, compare with the truth, write files and print; exit with code 1 where there are no draws."""
        from dagora.api.fitted_parameters import own_table
        from dagora.cli.posterior_outputs import (
            expectations,
            show_posterior,
            write_posterior,
            write_probabilities,
        )
        from dagora.cli.writing import Files
        from dagora.graph.metrics import compare
        from dagora.report import write_report

        posterior = replace(posterior, command=command_line())
        self.warn(untold(posterior.warnings, rows))
        if not posterior.draws.log_scores.size:
            self.give_up(posterior.to_dict(draws=False))
        truth = self.plain_truth
        files = Files()
        files.write(self.output, lambda path: write_posterior(posterior, path))
        files.write(self.picture, lambda path: write_probabilities(posterior, path, truth=truth))
        table = own_table(rows)
        files.write(
            self.report, lambda path: write_report(posterior, path, truth=truth, source=source, table=table)
        )
        if self.as_json:
            content = posterior.to_dict(draws=False)
            if truth is not None:
                content["comparison"] = compare(posterior.consensus(), truth).to_dict()
                content["expected"] = expectations(posterior, truth)
            echo(json_text(content))
        else:
            show_posterior(posterior, truth, files.written)
        files.end()


def sample_options(command: F) -> F:
    """Add the options to a command, which gets them as one argument `request`."""
    options = (
        click.option(
            "-m",
            "--method",
            default="partition",
            show_default=True,
            shell_complete=completing.samplers,
            help="Sampler: partition, order or exact.",
        ),
        click.option(
            "-s",
            "--score",
            shell_complete=completing.scores,
            help="Log marginal likelihood; default: bdeu for discrete columns, bge for others.",
        ),
        click.option(
            "--draws",
            type=click.IntRange(1),
            help="Graphs kept per chain.  [default: 1000; dibs: 30, dibs-neural: 10]",
        ),
        click.option(
            "--chains", type=click.IntRange(1), help="Independent chains.  [default: 4; dibs, dibs-neural: 1]"
        ),
        click.option("--prior", metavar="NAME", help="Prior over graphs: uniform, fair, sparse or gpn."),
        click.option(
            "--reweight",
            metavar="qmc|bridge",
            help="Draw by the Laplace score, then weight the draws by this estimator.",
        ),
        click.option(
            "--checkpoint",
            metavar="FILE",
            help="File that keeps the state of the run; the same command goes on from it.",
        ),
        *COMMON_OPTIONS,
        dask_option("Run the chains", "."),
        click.option(
            "--impute",
            type=click.IntRange(2),
            metavar="N",
            help="Where cells are missing: draw them N times, and pool the draws given each completed table.",
        ),
        click.option("-o", "--output", metavar="P.json", help="Write the posterior with all its draws."),
        click.option("--picture", metavar="FILE.svg", help="Draw the edge probabilities as a heat map."),
        REPORT,
        *PRINTING,
    )
    return gather_options(command, SampleRequest, "request", options)


@click.command(
    "sample",
    cls=PagedCommand,
    short_help="Sample networks from their posterior given a table.",
    epilog=EXAMPLES,
)
@click.argument("data", shell_complete=completing.files)
@INTERVENTIONS
@sample_options
@time_options
@data_options
def command(
    *, data: str, interventions: str | None, request: SampleRequest, in_time: TimeRequest, reading: Reading
) -> None:
    """Sample networks from their posterior given DATA (.csv .tsv .parquet .feather .xlsx .dta .sav .rds).

    Shows how probable each edge is, and whether the chains have converged. Ctrl-C or --time-limit returns
    the draws made so far. Ctrl-C before all parent sets are scored returns no draws; --checkpoint keeps the
    scores.
    """
    from dagora.api.sample import sample
    from dagora.base.errors import OptionError
    from dagora.base.files import naming
    from dagora.cli.learn import is_jkl
    from dagora.graph.lagged_graph import window_names
    from dagora.learners.in_windows import check_lags
    from dagora.learners.source import marked_column, read_rows
    from dagora.posterior.checks import check_rows
    from dagora.stats.accepting import statistics_of
    from dagora.stats.stored.statistics_file import is_statistics_file, read_statistics

    request.check()
    request.check_overwriting(data)
    if is_jkl(data):
        raise OptionError(f"{data} holds scores of some parent sets only: sample from a table")
    table: ReadTable | None = None
    rows: Statistics
    timing, asked = in_time.timing, in_time.settings(request.settings)
    if is_statistics_file(data):
        if timing is not None or not reading.is_default("error") or interventions is not None:
            raise OptionError("statistics have no cells: leave out the options about columns and cells")
        if request.impute is not None:
            raise OptionError("statistics have no cells: leave --impute out")
        rows = read_statistics(Path(data))
    elif request.impute is not None:
        for flag, value in (("--interventions", interventions), ("--time", timing)):
            if value is not None:
                raise OptionError(f"--impute does not go with {flag}: leave one of them out")
        modelling = replace(reading, given={**reading.given, "missing": "model"})
        table = request.read_any(modelling, data, completes=True)
        with naming(data):
            check_rows(table.n_rows)
        rows = statistics_of(table, request.jobs)
    else:
        table = request.read_any(
            reading,
            data,
            marked_column(interventions),
            model=False,
            timing=timing,
            imputes=interventions is None and timing is None and request.reweight is None,
        )
        with naming(data):
            check_rows(table.n_rows)
        rows = read_rows(table, request.jobs, interventions=interventions, timing=timing)
    if request.known_truth is not None:
        names = rows.schema.names
        nodes = names if timing is None else window_names(names, check_lags(asked.get("lags")))
        check_truth(request.truth or "", request.known_truth, nodes)
    with request.progress(table, data) as on_event:
        posterior = sample(rows, on_event=on_event, **asked)
    request.present(posterior, rows, Path(data).name)
