"""Options: parsing, types and ranges."""

import math
from decimal import Decimal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.base.errors import OptionError
from dagora.base.options import Option, check_options, find
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from dagora.learners.registry import METHODS
from dagora.scores.registry import SCORES

COUNT = Option("count", "int", 3, "a count", low=0, high=10)
RATE = Option("rate", "float", 0.5, "a rate", low=0.0, high=1.0, open_low=True)
FLAG = Option("flag", "bool", False, "a switch")
WORD = Option("word", "text", "a", "a word", choices=("a", "b"))
LIMIT = Option("limit", "int", None, "a limit")
PRICE = Option("price", "float", 0.1, "a price", low=0.0, words=("auto",))
START = Option("start", "graph", None, "a graph")


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (COUNT, "7", 7),
        (COUNT, " 7 ", 7),
        (COUNT, "-7", -7),
        (RATE, "0.25", 0.25),
        (RATE, "1e-3", 0.001),
        (FLAG, "TRUE", True),
        (FLAG, "no", False),
        (FLAG, "1", True),
        (WORD, "b", "b"),
        (LIMIT, "None", None),
        (LIMIT, "4", 4),
        (PRICE, "Auto", "auto"),
        (PRICE, "0.2", 0.2),
    ],
)
def test_text_from_the_command_line(option, text, value):
    found = option.parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("option", "text", "word"),
    [
        (COUNT, "seven", "a whole number, not 'seven'"),
        (COUNT, "7.0", "a whole number"),
        (COUNT, "", "a whole number"),
        (COUNT, "none", "a whole number"),
        (COUNT, "9" * 5000, "a whole number"),
        (RATE, "half", "a number"),
        (RATE, "auto", "a number, not 'auto'"),
        (PRICE, "half", "a number or auto, not 'half'"),
        (FLAG, "maybe", "true or false"),
        (FLAG, "", "true or false"),
    ],
)
def test_text_that_is_none_of_it(option, text, word):
    with pytest.raises(OptionError, match=word) as caught:
        option.parse(text)
    assert option.name in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", [0, 3, 10, np.int64(4), np.uint8(4)])
def test_whole_numbers(value):
    assert COUNT.check(value) == value
    assert type(COUNT.check(value)) is int


@pytest.mark.every_case
@pytest.mark.parametrize("value", [1e-300, 1, 1.0, 0.5, np.float32(0.5), Decimal("0.5")])
def test_numbers(value):
    assert RATE.check(value) == pytest.approx(float(value))
    assert type(RATE.check(value)) is float


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        (COUNT, -1, "at least 0, not -1"),
        (COUNT, 11, "at most 10, not 11"),
        (COUNT, -(10**400), "at least 0"),
        (COUNT, 10**400, "at most 10"),
        pytest.param(COUNT, 10**5000, "at most 10, not a number with too many digits", id="digits"),
        (LIMIT, 10**400, "at most 64 bits"),
        (LIMIT, -(2**63), "at most 64 bits"),
        (COUNT, 3.0, "a whole number"),
        (COUNT, "3", "a whole number"),
        (COUNT, True, "a whole number"),
        (COUNT, None, "a whole number"),
        (COUNT, np.array([1, 2]), "a whole number"),
        (RATE, 0, "larger than 0"),
        (RATE, 1.5, "at most 1, not 1.5"),
        (RATE, math.nan, "must be a number, not nan"),
        (RATE, math.inf, "at most 1"),
        (RATE, "0.5", "a number"),
        (RATE, True, "a number"),
        (RATE, None, "a number"),
        (RATE, 10**400, "a number"),
        pytest.param(RATE, 10**5000, "a number, not a number with too many digits", id="more digits"),
        (RATE, np.array([0.5, 0.5]), "a number"),
        (RATE, [0.5], "a number"),
        (FLAG, 1, "true or false"),
        (FLAG, "true", "true or false"),
        (WORD, "c", "one of a, b, not 'c'"),
        (WORD, 3, "text"),
        (START, "graph.json", "a graph"),
        (START, nx.DiGraph([("a", "b")]), "a graph"),
    ],
)
def test_values_out_of_type_or_range(option, value, word):
    with pytest.raises(OptionError, match=word) as caught:
        option.check(value)
    assert f"'{option.name}'" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_graphs_and_none():
    for graph in (DAG("ab"), CPDAG("ab")):
        assert START.check(graph) is graph
    assert START.check(None) is None
    assert LIMIT.check(None) is None


@given(st.integers(0, 10))
def test_parsing_undoes_writing(value):
    assert COUNT.check(COUNT.parse(str(value))) == value


@given(st.floats(1e-12, 1.0))
def test_parsing_undoes_writing_of_numbers(value):
    assert RATE.check(RATE.parse(repr(value))) == value


def test_options_are_completed_and_strangers_refused():
    assert check_options("the method m", (COUNT, LIMIT), {"count": 4}) == {"count": 4, "limit": None}
    with pytest.raises(OptionError, match=r"the method m has no option 'cuont' \(it has: count, limit\)"):
        check_options("the method m", (COUNT, LIMIT), {"cuont": 4})
    with pytest.raises(OptionError, match="it has: none"):
        check_options("the method m", (), {"count": 4})


def test_names_are_found_or_suggested():
    entries = {"hill-climb": 1, "tabu": 2}
    assert find("method", "tabu", entries) == 2
    with pytest.raises(OptionError, match="did you mean 'hill-climb'"):
        find("method", "hillclimb", entries)
    with pytest.raises(OptionError, match="'x': known are hill-climb, tabu"):
        find("method", "x", entries)
    with pytest.raises(OptionError, match="no method named None: known are"):
        find("method", None, entries)


@pytest.mark.parametrize("entry", [*METHODS, *SCORES], ids=lambda entry: entry.name)
def test_declared_defaults_are_within_their_own_range(entry):
    for option in entry.options:
        assert option.check(option.default) == option.default
        assert option.summary
        assert option.type in {"int", "float", "bool", "text", "graph"}
