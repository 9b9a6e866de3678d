"""The request of a command that learns: what was asked for, checked, shown and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from dagora.base.files import json_text
from dagora.cli.command_line import command_line
from dagora.cli.common_request import CommonRequest
from dagora.cli.data_options import TimeRequest
from dagora.cli.terminal import echo
from dagora.cli.truth_checks import check_kind_of_truth, check_truth
from dagora.cli.written_options import parse_options
from dagora.network.table_prior import ONE_ROW, PseudoCount

if TYPE_CHECKING:
    from dagora.data.schema import Schema
    from dagora.graph.any_graph import AnyGraph
    from dagora.learners.method import Method
    from dagora.learners.result import Result
    from dagora.posterior.resample.strengths import Strengths
    from dagora.stats.statistics import Statistics


@dataclass(frozen=True)
class LearnRequest(CommonRequest):
    """The options of learning and of its output."""

    pseudocount: PseudoCount = ONE_ROW
    start: str | None = None
    target: str | None = None

    def with_method(self, schema: Schema, *, noisy: bool = False) -> LearnRequest:
        """The same request with a method: the default over sites where none was asked for."""
        from dagora.parties.horizontal.methods_over_sites import default_over_sites

        if self.method:
            return self
        return replace(self, method=default_over_sites(schema, noisy=noisy, scored=self.score is not None))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Arguments of `learn`; names and values are checked."""
        from dagora.graph.knowledge_files import as_knowledge
        from dagora.learners.checks import named_score
        from dagora.learners.registry import method_named

        method = method_named(self.method)
        if self.score is not None:
            named_score(method, self.score)
        return {
            "method": method.name,
            "score": self.score,
            "knowledge": as_knowledge(self.knowledge, self.max_parents),
            "seed": self.seed,
            "time_limit": self.time_limit,
            "jobs": self.jobs,
            "budget": self.budget_to_learn,
            **self._truth_for(method),
            **self._lags_for(method),
            **self._start_for(method),
            **({} if self.target is None else {"target": self.target}),
            **parse_options(self.method, self.score, self._written_for(method)),
        }

    @property
    def graph_files(self) -> tuple[str | None, ...]:
        """The files that are read besides the data, the graph to start from among them."""
        written = dict(pair.split("=", 1) for pair in self.options if "=" in pair)
        return *super().graph_files, self.start, written.get("start")

    @property
    def _method_and_settings(self) -> tuple[Method | None, Mapping[str, Any] | None]:
        """The method and its settings, once a method is chosen."""
        from dagora.learners.registry import method_named

        return (method_named(self.method), self.settings) if self.method else (None, None)

    def _written_for(self, method: Method) -> tuple[str, ...]:
        """The options as written, without the number of lags where the method has no such option."""
        own = method.in_time
        return tuple(pair for pair in self.options if own or pair.partition("=")[0] != "lags")

    def _lags_for(self, method: Method) -> dict[str, int]:
        """The number of lags of windows, where a method for rows was given one as an option."""
        from dagora.base.errors import OptionError

        written = [pair.partition("=")[2] for pair in self.options if pair.partition("=")[0] == "lags"]
        if method.in_time or not written:
            return {}
        if not written[-1].isdecimal():
            raise OptionError(option="lags", value=written[-1], must="be a whole number from 1 to 100")
        return {"lags": int(written[-1])}

    def _start_for(self, method: Method) -> dict[str, AnyGraph]:
        """The graph to start from as an argument; refused by a method that takes none."""
        from dagora.base.errors import OptionError
        from dagora.formats.registry import read_graph
        from dagora.learners.registry import METHODS

        if self.start is None:
            return {}
        takers = [each.name for each in METHODS if any(option.name == "start" for option in each.options)]
        if method.name not in takers:
            raise OptionError(
                f"the method {method.name} starts from no graph: leave --start out, or choose "
                f"{', '.join(takers[:-1])} or {takers[-1]}"
            )
        if any(pair.partition("=")[0] == "start" for pair in self.options):
            raise OptionError("the graph to start from is given twice: leave --option start or --start out")
        return {"start": read_graph(self.start)}

    def _truth_for(self, method: Method) -> dict[str, AnyGraph]:
        """The truth as an argument, for a method that takes it."""
        takes_truth = any(option.name == "truth" for option in method.options)
        return {"truth": self.known_truth} if takes_truth and self.known_truth is not None else {}

    def check(self) -> None:
        """Refuse invalid options and files before any data are read."""
        from dagora.formats.registry import find_format

        _ = self.settings
        if self.output and find_format(self.output).needs_tables:
            check_directed(self.output, self.settings["method"])
            self.refuse_with_target({f"-o {self.output}": True})
        self.refuse_with_target({"--truth": self.truth})
        self.check_pages()
        if self.known_truth is not None:
            check_kind_of_truth(self.truth or "", self.known_truth, self.settings["method"])

    def refuse_with_target(self, others: Mapping[str, object]) -> None:
        """Refuse what does not go with looking at one variable alone."""
        from dagora.base.errors import OptionError

        for said, value in others.items() if self.target is not None else ():
            if value:
                raise OptionError(f"{said} does not go with --target: leave one of them out")

    def check_data(self, names: tuple[str, ...], schema: Schema | None) -> None:
        """Refuse a truth or a file that does not fit the data; a file of scores has no schema."""
        from dagora.cli.outputs import check_output

        pag = self.learns_pag
        if self.output:
            check_output(self.output, names, schema, pag=pag)
        if self.known_truth is not None:
            check_truth(self.truth or "", self.known_truth, names, hidden=pag)

    def in_time(self, said: TimeRequest) -> LearnRequest:
        """The same request with the number of lags among its options, where it was given."""
        said.settings(self.settings)  # refuses a number that is given twice
        more = () if said.lags is None else (f"lags={said.lags}",)
        return replace(self, options=(*self.options, *more))

    def check_windows(self, variables: tuple[str, ...], lags: int | str) -> None:
        """The same for a graph in time, whose nodes are variables at several steps.

        Where the number of lags is yet to be chosen, a truth is compared with what comes out.
        """
        from dagora.base.errors import FormatError
        from dagora.data.schema import Kind, Schema, Variable
        from dagora.formats.registry import find_format
        from dagora.graph.lagged_graph import window_names

        if self.output and find_format(self.output).name == "BIF":
            raise FormatError(
                f"{self.output}: BIF holds networks of discrete columns only, with parameters, and a graph "
                "in time has none; write it as .json"
            )
        if isinstance(lags, str):
            return
        names = window_names(variables, lags)
        self.check_data(names, Schema(Variable(name, Kind.CONTINUOUS) for name in names))

    @property
    def writes_tables(self) -> bool:
        """True if the output is a file of probability tables and nothing else."""
        from dagora.formats.registry import find_format

        return bool(self.output) and find_format(self.output or "").needs_tables

    @property
    def learns_pag(self) -> bool:
        """True if the method allows for hidden causes, so that a truth may have more variables."""
        from dagora.learners.registry import method_named

        return method_named(self.settings["method"]).returns == "pag"

    def present(
        self,
        result: Result,
        statistics: Statistics | None,
        source: str | None = None,
        strengths: Strengths | None = None,
    ) -> None:
        """Warn, compare with the truth, write files and print; exit with code 1 where there is no graph."""
        from dagora.api.fitted_parameters import fit_parameters
        from dagora.cli.outputs import show_result, write_picture, write_result, write_result_report
        from dagora.cli.posterior_outputs import show_strengths, strengths_content
        from dagora.cli.writing import Files
        from dagora.graph.any_graph import number_of_edges
        from dagora.graph.compare import compare
        from dagora.graph.drawing import too_slow_to_draw
        from dagora.graph.interventions import shown_by_interventions

        result = replace(result, command=command_line())
        self.warn(untold(result.warnings, statistics))
        if strengths is not None:
            self.warn([line for line in strengths.warnings if line not in result.warnings])
        if result.status == "failed":
            self.give_up(result.to_dict())
        truth = self.known_truth
        comparison = None if truth is None else compare(result.graph, truth, result.dropped)
        files, time = Files(), self.budget_to_write()
        more = strengths_content(strengths)
        fitted = cache(partial(fit_parameters, result, statistics, self.pseudocount, time))
        files.write(
            self.output, lambda path: write_result(result, statistics, path, more, self.pseudocount, fitted)
        )
        if self.picture and too_slow_to_draw(result.graph, time.left):
            edges = number_of_edges(result.graph)
            files.notes.append(
                f"{self.picture} was not drawn, as time was up: {edges:,} edges take seconds; dagora convert "
                "draws a graph that was written"
            )
        else:
            files.write(
                self.picture,
                lambda path: write_picture(
                    result.shown_graph if truth is None else result.graph,
                    path,
                    truth=truth,
                    weights=result.weights,
                    title=caption(result),
                    shown=shown_by_interventions(result.graph, result.interventions),
                ),
            )
        files.write(
            self.report,
            lambda path: write_result_report(
                result,
                path,
                statistics=statistics,
                truth=truth,
                source=source,
                strengths=strengths,
                fitted=fitted,
                budget=time,
            ),
        )
        self.warn(files.notes, "note")
        if self.as_json:
            content = {**result.to_dict(), **strengths_content(strengths, self.plain_truth)}
            if comparison is not None:
                content["comparison"] = comparison.to_dict()
            echo(json_text(content))
        else:
            show_result(result, comparison, files.written)
            if strengths is not None:
                show_strengths(strengths, result.plain_graph, self.plain_truth)
        files.end()

    def plan_settings(self) -> dict[str, Any]:
        """The options besides the method, for the plan that the sites see."""
        said = {"score": self.score, "max_parents": self.max_parents, "options": list(self.options) or None}
        return {name: value for name, value in said.items() if value is not None}

    def arguments(self) -> list[str]:
        """The command-line arguments that make the same request."""
        line = ["--method", self.method, "--seed", str(self.seed), "--jobs", str(self.jobs)]
        for flag, value in (
            ("--score", self.score),
            ("--max-parents", self.max_parents),
            ("--knowledge", self.knowledge),
            ("--truth", self.truth),
            ("--time-limit", self.time_limit),
            ("--output", self.output),
            ("--picture", self.picture),
            ("--report", self.report),
            ("--pseudocount", self.pseudocount if self.pseudocount != ONE_ROW else None),
            ("--start", self.start),
        ):
            line += [] if value is None else [flag, str(value)]
        for option in self.options:
            line += ["--option", option]
        return line + ["--json"] * self.as_json + ["--quiet"] * self.quiet


def untold(warnings: Sequence[str], statistics: Statistics | None) -> list[str]:
    """Warnings that were not given yet, when the table was read."""
    from dagora.stats.capabilities import capabilities_of

    overview = capabilities_of(statistics).overview
    return [line for line in warnings if overview is None or line not in overview.warnings]


def check_directed(path: str, method: str) -> None:
    """Refuse to write parameters of what a method returns, where that is a class of graphs."""
    from dagora.base.errors import FormatError
    from dagora.formats.registry import find_format
    from dagora.learners.registry import method_named

    returns = method_named(method).returns
    if returns != "dag":
        raise FormatError(
            f"{path}: {find_format(path).name} needs parameters, which the {returns.upper()} that {method} "
            "returns cannot have; write .json"
        )


def caption(result: Result) -> str:
    """Title of the picture."""
    score = "" if result.score is None else f", {result.score_name or 'score'} {result.score:.2f}"
    return f"{result.method}{score}"
