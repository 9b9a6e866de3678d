"""Results of a session, and what the page shows of them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from dagora.base.errors import OptionError, QueryError
from dagora.explore.asking import ExploreRequest
from dagora.explore.open_table import Data
from dagora.formats.json_format import parse, reason_without_parameters
from dagora.graph.any_graph import number_of_edges
from dagora.graph.compare import compare
from dagora.graph.drawing import draw_svg
from dagora.graph.side_by_side import draw_pair
from dagora.learners.result import Result
from dagora.network.inference.answer import Answer
from dagora.network.inference.question import make_question
from dagora.network.inference.settings import check_settings
from dagora.network.inference.sharing import ask_all
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network
from dagora.report.compared import NOTE
from dagora.report.learned import CAUTION, comparison_table, edge_section, in_words, trace_section

MOST_ASKED = 60  # variables whose distributions are shown together
SAMPLES = 20_000  # where sampling answers: a standard error of at most 0.0035; more would delay the page


class KeptResult:
    """A result with its number, its data and what was asked for; `text` is the file of `dagora learn -o`.

    `strengths` are titles and contents of what the report says of samples, where there were any. `effects`
    says which variables can be asked about effects, with their levels, or `why_not`.
    """

    def __init__(
        self,
        number: int,
        data: Data,
        asked: ExploreRequest,
        text: str,
        strengths: Sequence[Sequence[str]] = (),
        effects: Mapping[str, Any] | None = None,
    ) -> None:
        self.number = number
        self.data = data
        self.asked = asked
        self.source = data.name
        self.text = text
        self.strengths = strengths
        self.effects = effects or {}
        self.result = Result.from_json(text)
        self.report: Path | None = None  # the page about it, as soon as it is written
        self.no_report = ""  # why that will never be

    @property
    def check_command(self) -> str:
        """The line that checks the graph without the page, beside the saved result."""
        seed = ["--seed", str(self.asked.seed)] if self.asked.seed else []
        line = ["dagora", "check", f"result-{self.number}.json", self.data.typed, *seed]
        return shlex.join([*line, *self.asked.reading_words()])

    @cached_property
    def network(self) -> Network | None:
        """The graph with its parameters; None where there are none."""
        found = parse(self.text)
        return found if isinstance(found, DiscreteNetwork | GaussianNetwork | MixedNetwork) else None

    @property
    def summary(self) -> dict[str, Any]:
        """A line of the list of results."""
        result = self.result
        return {
            "number": self.number,
            "source": self.source,
            "method": result.method,
            "score": result.score,
            "score_name": result.score_name,
            "edges": number_of_edges(result.graph),
            "variables": len(result.graph),
            "status": result.status,
            "seconds": result.seconds,
        }

    @cached_property
    def page_entry(self) -> dict[str, Any]:
        """Everything that the page shows of it; what is HTML was escaped by the report's own code."""
        result = self.result
        pictures = [result.plot().svg]
        if result.open_edges:
            weights, strengths = result.weights, result.edge_gains or None
            pictures.append(draw_svg(result.graph, weights=weights, strengths=strengths))
        gains = sorted({round(gain, 1) for gain in result.edge_gains.values()})
        return {
            **self.summary,
            "message": result.message,
            "words": in_words(result),
            "caution": CAUTION,
            "warnings": self.warnings,
            "command": result.command,
            "pictures": pictures,
            "strengths": gains,
            "samples": [{"title": title, "body": body} for title, body in self.strengths],
            "edge_table": edge_section(result, None).body,
            "trace": trace_section(result).body if len(result.trace) > 1 else "",
            "nodes": list(result.graph.nodes),
            "variables_asked": self.variables,
            "effects": self.effects,
            "why_not_asked": "" if self.network is not None else reason_without_parameters(self.text) or "",
        }

    @property
    def warnings(self) -> list[str]:
        """The warnings, also about the samples."""
        again = json.loads(self.text).get("bootstrap", {}).get("warnings", ())
        return list(dict.fromkeys((*self.result.warnings, *again)))

    @property
    def variables(self) -> list[dict[str, Any]]:
        """The variables that can be asked about, with their levels."""
        if self.network is None:
            return []
        levels = self.network.model.levels
        return [{"name": name, "levels": list(levels.get(name, ()))} for name in self.network.graph.nodes]

    def ask(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The distributions of some variables, each given the same."""
        if self.network is None:
            raise QueryError(f"this result cannot be asked: {reason_without_parameters(self.text)}")
        for key in content:
            if key not in {"of", "given", "do"}:
                raise OptionError(f"a question has no '{key}': use of, given, do")
        of = content.get("of")
        if not isinstance(of, list) or not all(isinstance(name, str) for name in of) or len(of) > MOST_ASKED:
            raise OptionError(f"of takes a list of at most {MOST_ASKED} variables")
        given, do = (values(key, content.get(key, {})) for key in ("given", "do"))
        asked = [make_question("P", name, None, given, do) for name in of]
        settings = check_settings("auto", SAMPLES, 0, None)
        # A click is answered at once: without the uncertainty from the rows, which takes a second.
        answers = ask_all(self.network.model, asked, settings, seconds=0.0)
        return {"answers": [answer_entry(answer) for answer in answers]}


def values(key: str, content: object) -> dict[str, str | float]:
    """Check the known values: a level or a number for each name."""
    if not isinstance(content, Mapping):
        raise OptionError(f"{key} takes a level or a number for each variable")
    for name, value in content.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise OptionError(f"{key} takes a level or a number for '{name}'")
    return dict(content)


def answer_entry(answer: Answer) -> dict[str, Any]:
    """An answer for the page."""
    return {"of": answer.variables[0], **answer.to_dict()}


def side_by_side(first: KeptResult, second: KeptResult) -> dict[str, Any]:
    """Two results beside each other, each variable in the same place in both; colours show what differs."""
    comparison = compare(second.result.graph, first.result.graph)
    drawings = draw_pair(first.result.shown_graph, second.result.shown_graph)
    shown = [{**kept.summary, "picture": one} for kept, one in zip((first, second), drawings, strict=True)]
    return {"pair": shown, "note": NOTE, "table": comparison_table(comparison)}
