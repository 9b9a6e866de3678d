"""`dagora sample`: networks from their posterior, given a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dagora.commands.data_options import Reading, data_options
from dagora.commands.gathering import F, gathered
from dagora.commands.learn_options import CIRCUMSTANCES, REPORTING, Circumstances, check_truth, parse_pairs

if TYPE_CHECKING:
    from dagora.posterior.summary.posterior import Posterior

EXAMPLES = """\b
Examples:
  dagora sample patients.csv
  dagora sample patients.csv --method exact --score bdeu --option ess=10 --json
  dagora sample sensors.parquet --method order --draws 5000 --jobs 4 -o posterior.json --report posterior.html
  dagora sample cells.csv --score gp --reweight qmc --prior sparse --truth known.json
  dagora sample survey.csv --knowledge known.json --time-limit 600 --checkpoint survey.npz
"""


@dataclass(frozen=True)
class SampleRequest(Circumstances):
    """What is to be sampled, under which circumstances, and where it goes."""

    method: str
    score: str | None
    draws: int
    chains: int
    prior: str | None
    reweight: str | None
    checkpoint: str | None
    options: tuple[str, ...]
    max_parents: int | None
    knowledge: str | None
    truth: str | None
    seed: int
    time_limit: float | None
    jobs: int
    output: str | None
    picture: str | None
    report: str | None
    as_json: bool
    quiet: bool

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Arguments of `sample`; a name or value that cannot be is refused."""
        from dagora.samplers import sampler_named
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
            **parse_pairs(tuple(written), known, owner),
        }

    def check(self) -> None:
        """Refuse what can be refused before any data are read."""
        from dagora.commands.outputs import check_target
        from dagora.errors import FormatError
        from dagora.formats.registry import find_format

        _ = self.settings
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
        _ = self.known_truth

    def present(self, posterior: Posterior, source: str) -> None:
        """Warn, compare, write and print; a posterior without draws exits with code 1."""
        from dagora.commands.posterior_outputs import (
            expectations,
            show_posterior,
            write_posterior,
            write_probabilities,
        )
        from dagora.graph.metrics import compare
        from dagora.report import write_report

        if not self.quiet:
            for warning in posterior.warnings:
                click.echo(f"dagora: warning: {warning}", err=True)
        if not posterior.draws.log_scores.size:
            if self.as_json:
                click.echo(json.dumps(posterior.to_dict(draws=False), ensure_ascii=False, allow_nan=False))
            click.echo(f"dagora: {posterior.method} failed: {posterior.message}", err=True)
            raise click.exceptions.Exit(1)
        truth = self.known_truth
        if self.output:
            write_posterior(posterior, self.output)
        if self.picture:
            write_probabilities(posterior, self.picture, truth=truth)
        if self.report:
            write_report(posterior, self.report, truth=truth, source=source)
        if self.as_json:
            content = posterior.to_dict(draws=False)
            if truth is not None:
                content["comparison"] = compare(posterior.consensus(), truth).to_dict()
                content["expected"] = expectations(posterior, truth)
            click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
        else:
            written = [path for path in (self.output, self.picture, self.report) if path]
            show_posterior(posterior, truth, written)


def sample_options(command: F) -> F:
    """Add the options to a command, which gets them as one argument `request`."""
    options = (
        click.option(
            "-m", "--method", default="partition", show_default=True, help="partition, order or exact."
        ),
        click.option(
            "-s", "--score", help="Log marginal likelihood; without it, bge or bdeu by the columns."
        ),
        click.option(
            "--draws", type=click.IntRange(1), default=1000, show_default=True, help="Kept per chain."
        ),
        click.option(
            "--chains", type=click.IntRange(1), default=4, show_default=True, help="Independent chains."
        ),
        click.option("--prior", metavar="NAME", help="Prior of graphs: uniform, fair, sparse or gpn."),
        click.option(
            "--reweight", metavar="qmc|bridge", help="Draw under a Laplace score, weigh by this estimator."
        ),
        click.option(
            "--checkpoint", metavar="FILE", help="Where a run is kept that may be stopped and go on."
        ),
        *CIRCUMSTANCES,
        click.option("-o", "--output", metavar="P.json", help="Write the posterior with all its draws."),
        click.option("--picture", metavar="FILE.svg", help="Draw the edge probabilities as a heat map."),
        click.option("--report", metavar="R.html", help="Write one page with all of it, for the browser."),
        *REPORTING,
    )
    return gathered(command, SampleRequest, "request", options)


@click.command("sample", short_help="Sample networks from their posterior given a table.", epilog=EXAMPLES)
@click.argument("data")
@sample_options
@data_options
def command(*, data: str, request: SampleRequest, reading: Reading) -> None:
    """Sample networks from their posterior given DATA (.csv .tsv .parquet .feather, text also .gz).

    Shows how probable each edge is, and whether the chains have mixed. Ctrl-C or --time-limit returns the
    draws made so far; before all parent sets are scored, Ctrl-C leaves nothing but the --checkpoint.
    """
    from dagora.commands.learn import is_jkl
    from dagora.commands.progress import progress
    from dagora.errors import OptionError
    from dagora.files import naming
    from dagora.sampling import check_rows, sample

    request.check()
    if is_jkl(data):
        raise OptionError(f"{data} holds scores of some parent sets only: sample from a table")
    table = reading.table(data)
    with naming(data):
        check_rows(table.n_rows)
    if request.known_truth is not None:
        check_truth(request.truth or "", request.known_truth, table.names)
    with progress(request.budget, quiet=request.quiet) as on_event:
        posterior = sample(table, on_event=on_event, **request.settings)
    request.present(posterior, Path(data).name)
