"""The page of an effect says what the effect says, and names in data cannot break it."""

import numpy as np
import pytest

import dagora
from dagora.effects.effect_histogram import EffectHistogram
from dagora.effects.in_words import effect_in_words
from dagora.report.all_effects import all_effects_page, effect_ranges_page
from dagora.report.effect_charts import draw_over_graphs
from dagora.report.effect_sections import effect_page, effect_sections
from tests.report.reading import read, table_under

EDGES = [("severity", "drug"), ("severity", "death"), ("drug", "death")]
GRAPH = dagora.DAG(["severity", "drug", "death"], EDGES)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    severe = rng.random(800) < 0.5
    drug = rng.random(800) < np.where(severe, 0.3, 0.7)
    death = rng.random(800) < 0.15 + 0.6 * severe - 0.1 * drug
    rows = np.column_stack([severe, drug, death]).astype(int)
    return dagora.Table.from_numpy(rows, names=list(GRAPH.nodes))


def roles(page):
    return {tags["data-node"]: tags.get("data-role") for _, tags in page.tags if "data-node" in tags}


def facts_of(page):
    return dict(zip(page.within("dt"), page.within("dd"), strict=True))


def test_an_adjusted_effect(table):
    found = dagora.effect(table, "drug", "death", graph=GRAPH)
    page = read(effect_page(found, "patients.csv"))
    assert page.within("h1") == ["The effect of drug on death, patients.csv"]
    assert roles(page) == {"severity": "adjusted for", "drug": "set", "death": "outcome"}
    assert facts_of(page)["adjusted for"] == "severity"
    assert facts_of(page)["difference"] == f"{found.estimate:.3g}".replace("-", "−")
    drawn = [line for line in page.within("svg", "title") if " → " in line]
    not_causal = [f"severity → {head} (path that is not causal)" for head in ("drug", "death")]
    assert sorted(drawn) == sorted(["drug → death (causal path)", *not_causal])
    assert [row[0] for row in table_under(page, "scale")] == ["difference", "ratio", "odds ratio"]
    assert found.assumptions[0] in page.within("li")


def test_a_class_leaves_it_open(table):
    found = dagora.effect(table, "drug", "death", graph=dagora.CPDAG.from_dag(GRAPH))
    page = read(effect_page(found))
    rows = table_under(page, "directions")
    assert [row[0] for row in rows] == [member.to_text().partition(":")[0] for member in found.members]
    assert [row[-1] for row in rows if row[2].startswith("0 ")] == ["zero by the graph"] * 2
    deciding = [line for line in page.within("svg", "title") if "(its direction decides)" in line]
    assert len(deciding) == 2
    assert "adjusted for" not in roles(page).values()
    assert "by something between" in effect_in_words(found)


def test_an_average_over_graphs(table):
    found = dagora.effect(table, "drug", "death", draws=200)
    over = found.over_graphs
    assert sum(over.histogram.shares) == pytest.approx(over.cause_probability)
    page = read(effect_page(found))
    assert f"{1 - over.cause_probability:.0%}" in page.within("svg", "text")
    assert facts_of(page)["P(drug is a cause)"] == f"{over.cause_probability:.2f}"
    words = effect_in_words(found)
    assert words.startswith("If no common cause is missing from the table, and if what else is assumed holds")
    assert words.endswith(f"drug is a cause of death with probability {over.cause_probability:.2f}.")
    assert found.to_dict()["over_graphs"]["histogram"] == over.histogram.to_dict()


@pytest.mark.parametrize(("x", "y"), [("death", "severity"), ("drug", "severity")])
def test_no_directed_path(table, x, y):
    found = dagora.effect(table, x, y, graph=GRAPH)
    assert "does not change" in effect_in_words(found)
    assert "(causal path)" not in effect_page(found)


def test_hostile_names():
    bad = "</script><img src=x onerror=alert(1)>"
    rows = {bad: ["<u>", "&"] * 50, 'y"': ["<i>", "<i>", '"', '"'] * 25}
    graph = dagora.DAG(rows, [tuple(rows)])
    for found in (dagora.effect(rows, bad, 'y"', graph=graph), dagora.effect(rows, bad, 'y"', draws=20)):
        page = read(effect_page(found, bad))
        assert not [tags for tag, tags in page.tags if tag in {"img", "u", "i"}]
        assert bad in roles(page)


def test_a_curve_and_what_is_given():
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((2, 200))
    rows = {"sex": ["f", "m"] * 100, "x": x, "y": x + noise}
    graph = dagora.DAG(rows, [("x", "y"), ("sex", "y")])
    found = dagora.effect(rows, "x", "y", graph=graph, given={"sex": "f"}, curve=True)
    assert "Over the values" in [section.heading for section in effect_sections(found)]
    assert "the mean of y among rows with sex=f by" in effect_in_words(found)
    assert "setting x one unit higher raises" in effect_in_words(found)


def test_draws_that_are_far_off_do_not_hide_the_others():
    values = np.concatenate([np.linspace(0, 1, 999), [1e9]])
    found = EffectHistogram.of(values, np.full(1000, 0.001))
    assert found.edges[-1] < 2
    assert sum(found.shares) == pytest.approx(1)
    assert EffectHistogram.of(np.zeros(0), np.zeros(0)) is None
    assert EffectHistogram.of(np.ones(5), np.full(5, 0.2)) is None
    assert "where there is one" not in draw_over_graphs(0.0, None, across="difference")


def test_all_pairs():
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 200))
    found = dagora.all_effects({"a": a, "b": b - a, "<c>": c + b - a}, draws=100)
    page = read(all_effects_page(found, "numbers.csv"))
    rows = table_under(page, "set", "outcome")
    assert [tuple(row[:2]) for row in rows] == [pair[:2] for pair in found.pairs()]
    squares = [line for line in page.within("svg", "title") if " → " in line]
    assert len(squares) == 12, "two pictures of six pairs"
    assert f"a → b: {found.standardised[0, 1]:.4g}" in squares


def test_all_pairs_over_a_class():
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 200))
    class_ = dagora.CPDAG("abc", [("a", "b"), ("c", "b")])
    found = dagora.all_effects({"a": a, "b": c - a + b, "c": c}, graph=class_)
    page = read(effect_ranges_page(found, "numbers.csv"))
    rows = table_under(page, "set", "outcome")
    assert [tuple(row[:2]) for row in rows] == [(found.names[i], found.names[j]) for i, j in found.pairs()]
    squares = [line for line in page.within("svg", "title") if line.startswith("a → ")]
    assert squares[0].startswith("a → b: -")
    assert squares[1] == "a → c: 0"
