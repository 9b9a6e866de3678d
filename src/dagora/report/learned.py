"""The report of a learned graph: picture, edges, comparison with a truth, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dagora.base.phrases import amount
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, number_of_edges, without_pag
from dagora.graph.compare import compare
from dagora.graph.dag import DAG, Edge
from dagora.graph.directions import WEAK, name_weak
from dagora.graph.drawing import draw_svg, too_slow_to_draw
from dagora.graph.interventions import shown_by_interventions
from dagora.graph.lagged_graph import LaggedGraph, split_name
from dagora.graph.metrics import Comparison, classify_edges
from dagora.graph.pag_metrics import PAGComparison
from dagora.learners.result import Result
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.networks import Network
from dagora.report import pag_section
from dagora.report.distribution import ColumnDistribution
from dagora.report.line_chart import Line, draw_lines
from dagora.report.page import Cell, Content, Section, attribute, facts, number, page, table, text
from dagora.report.parameters import parameters
from dagora.report.repeating import repeating
from dagora.report.time_section import time_section
from dagora.report.variables import data_section, variable_section
from dagora.scores.prior_words import parameter_prior

LOST = (
    "Nats lost without it: by how much the score would fall if this edge alone were left out. Under BIC and "
    "the Bayesian scores, 3 nats make the graph with the edge about 20 times as probable as the one without. "
    "Where two paths say the same, both look weak, and only one could go."
)
TESTED = (
    "Largest p-value: that of the weakest of all tests of the edge, each given other nodes. It is not the "
    "chance that there is no edge, and where many pairs are tested, some come out below the level by chance."
)
CAUTION = (
    "An edge is an association that improved the method's objective. Data often do not determine its "
    "direction. Do not call an edge causal without further evidence."
)

# Beyond so many edges one picture is enough: nobody compares two.
MANY_EDGES = 1000


def result_page(
    result: Result,
    *,
    truth: AnyGraph | None = None,
    network: Network | GaussianProcessNetwork | None = None,
    source: str | None = None,
    strengths: Sequence[Section] = (),
    distributions: Mapping[str, ColumnDistribution] | None = None,
    seconds: float | None = None,
) -> str:
    """A whole HTML document about a result; `strengths` are sections about its edges in samples.

    `distributions` are those of the variables, by name. A picture that takes more than so many `seconds` is
    left out.
    """
    sections = [*warnings(result.warnings), *data_section(result.data), graph_section(result, truth, seconds)]
    if truth is not None:
        comparison = compare(result.graph, truth, result.dropped)
        sections.append(Section("Against the truth", comparison_table(comparison)))
    in_time = result.lagged_graph
    sections += [
        *([] if in_time is None else time_section(*as_told(in_time, result))),
        edge_section(result, truth),
        *strengths,
    ]
    if len(result.trace) > 1:
        sections.append(trace_section(result))
    if result.curves:
        sections.append(curve_section(result))
    sections.append(variable_section(result.graph, distributions or {}, class_only=result.class_only))
    if network is not None:
        sections.append(parameters(network))
    if "leakage" in result.settings:
        sections.append(Section("Who learned what", sentence_list(result.settings["leakage"])))
    sections.append(repeating(result.settings, result.seed, result.stats, result.versions, result.to_dict()))
    title = f"{result.method} on {source}" if source else f"A network learned by {result.method}"
    return page(title, lead(result), sections)


def as_told(in_time: LaggedGraph, result: Result) -> tuple[LaggedGraph, list[Edge]]:
    """The graph with lines where directions within a step are not determined, and its weak lagged edges."""
    late = {edge: split_name(edge[0])[1] > 0 for edge in result.open_edges}
    lines = [edge for edge, is_late in late.items() if not is_late]
    edges = [edge for edge in in_time.edges if edge[2] or edge[:2] not in lines]
    told = LaggedGraph(in_time.variables, in_time.lags, edges, lines)
    return told, [edge for edge, is_late in late.items() if is_late]


def lead(result: Result) -> str:
    """The outcome in a sentence and a few numbers."""
    graph = result.graph
    in_time = result.lagged_graph
    if in_time is None:
        named = [("variables", number(len(graph))), ("edges", number(number_of_edges(graph)))]
    else:
        named = [
            ("variables", number(len(in_time.variables))),
            ("steps back", number(in_time.lags)),
            ("edges within a step", number(number_of_edges(in_time.within))),
            ("edges from earlier steps", number(len(in_time.lagged))),
        ]
    if result.score is not None:
        named.append((result.score_name or "score", number(result.score)))
    named += [("seconds", number(result.seconds)), ("status", result.status)]
    assumed = parameter_prior(result.score_name, result.settings)
    said = [result.message, *([f"prior of parameters: {assumed}"] if assumed else [])]
    told = "".join(f"<p>{sentence(words)}</p>\n" for words in said)
    return told + facts(named) + f"<p>{text(in_words(result))}</p>\n"


def in_words(result: Result) -> str:
    """The result, how far it can be trusted, and what it does not say."""
    graph, gains = result.graph, result.edge_gains
    edges = number_of_edges(graph)
    if not edges:
        return no_edge_in_words(result)
    words = [sentence(line) for line in [result.describe_directions()] if line]
    if gains and max(gains.values()) > 0:
        strongest = max(gains, key=lambda edge: gains[edge])
        weak = sum(gain < WEAK for gain in gains.values())
        words.append(f"The strongest links {strongest[0]} and {strongest[1]} ({gains[strongest]:.1f} nats).")
        if weak:
            words.append(
                f"{amount(weak, 'edge')} would cost less than {WEAK:g} nats: other rows of the same kind "
                "may not show them."
            )
    words.append(
        "Two variables without an edge may still depend on each other, through those between them; an edge "
        "does not say that one causes the other."
    )
    return " ".join(words)


def no_edge_in_words(result: Result) -> str:
    """The meaning of a missing edge: little, where the search could not or did not look."""
    if result.status not in {"optimal", "local-optimum", "finished"}:
        return f"There is no edge, but the search was stopped early ({result.status}): that says nothing yet."
    known = result.settings.get("knowledge", {})
    if known.get("max_parents") == 0 or known.get("forbidden") or known.get("tiers"):
        return (
            "There is no edge among those that were allowed: what was excluded beforehand was not looked at."
        )
    return (
        "There is no edge: none was worth adding by this method's criterion. Variables may still depend on "
        "each other in ways that it does not see, or too weakly for so many rows."
    )


def sentence(words: str) -> str:
    """Words with a capital and a full stop, escaped."""
    return text(f"{words[:1].upper()}{words[1:]}.")


def warnings(lines: Sequence[str]) -> list[Section]:
    """A section of warnings, if there are any."""
    return [Section("Warnings", f'<div class="warnings">{sentence_list(lines)}</div>')] if lines else []


def sentence_list(lines: Sequence[str]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in lines) + "</ul>"


def graph_section(result: Result, truth: AnyGraph | None, seconds: float | None = None) -> Section:
    """The picture of the graph: as far as the data decide it, and as it was found; one of very many edges."""
    graph = result.graph
    edges = number_of_edges(graph)
    if too_slow_to_draw(graph, seconds):
        left_out = f"The picture of {edges:,} edges was left out, as time was up; result.plot() draws it."
        return Section("The graph", f'<p class="soft">{text(left_out)}</p>')
    if isinstance(graph, PAG):
        said = [pag_section.CAUTION, *([pag_section.SELECTED] if result.settings.get("selection") else [])]
        words = "".join(f'<p class="soft">{text(one)}</p>' for one in said)
        drawing = draw_svg(graph, truth=truth)
        picture = canvas([drawing], informed=True)
        return Section("The graph", picture + pag_section.explain_marks(graph) + words)
    shown = shown_by_interventions(graph, result.interventions)
    open_class = truth is None and isinstance(graph, DAG) and bool(result.open_edges)
    drawings, words = [], ""
    if open_class:
        # An arrow that the data cannot direct would say more than is known.
        drawings.append(result.plot().svg)
        words = '<p class="soft">A line without an arrow: the data do not determine its direction.</p>'
    if not open_class or edges <= MANY_EDGES:
        drawings.append(
            draw_svg(
                graph, truth=truth, weights=result.weights, shown=shown, strengths=result.edge_gains or None
            )
        )
    if len(drawings) == 2:
        words = words.replace(
            "</p>",
            " The other picture is the graph that was found, one of those that they cannot tell apart.</p>",
        )
    strengths = slider(list(result.edge_gains.values()))
    picture = strengths + canvas(drawings, informed=True)
    return Section("The graph", picture + words + f'<p class="soft">{text(CAUTION)}</p>')


def slider(strengths: Sequence[float]) -> str:
    """A slider that hides weak edges; it stops at the strength of every edge."""
    stops = sorted({round(strength, 1) for strength in strengths})
    if len(stops) < 2:
        return ""
    listed = " ".join(f"{stop:.1f}" for stop in stops)
    return (
        '<div class="tools"><label>only edges worth at least <input class="least" type="range" min="0" '
        f'max="{len(stops) - 1}" value="0" data-stops={attribute(listed)}></label> '
        f"<output>{stops[0]:.1f}</output> nats</div>"
    )


def canvas(drawings: Sequence[str], *, informed: bool = False) -> str:
    """A picture that can be explored; of two, one at a time.

    Beside one that is `informed` stands what the page has about the chosen variable.
    """
    switch = '<button class="switch" type="button">as the data tell / as found</button>'
    tools = f'<div class="tools">{switch}</div>' * (len(drawings) > 1)
    hidden = ("", " hidden")
    pictures = "".join(
        f'<div class="canvas fitted"{hidden[place > 0]}>{drawing}</div>'
        for place, drawing in enumerate(drawings)
    )
    kind = "explorer informed" if informed else "explorer"
    return f'{tools}<div class="{kind}"><div class="pictures">{pictures}</div></div>'


def comparison_table(comparison: Comparison | PAGComparison) -> str:
    """Distances and rates of the comparison with the truth."""
    rows = [(label, row.shd, row.tpr, row.fdr, row.fpr, row.f1) for label, row in comparison.rows()]
    if isinstance(comparison, PAGComparison):
        words = f"PAG: edges with their marks. Skeleton: without. {sentence(comparison.marks.describe())}"
    else:
        words = (
            "DAG: the graphs as they are. CPDAG: their equivalence classes, which is all that data alone can "
            "tell. Skeleton: without directions."
        )
        if comparison.within is not None:
            words += " Within: the edges within a step. Lagged: those from earlier steps."
    note = f'<p class="soft">{words}</p>'
    return note + table(("compared as", "SHD", "TPR", "FDR", "FPR", "F1"), rows)


def edge_section(result: Result, truth: AnyGraph | None) -> Section:
    """All edges in a table that can be sorted and searched."""
    if isinstance(result.graph, PAG):
        titles, marked = pag_section.edge_rows(result.graph, truth)
        return Section("Edges", searchable(table(titles, marked, sortable=True)))
    graph = result.graph
    head = ["from", "to", "direction"]
    gains = result.edge_gains
    head += ["weight"] * (result.weights is not None) + ["nats lost without it"] * bool(gains)
    tests = result.link_tests
    partial = any(test.value is not None for test in tests.values())
    head += ["partial correlation"] * partial + ["largest p-value"] * bool(tests)
    head += ["verdict"] * (truth is not None)
    shown = shown_by_interventions(graph, result.interventions)
    verdicts = (
        None if truth is None else classify_edges(graph, without_pag(truth, "the truth of a DAG or CPDAG"))
    )
    in_time = result.lagged_graph is not None
    undecided = undecided_directions(result)
    settled = "determined" if result.class_only else "assumed by the method"
    rows: list[list[Content]] = []
    for edge in (*graph.edges, *graph.undirected):
        by_time = in_time and split_name(edge[0])[1] > 0
        set_apart = "by time" if by_time else "by intervention" if edge in shown else ""
        row: list[Content] = [*edge, set_apart or undecided.get(edge, settled)]
        if result.weights is not None:
            row.append(float(result.weights[graph.index(edge[0]), graph.index(edge[1])]))
        if gains:
            gain = gains.get(edge)
            row.append(None if gain is None else Cell(f"{gain:.1f}".replace("-", "−"), gain))
        if tests:
            tested = tests.get(edge)
            if partial:
                row.append(None if tested is None else tested.value)
            row.append(None if tested is None else Cell(f"{tested.p:.2g}", tested.p))
        if truth is not None and verdicts is not None:
            row.append(verdicts.of_edge(truth.index(edge[0]), truth.index(edge[1])))
        rows.append(row)
    note = (
        '<p class="soft">“either”: another graph with the same independences has the edge the other way '
        f"round. “rests on”: without these edges, worth less than {WEAK:g} nats each, or with those that are "
        "absent and would cost less than that, it would be open.</p>"
    )
    if gains:
        note += f'<p class="soft">{text(LOST)}</p>'
    if tests:
        note += f'<p class="soft">{text(TESTED)}</p>'
    return Section("Edges", searchable(table(head, rows, sortable=True)) + note)


def searchable(edges: str) -> str:
    """A table with a field that filters it."""
    field = '<input class="filter" type="search" placeholder="a variable" aria-label="filter">'
    return f'<div class="tools">{field}</div><div class="edges">{edges}</div>'


def undecided_directions(result: Result) -> dict[Edge, str]:
    """The evidence for the direction of each edge whose direction is not determined."""
    known = result.directions
    rests = {
        edge: f"rests on {name_weak(weak, result.edge_gains, result.absent_costs, known.unseen)}"
        for edge, weak in known.unsure.items()
    }
    unchecked = dict.fromkeys(known.unchecked, "not known to be determined")
    return {**unchecked, **rests, **dict.fromkeys(known.open, "either")}


def trace_section(result: Result) -> Section:
    """The best score over time, from where the search began: reading and compiling come before that."""
    began = result.trace[0].seconds
    line = Line(
        [point.seconds - began for point in result.trace], [point.score for point in result.trace], steps=True
    )
    up = f"best {result.score_name or 'score'}"
    said = (
        f"The first score was there {number(began)} seconds after the start: before it, data are prepared "
        "and, in a first run, code is compiled."
    )
    chart = draw_lines([line], across="seconds since the first score", up=up)
    return Section("Score over time", f'{chart}<p class="soft">{text(said)}</p>')


def curve_section(result: Result) -> Section:
    """A chart for each series of scores that may fall as well as rise."""
    up = result.score_name or "score"
    charts = [
        draw_lines([Line(range(1, len(values) + 1), values)], across=counted_in, up=up)
        for counted_in, values in result.curves.items()
    ]
    return Section("Learning curve", "".join(charts))
