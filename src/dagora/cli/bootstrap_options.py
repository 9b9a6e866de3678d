"""The options of `dagora learn --bootstrap`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from dagora.cli.gathering import F, gather_options

if TYPE_CHECKING:
    from dagora.base.events import Observer
    from dagora.posterior.resample.strengths import Strengths
    from dagora.stats.statistics import Statistics


@dataclass(frozen=True)
class BootstrapRequest:
    """The number of samples to learn from as well, and how to draw them."""

    bootstrap: int | None
    resample: str
    block: int | None
    checkpoint: str | None
    impute: int | None = None

    def check(self, method: str, outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
        """Refuse what does not go together, before any data are read; the files are those of the command."""
        from dagora.base.errors import OptionError
        from dagora.cli.outputs import check_overwriting, check_target
        from dagora.learners.registry import method_named
        from dagora.posterior.resample.row_draws import check_number, way_for

        if self.impute is not None and self.bootstrap is not None:
            raise OptionError("--impute draws completions and --bootstrap rows: leave one of them out")
        if self.bootstrap is None and self.impute is None:
            for flag, given in (
                ("--resample", self.resample != "auto"),
                ("--block", self.block is not None),
                ("--checkpoint", self.checkpoint),
            ):
                if given:
                    raise OptionError(f"{flag} goes with --bootstrap")
            return
        if self.impute is not None and self.resample != "auto":
            raise OptionError("--resample goes with --bootstrap: --impute takes all rows")
        check_number(self.samples)
        way_for(self.way, method_named(method))
        if self.checkpoint:
            check_target(self.checkpoint)
            check_overwriting((*outputs, self.checkpoint), inputs)

    @property
    def samples(self) -> int | None:
        """The number of samples, of either kind."""
        return self.bootstrap if self.impute is None else self.impute

    @property
    def way(self) -> str:
        """The way in which a sample comes about."""
        return self.resample if self.impute is None else "impute"

    def refuse_imputing(self, others: Mapping[str, object]) -> None:
        """Refuse what does not go with --impute."""
        from dagora.base.errors import OptionError

        for flag, value in others.items():
            if self.impute is not None and value:
                raise OptionError(f"--impute completes rows in memory and does not go with {flag}")

    def refuse_scores(self, path: str) -> None:
        """Refuse a file of scores, which has no rows to draw."""
        from dagora.base.errors import OptionError

        if self.bootstrap is not None:
            raise OptionError(f"{path} holds scores and no rows: leave --bootstrap out, or name a table")

    def refuse_scanned(self, source: str) -> None:
        """Refuse rows that are not in memory, which cannot be drawn again and again."""
        from dagora.base.errors import OptionError

        if self.bootstrap is not None:
            raise OptionError(
                f"--bootstrap draws from rows in memory, and {source} is scanned: leave it out, or take a "
                "sample (--sample 100000)"
            )

    def refuse_block(self) -> None:
        """Refuse a length of blocks where rows do not follow each other."""
        from dagora.base.errors import OptionError

        if self.block is not None:
            raise OptionError("--block goes with --time, which says when a row was")

    def leaving_time(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `learn` on all rows: with a time limit, some time is left for the samples."""
        if self.bootstrap is None:
            return dict(asked)
        from dagora.posterior.resample.run_samples import before_samples

        return {**asked, "budget": before_samples(asked["budget"])}

    def run(
        self, rows: Statistics, on_event: Observer, asked: Mapping[str, Any], cluster: object
    ) -> Strengths | None:
        """The strengths, where they were asked for; on a cluster, where there is one."""
        if self.samples is None:
            return None
        from dagora.api.bootstrap import bootstrap

        return bootstrap(
            rows,
            samples=self.samples,
            resample=self.way,
            block=self.block,
            checkpoint=self.checkpoint,
            on_event=on_event,
            dask=cluster,
            **asked,
        )


def bootstrap_options(command: F) -> F:
    """Add the options to a command, which gets them as one argument `again`."""
    options = (
        click.option(
            "--bootstrap",
            type=click.IntRange(2),
            metavar="N",
            help="Learn from N samples of the rows too; show how often each edge is found.",
        ),
        click.option(
            "--resample",
            type=click.Choice(["auto", "rows", "halves", "half-rows"]),
            default="auto",
            show_default="halves for methods that test, else rows",
            help="Samples: as many rows with replacement, half of them without, or half as many with.",
        ),
        click.option(
            "--block",
            type=click.IntRange(1),
            metavar="STEPS",
            help="With --time, samples are blocks of so many steps.  [default: from the number of steps]",
        ),
        click.option(
            "--checkpoint",
            metavar="FILE",
            help="File that keeps the samples of --bootstrap; the same command goes on from it.",
        ),
        click.option(
            "--impute",
            type=click.IntRange(2),
            metavar="N",
            help="Where cells are missing: draw them N times, learn from each completed table by any method, "
            "and show the edges that most of them have.",
        ),
    )
    return gather_options(command, BootstrapRequest, "again", options)
