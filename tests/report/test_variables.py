"""The part of a report for each variable: its distribution as counts, and its Markov blanket."""

import re
from itertools import pairwise

import numpy as np
import pytest

import dagora
from dagora.data.incomplete import IncompleteTable
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.result import Result, TracePoint
from dagora.report.distribution import (
    MOST_BINS,
    MOST_LEVELS,
    ColumnDistribution,
    distributions,
    draw_distribution,
)
from dagora.report.learned import result_page
from dagora.report.variables import SAME, variable_section
from tests.report.reading import read


def test_counts_are_those_of_the_columns():
    rng = np.random.default_rng(0)
    levels, numbers = rng.integers(0, 3, 500), rng.standard_normal(500)
    whole = dagora.Table.from_numpy(np.column_stack([levels, numbers]), names="ax", discrete=["a"])
    found = distributions(whole)
    assert found["a"].counts == tuple(np.bincount(levels))
    edges = np.array(found["x"].edges)
    assert (edges[0], edges[-1]) == (numbers.min(), numbers.max())
    inside = [((numbers >= low) & (numbers < high)).sum() for low, high in pairwise(edges)]
    inside[-1] += 1  # the largest number is in the last interval
    assert list(found["x"].counts) == inside
    assert len(inside) <= MOST_BINS
    seen = np.array([rng.random(500) < 0.8, np.ones(500, dtype=bool)])
    holes = distributions(IncompleteTable.of(whole, seen))
    assert holes["a"].counts == tuple(np.bincount(levels[seen[0]]))
    assert holes["a"].unseen == (~seen[0]).sum()
    assert holes["x"] == found["x"]


@pytest.mark.parametrize(
    "values", [[2.5] * 9, [0.0] * 3, [1e9, 1e9 + 1], [-1e300, 1e300], [0.1, 0.2, 1e-320]]
)
def test_any_numbers_can_be_drawn(values):
    table = dagora.Table.from_numpy(np.array([values, values]).T, names="ab", continuous=["all"])
    shown = distributions(table)["a"]
    assert sum(shown.counts) == len(values)
    drawing = draw_distribution("a", shown)
    assert "nan" not in drawing.lower()
    assert "inf" not in drawing.lower()


def test_numbers_too_far_apart_for_intervals_are_left_out():
    table = dagora.Table.from_numpy([[-1.7e308, 0.5], [1.7e308, 1.5]], names="ab", continuous=["all"])
    assert set(distributions(table)) == {"b"}


def test_many_levels_become_one_bar():
    counts = tuple(range(1, 31))
    drawing = read(draw_distribution("<a>", ColumnDistribution(counts, tuple(f"<{k}>" for k in counts))))
    bars = [float(tags["width"]) for tag, tags in drawing.tags if tag == "rect"]
    assert len(bars) == MOST_LEVELS
    words = drawing.within("title")
    assert words[0] == "<a>: rows of each level"
    assert words[-1] == f"19 other levels: {sum(range(1, 20))} rows"
    assert bars[0] / bars[-1] == pytest.approx(20 / sum(range(1, 20)), rel=0.01)


def test_blankets_are_linked_and_said_to_hold_for_the_class():
    names = ["a", "b", "<c>", "d", "e"]
    graph = DAG(names, [("a", "<c>"), ("b", "<c>"), ("<c>", "d")])
    page = read(variable_section(graph, {}, class_only=True).body)
    words = re.findall(r"Markov blanket: [^.]*\.", "".join(data for _, data in page.texts))
    assert words == [
        "Markov blanket: <c>; through a common child: b.",
        "Markov blanket: <c>; through a common child: a.",
        "Markov blanket: a, b, d.",
        "Markov blanket: <c>.",
        "Markov blanket: nothing.",
    ]
    places = {tags["id"]: k for k, tags in enumerate(tags for _, tags in page.tags if "id" in tags)}
    for _, tags in page.tags:
        if "data-choose" in tags:
            assert names[places[tags["href"][1:]]] == tags["data-choose"]
    assert SAME in "".join(page.within("p"))
    assert SAME not in variable_section(graph, {}, class_only=False).body
    assert SAME in variable_section(CPDAG.from_dag(graph), {}, class_only=False).body


def test_a_pag_claims_no_blanket():
    body = variable_section(PAG("abc", [("a", "o->", "c"), ("b", "<->", "c")]), {}, class_only=True).body
    assert "blanket" not in body
    assert body.count("Joined with: <a") == 3


def test_a_step_of_a_series_has_the_distribution_of_its_variable():
    shown = {"x": ColumnDistribution((1, 2), ("lo", "hi"))}
    body = variable_section(DAG(["x", "x[t-1]"], [("x[t-1]", "x")]), shown, class_only=True).body
    assert body.count("<svg") == 2


def test_no_row_is_in_the_page():
    """Numbers of single rows, of which each is unlike all others, are nowhere: neither as text nor in the JSON."""
    rows = np.round(np.random.default_rng(0).standard_normal((60, 2)), 6)
    table = dagora.Table.from_numpy(rows, names="ab")
    page = result_page(Result(DAG("ab"), "tabu", "finished", ""), distributions=distributions(table))
    assert not [value for value in rows.ravel() if f"{value:.6f}" in page]


def test_time_starts_with_the_search():
    """The first score stands at zero, however long reading and compiling took before it."""
    trace = (TracePoint(30.0, 0, -9.0), TracePoint(30.5, 1, -5.0), TracePoint(31.0, 2, -4.0))
    page = read(result_page(Result(DAG("ab"), "tabu", "finished", "", -4.0, "bic", trace=trace)))
    (line,) = [tags["points"] for tag, tags in page.tags if tag == "polyline"]
    ticks = [
        float(word.replace("−", "-")) for word in page.within("svg", "text") if re.fullmatch(r"[\d.]+", word)
    ]
    assert max(ticks) == 1.0
    assert line.split(",")[0] == "92.0"
    assert any("30 seconds after the start" in words for words in page.within("p"))


def test_numbers_that_differ_by_rounding_alone_are_one():
    table = Table(Schema([Variable("x", Kind.CONTINUOUS)]), (np.array([0.3, 0.1 + 0.2, 0.3]),))
    assert distributions(table)["x"].counts == (3,)
