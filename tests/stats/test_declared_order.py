"""Defaults that use a declared order of levels, and what they say where they cannot."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.api.learn_federated import learn_federated
from dagora.base.errors import DataError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.stats.declared_order import declared_order
from dagora.stats.table import TableStatistics

STEPS = ["low", "middle", "high"]


def frame(seed=0, rows=300):
    """A chain of three graded columns, a number and a truth."""
    rng = np.random.default_rng(seed)
    z = np.cumsum(rng.normal(size=(3, rows)), axis=0)
    graded = {name: np.array(STEPS)[np.digitize(z[k], [-0.8, 0.6])] for k, name in enumerate("abc")}
    return pd.DataFrame(graded | {"x": z[2] + rng.normal(size=rows), "t": rng.choice(["no", "yes"], rows)})


def declared(table):
    """The same with ordered categories of pandas."""
    return table.assign(**{name: pd.Categorical(table[name], STEPS, ordered=True) for name in "abc"})


@pytest.mark.parametrize("way", ["option", "categories"])
@pytest.mark.parametrize("columns", ["abc", "abcxt"])
def test_a_declared_order_chooses_score_and_test(way, columns):
    data = frame()[list(columns)]
    given = {"ordinal": ["a", "b", "c"]} if way == "option" else {}
    data = data if way == "option" else declared(data)
    score, test = ("bic", "x2") if columns == "abc" else ("bic-mixed", "cells")
    found = dagora.learn(data, "tabu", **given)
    assert found.score_name == "bic-latent"
    assert "bic-latent was chosen as the levels of 'a', 'b', 'c' have an order" in found.message
    assert dagora.learn(data, "tabu", score=score, **given).score_name == score
    for method in ("pc", "fci", "rfci"):
        said = dagora.learn(data, method, **given).message
        assert "by latent at level" in said
        assert "latent was chosen as the levels of 'a', 'b', 'c' have an order" in said
        assert f"by {test} at" in dagora.learn(data, method, test=test, **given).message


def test_without_a_declared_order_nothing_changes():
    plain = dagora.learn(frame(), "tabu", ordinal=["t"])  # two levels: no order to use
    assert plain.score_name == "bic-mixed"
    assert "order" not in plain.message
    numbers = pd.DataFrame(np.random.default_rng(1).integers(1, 6, size=(200, 3)), columns=list("abc"))
    assert dagora.learn(numbers, "tabu", discrete="all").score_name == "bic"


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        (lambda t: t.assign(u=["x", "y", "z"] * 100), {}, "those of column 'u' have none"),
        (lambda t: t.assign(n=[1, 2, 3] * 100), {"discrete": "n"}, "those of column 'n' have none"),
        (lambda t: t.assign(w=[1, 2] * 150), {"weights": "w"}, "rows have weights or groups"),
        (lambda t: t.mask(t.index.to_series() == 7), {}, "cells are missing"),
        (lambda t: t.assign(s=["", "a"] * 150), {"interventions": "s"}, "variables were set"),
    ],
)
def test_an_order_that_cannot_be_used_is_told(change, more, words):
    found = dagora.learn(change(declared(frame())[list("abc")]), "tabu", **more)
    assert found.score_name == "bic"
    assert "the order of the levels of 'a', 'b', 'c' is not used" in found.message
    assert words in found.message


def test_an_order_is_not_used_where_a_level_is_rare_or_columns_nearly_repeat_each_other():
    table = declared(frame(rows=1000))[list("abc")]
    rare = table.assign(r=["yes"] * 50 + ["no"] * 950)
    assert "nearly all rows of column 'r' have the same level" in dagora.learn(rare, "tabu").message
    assert "by x2 at" in dagora.learn(rare, "pc").message
    age = np.random.default_rng(1).normal(size=500)
    twice = pd.DataFrame(
        {
            "age": age,
            "group": pd.cut(age, 4, labels=list("wxyz")),
            "x": age + np.random.default_rng(2).normal(size=500),
        }
    )
    found = dagora.learn(twice, "tabu")
    assert found.score_name == "bic-mixed"
    assert "columns depend so strongly that 500 rows would be worth" in found.message


def test_counts_of_levels_are_enough_and_numbers_need_rows():
    table = Table.from_frame(declared(frame()))
    assert declared_order(TableStatistics(table)).usable
    levels = dagora.statistics(declared(frame())[list("abc")])
    assert declared_order(levels).usable
    assert declared_order(dagora.statistics(table)).obstacle == "beside numbers it needs the rows"


def at_sites(table, **given):
    whole = Table.from_frame(table, **given)
    return whole, {f"site{k}": part for k, part in enumerate(split_rows(whole, 3, seed=1))}


def test_sites_choose_what_pooled_rows_choose():
    whole, sites = at_sites(declared(frame())[list("abc")])
    pooled, found = dagora.learn(whole), learn_federated(sites)
    assert found.score_name == "bic-latent"
    assert "bic-latent was chosen as the levels of 'a', 'b', 'c' have an order" in found.message
    assert (found.graph, found.score) == (pooled.graph, pooled.score)
    assert "by latent at" in learn_federated(sites, "pc", secure=False).message
    frames = {name: part.drop(columns=["x", "t"]) for name, part in frame().groupby(np.arange(300) % 3)}
    named = {f"site{k}": part for k, part in frames.items()}
    order = dict.fromkeys("abc", STEPS)
    assert learn_federated(named, "tabu", secure=False, ordinal=order).score_name == "bic-latent"


def test_sites_say_why_they_cannot_use_an_order():
    for columns, privacy, words in [
        ("abcx", None, "beside numbers it needs the rows"),
        ("abc", "epsilon=1", "noise"),
    ]:
        _, sites = at_sites(declared(frame())[list(columns)])
        said = learn_federated(sites, "ges", privacy=privacy).message
        assert "the order of the levels of 'a', 'b', 'c' is not used" in said
        assert words in said


def test_orders_of_sites_are_put_together_and_contradictions_are_refused():
    def site(order):
        graded = pd.Categorical(order * 9, order, ordered=True)
        return pd.DataFrame({"a": graded, "b": np.resize([0, 1, 1], len(graded))})

    sites = {"north": site(["i", "l", "m"]), "south": site(["l", "m", "z"]), "west": site(["m", "z", "k"])}
    names = dagora.learn_federated(sites, "tabu", secure=False, score="bic-latent").graph.nodes
    assert names == ("a", "b")
    for other, words in [
        (["m", "l", "z"], "in the order i < l < m at north, and m < l < z at south: declare one order"),
        (["m", "q"], "do not tell which of its levels 'q', 'z' comes first"),
    ]:
        with pytest.raises(DataError, match=words):
            learn_federated(sites | {"south": site(other)}, "tabu", secure=False)


@pytest.mark.parametrize("method", ["tabu", "pc"])
@pytest.mark.parametrize("lags", [1, "auto"])
def test_series_take_no_order(method, lags):
    table = declared(frame())[list("abc")].assign(t=range(300))
    found = dagora.learn(table, method, time="t", lags=lags)
    assert "is not used: rows follow each other in time" in found.message
    assert "latent" not in found.message
