"""The parts that requests of commands for learning and for sampling share: options, time, reading, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from math import isinf
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dagora.base.files import json_text
from dagora.cli.data_options import Reading, overview_first, show_warnings
from dagora.cli.terminal import echo
from dagora.cli.written_options import parse_options

if TYPE_CHECKING:
    from dagora.base.budget import Budget
    from dagora.base.events import Observer
    from dagora.data.made_tables import ReadTable
    from dagora.data.series import Timing
    from dagora.data.table import Table
    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph
    from dagora.learners.method import Method
    from dagora.stats.scan.scan_statistics import ScanStatistics


@dataclass(frozen=True)
class CommonRequest:
    """The common options of learning and sampling."""

    method: str
    score: str | None
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

    @property
    def budget_to_learn(self) -> Budget:
        """The time limit but for what files take: a fifth of it, two seconds at most."""
        if self.time_limit is None or not (self.report or self.picture or self.output):
            return self.budget
        return self.budget.but_for(self.least_seconds)

    @property
    def least_seconds(self) -> float:
        """The seconds for writing files, also where time is up."""
        from dagora.cli.outputs import LEAST_SECONDS

        return LEAST_SECONDS if self.time_limit is None else min(LEAST_SECONDS, self.time_limit / 5)

    def budget_to_write(self) -> Budget:
        """The time that the limit leaves for files; after Ctrl-C the least; without a limit any time."""
        from dagora.base.budget import Budget

        left = self.budget.left
        return Budget(None if isinf(left) else max(left, self.least_seconds))

    @cached_property
    def budget(self) -> Budget:
        """The time limit; the clock starts when this is first asked for."""
        from dagora.base.budget import Budget
        from dagora.learners.checks import check_circumstances

        return Budget(check_circumstances(self.seed, self.time_limit, self.jobs))

    @cached_property
    def known_truth(self) -> AnyGraph | None:
        """The true graph to compare with, if one was named."""
        from dagora.formats.registry import read_graph

        return read_graph(self.truth) if self.truth else None

    @property
    def plain_truth(self) -> Graph | None:
        """The truth, where it is no PAG."""
        from dagora.graph.ancestral.pag import PAG

        return None if isinstance(self.known_truth, PAG) else self.known_truth

    def read(
        self,
        reading: Reading,
        data: str,
        marks: str | None = None,
        *,
        constants: bool = False,
        trends: bool = True,
        timing: Timing | None = None,
    ) -> Table:
        """Read the table; columns that truth or knowledge name are kept, and levels that a truth has."""
        from dagora.data.table import require_table

        read = self.read_any(
            reading, data, marks, model=False, constants=constants, trends=trends, timing=timing
        )
        return require_table(read)

    def read_any(
        self,
        reading: Reading,
        data: str,
        marks: str | None = None,
        *,
        model: bool = True,
        constants: bool = False,
        trends: bool = True,
        timing: Timing | None = None,
        completes: bool = False,
        imputes: bool = False,
        target: str | None = None,
    ) -> ReadTable:
        """Read a table that may have holes, if method and score can `model` them.

        `marks` is the column that says which variables were set; with it, holes are refused.
        `constants` says whether numbers that never change are kept, `trends` whether few whole numbers may be
        ordered. `timing` names the columns of time and
        series, which are kept too. `completes` says that missing values will be drawn, `imputes` that they
        could be. `target` is the one column to learn about: then any number of columns will do.
        """
        from dagora.data.columns.reading_options import always, around_one, welcome
        from dagora.formats.registry import find_format, read_network
        from dagora.graph.knowledge_files import as_knowledge
        from dagora.learners.checks import numbers_for, orders_numbers, reason_against_model
        from dagora.network.networks import DiscreteNetwork

        is_network = self.truth is not None and find_format(self.truth).needs_tables
        network = read_network(self.truth) if self.truth and is_network else None
        levels = network.levels if isinstance(network, DiscreteNetwork) else {}
        wanted = (*self.known_truth.nodes,) if self.known_truth is not None else ()
        known = as_knowledge(self.knowledge, None).mentioned
        method, asked = self._method_and_settings
        return reading.any_table(
            data,
            seed=self.seed,
            wanted=(*wanted, *known, *filter(None, [target]), *(timing.columns if timing else ())),
            numbers=(timing.time,) if timing else (),
            in_time=timing.columns if timing else (),
            levels=levels,
            numbers_for=numbers_for(method, self.score, asked),
            trends=trends and orders_numbers(self.score, asked),
            marks=marks,
            clock=self.budget,
            check_width=around_one
            if target is not None
            else method.check_width
            if method is not None
            else welcome,
            why_not_model=always
            if completes
            else partial(reason_against_model, method, self.score, marked=marks is not None)
            if model and method
            else None,
            imputes=imputes,
            constants=constants,
        )

    @property
    def _method_and_settings(self) -> tuple[Method | None, Mapping[str, Any] | None]:
        """The method that the table is read for, and its settings, where they decide how it is read."""
        return None, None

    def scan(self, reading: Reading, data: str) -> ScanStatistics:
        """Open rows that stay where they are; columns that truth or knowledge name are kept."""
        from dagora.data.columns.reading_options import always
        from dagora.graph.knowledge_files import as_knowledge

        wanted = (*self.known_truth.nodes,) if self.known_truth is not None else ()
        known = as_knowledge(self.knowledge, None).mentioned
        return reading.open_scan(
            data, self.jobs, wanted=(*wanted, *known), why_not_model=always, clock=self.budget
        )

    def scan_large(self, reading: Reading, data: str) -> ScanStatistics | None:
        """Open the rows of a file that is too large for memory; None where it is read as ever."""
        from dagora.data.columns.reading_options import always
        from dagora.graph.knowledge_files import as_knowledge
        from dagora.learners.checks import numbers_for
        from dagora.learners.registry import method_named

        method = method_named(self.method)
        known = as_knowledge(self.knowledge, None).mentioned
        asked = parse_options(self.method, self.score, self.options)
        return reading.scan_large(
            data,
            self.jobs,
            method,
            self.score,
            asked,
            wanted=(*(self.known_truth.nodes if self.known_truth is not None else ()), *known),
            numbers_for=numbers_for(method, self.score, asked),
            why_not_model=always,
            clock=self.budget,
        )

    @property
    def graph_files(self) -> tuple[str | None, ...]:
        """The files that are read besides the data."""
        return self.knowledge, self.truth

    def check_overwriting(self, data: str) -> None:
        """Refuse to write over what is read."""
        from dagora.cli.outputs import check_overwriting

        check_overwriting((self.output, self.picture, self.report), (data, *self.graph_files))

    def check_pages(self) -> None:
        """Refuse a picture or a report that cannot be written."""
        from dagora.cli.outputs import check_picture, check_report

        if self.picture:
            check_picture(self.picture)
        if self.report:
            check_report(self.report)

    @contextmanager
    def progress(self, table: ReadTable | ScanStatistics | None = None, path: str = "") -> Iterator[Observer]:
        """Progress on standard error, and before it how a table was understood; Ctrl-C ends the search."""
        from dagora.cli.progress import progress

        with (
            progress(self.budget) as on_event,
            overview_first(table, path, on_event, brief=self.as_json) as observe,
        ):
            yield observe

    def warn(self, warnings: Sequence[str], kind: str = "warning") -> None:
        """Print warnings or notes, unless quiet."""
        if not self.quiet:
            show_warnings(warnings, kind)

    def give_up(self, content: Mapping[str, Any]) -> NoReturn:
        """Say that the method found nothing, write no file, and exit with code 1."""
        if self.as_json:
            echo(json_text(content))
        echo(f"dagora: {content['method']} failed: {content['message']}", err=True)
        raise click.exceptions.Exit(1)
