"""Questions as text: what is understood, and what each mistake is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import DagoraError, QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.question import Question
from dagora.network.inference.question_reader import parse
from dagora.network.inference.ranges import Range
from dagora.network.networks import Lines, MixedNetwork, Softmax

NETWORK = MixedNetwork(
    DAG(["smoker", "cancer", "dose", "blood type", "pain"], [("smoker", "cancer"), ("dose", "pain")]),
    {"smoker": ("no", "very often"), "cancer": ("no", "yes"), "blood type": ("A", "B, rare"), "pain": ("no", "yes")},
    {
        "smoker": np.array([0.7, 0.3]),
        "cancer": np.array([[0.9, 0.1], [1.0, 0.0]]),
        "blood type": np.array([0.5, 0.5]),
    },
    {"pain": Softmax([0.0, 1.0], [[0.0], [1.0]])},
    {"dose": Lines(1.0, np.zeros(0), 2.0)},
)  # fmt: skip


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P(a)", Question("P", ("a",))),
        ("p( a ,b )", Question("P", ("a", "b"))),
        ("P(a | b=1)", Question("P", ("a",), {}, {"b": "1"})),
        ("P(a|b=-1.5e3,do(c=x))", Question("P", ("a",), {}, {"b": "-1.5e3"}, {"c": "x"})),
        ("P(a | do(c=x, d=y), e=z)", Question("P", ("a",), {}, {"e": "z"}, {"c": "x", "d": "y"})),
        ("P(a=yes, b='no, never')", Question("P", ("a", "b"), {"a": "yes", "b": "no, never"})),
        ('MAP("a b", c | d="it\'s")', Question("MAP", ("a b", "c"), {}, {"d": "it's"})),
        ("P(a | do=1)", Question("P", ("a",), {}, {"do": "1"})),
        ("map(*)", Question("MAP", ("*",))),
        ("P(a | dose>=1)", Question("P", ("a",), given_within={"dose": Range(1, with_low=True)})),
        ("P(a | dose > 1, b=<5)", Question("P", ("a",), {}, {"b": "<5"}, given_within={"dose": Range(1)})),
        ("P(1 < 'a b' ≤ 2)", Question("P", ("a b",), within={"a b": Range(1, 2, with_high=True)})),
        (
            "P('a<b'=y, c>=0)",
            Question("P", ("a<b", "c"), {"a<b": "y"}, within={"c": Range(0, with_low=True)}),
        ),
        ("P(a | soft(b, y=0.3, n=0.7))", Question("P", ("a",), soft={"b": {"y": 0.3, "n": 0.7}})),
        (
            "P(a=y) - P(a=n)",
            Question("P", ("a",), {"a": "y"}, against=("-", Question("P", ("a",), {"a": "n"}))),
        ),
        ("P(a=y)/P(b)", Question("P", ("a",), {"a": "y"}, against=("/", Question("P", ("b",))))),
        (r"P('it\'s' | 'b\\'=1)", Question("P", ("it's",), {}, {"b\\": "1"})),
    ],
)
def test_questions_are_understood(text, expected):
    assert parse(text) == expected
    assert parse(str(expected)) == expected


NAMES = st.text(min_size=1, max_size=5)


@settings(deadline=None)
@given(st.lists(NAMES, min_size=5, max_size=5, unique=True), NAMES, NAMES)
def test_any_name_can_be_quoted(names, one, other):
    a, b, c, d, e = names
    question = Question("P", (a, b), {}, {c: one, d: other}, {e: one})
    assert parse(str(question)) == question


@settings(deadline=None)
@given(st.text(alphabet="P(M)AP|=,'\"do \\a*", max_size=14))
def test_any_text_is_a_question_or_gets_one_line(text):
    try:
        parse(text)
    except QueryError as error:
        assert "\n" not in str(error)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "'' ends too early: questions look like P(a, b | c=yes, do(d=no)) or MAP(a, b | c=yes)"),
        ("cancer", "'cancer' begins with neither P( nor MAP("),
        ("E(dose)", "'E(dose)' begins with neither P( nor MAP("),
        ("P cancer", "'P cancer' has 'cancer' where , | = or ) belongs"),
        ("P|cancer", "'P|cancer' lacks a '('"),
        ("P(cancer", "'P(cancer' ends too early"),
        ("P()", "'P()' has ')' where a name belongs"),
        ("P(cancer | smoker)", "what is known of 'smoker' in 'P(cancer | smoker)'? Write smoker=LEVEL"),
        ("P(cancer | smoker=very often)", "'P(cancer | smoker=very often)' has 'often' where , | = or ) belongs"),
        ("P(cancer | smoker='no)", "\"P(cancer | smoker='no)\" has a quote that does not end"),
        ("P(cancer) and", "'P(cancer) and' goes on where it should end"),
        ("P(cancer | do(smoker=no | dose=1))", "'P(cancer | do(smoker=no | dose=1))' has a do( that does not end"),
        ("P(cancer | smoker=no, smoker=no)", "'smoker' is given twice: say once what is known of it"),
        ("P(cancer | smoker=no, do(smoker=no))", "'smoker' is given twice: it was either seen or set by do("),
        ("P(cancer | cancer=no)", "'cancer' is asked for and given: ask for it, or give it"),
        ("P(cancer | do(cancer=no))", "'cancer' is asked for and given"),
        ("P(cancer, cancer)", "'cancer' is asked for twice"),
        ("P(cancer=yes, smoker)", "either all variables asked for have a level"),
        ("MAP(cancer=yes)", "either all variables asked for have a level"),
        ("P(cnacer)", "there is no variable 'cnacer' in the network: did you mean 'cancer'?"),
        ("P(cancer | smokr=no)", "there is no variable 'smokr' in the network: did you mean 'smoker'?"),
        ("P(cancer | do(q=no))", "there is no variable 'q' in the network: known are smoker, cancer, dose, blood"),
        ("P(cancer | smoker=often)", "'smoker' has no level 'often': known are no, very often"),
        ("P(cancer=maybe)", "'cancer' has no level 'maybe': known are no, yes"),
        ("P(cancer | dose=high)", "'dose' is continuous: it needs a finite number of at most 1e+150, not 'high'"),
        ("P(cancer | dose=inf)", "'dose' is continuous: it needs a finite number of at most 1e+150, not 'inf'"),
        ("P(dose=1)", "'dose' is continuous: a single value has no probability; ask P(dose | ...)"),
        ("P(dose, cancer)", "'cancer' is discrete and 'dose' is continuous: ask for one kind at a time"),
        (
            "P(smoker | cancer=yes, smoker='very often')",
            "'smoker' is asked for and given",
        ),
        (
            "P(pain | smoker='very often', cancer=yes)",
            "the evidence has probability zero, so there is no answer: smoker=very often, cancer=yes",
        ),
        (
            "P('blood type' | smoker='very often', cancer=yes)",
            "the evidence has probability zero, so there is no answer: smoker=very often, cancer=yes",
        ),
        ("MAP(pain)", "MAP has exact answers only: it cannot be estimated from samples"),
        (
            "MAP(* | smoker=no, cancer=no, dose=1, 'blood type'=A, pain=no)",
            "all variables are given: nothing is left to ask for",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_named_in_one_line(text, line):
    with pytest.raises(QueryError) as error:
        NETWORK.query(text)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, "give either a text, or of=, given= and do="),
        ({"question": "P(cancer)", "of": "cancer"}, "give either a text, or of=, given= and do="),
        ({"question": "P(cancer)", "given": {"smoker": "no"}}, "give either a text, or of=, given= and do="),
        ({"question": 3}, "a question is text, not a int"),
        ({"of": []}, "nothing is asked for"),
        ({"of": ["cancer"], "given": {"smoker": 1}}, "'smoker' has no level '1': known are no, very often"),
        ({"of": "cancer", "method": "guess"}, "there is no method 'guess': known are auto, exact, sampling"),
        ({"of": "cancer", "samples": 0}, "samples must be a whole number from 1 to 100,000,000, not 0"),
        ({"of": "cancer", "memory": "lots"}, "memory must be a number of bytes such as 500MB or 2GiB, not 'lots'"),
        ({"of": "cancer", "method": "sampling", "seed": -1}, "seed must be a whole number of at least 0, not -1"),
        (
            {"of": "pain", "method": "exact"},
            "'pain' is discrete and depends on continuous 'dose', which is not given: there is no exact answer",
        ),
        ({"of": ["cancer", "smoker"], "memory": 16}, "the joint distribution of 2 variables needs 32 bytes"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(options, line):
    with pytest.raises(DagoraError) as error:
        NETWORK.query(**options)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_words_in_quotes_reach_the_network():
    answer = NETWORK.query("P('blood type' | smoker='very often')")
    assert answer.probabilities == {"A": 0.5, "B, rare": 0.5}
    assert NETWORK.query("P('blood type'='B, rare')").probabilities == {"B, rare": 0.5}


def test_a_softmax_whose_parents_are_known_has_an_exact_answer():
    answer = NETWORK.query("P(pain | dose=1)")
    assert answer.method == "exact"
    assert answer.probabilities["yes"] == pytest.approx(1 / (1 + np.exp(-2)))
    assert NETWORK.query("P(cancer)").method == "exact"  # what depends on it does not matter
    assert NETWORK.query("P(pain | do(dose=1))").probabilities == answer.probabilities


def test_a_question_that_is_too_wide_says_so():
    names = [f"x{i}" for i in range(24)]
    graph = DAG(names, [(tail, head) for tail in names[:12] for head in names[12:]])
    tables = {name: np.full([2] * (1 + len(graph.parents(name))), 0.5) for name in names}
    wide = MixedNetwork(graph, dict.fromkeys(names, ("no", "yes")), tables)
    known = dict.fromkeys(names[12:], "no")
    with pytest.raises(QueryError) as error:
        wide.query(of="x0", given=known, memory="10 kB")
    assert str(error.value) == (
        "the question has width 11: its largest table needs 32,768 bytes, and 10,000 are allowed: "
        'method="sampling" estimates the answer, memory allows more'
    )
    assert wide.query(of="x0", given=known, memory="40 kB").table == pytest.approx([0.5, 0.5])
    lines = {f"y{i}": Lines([0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0]) for i in range(10)}
    lines["sum"] = Lines(0.0, np.ones(10), 1.0)
    levels = {f"d{i}": ("n", "y") for i in range(10)}
    chain = MixedNetwork(
        DAG(
            [*levels, *lines],
            [*((f"d{i}", f"y{i}") for i in range(10)), *((f"y{i}", "sum") for i in range(10))],
        ),
        levels,
        dict.fromkeys(levels, np.array([0.5, 0.5])),
        lines=lines,
    )
    assert chain.query("P(sum)").mean["sum"] == pytest.approx(5)
    with pytest.raises(
        QueryError, match="11 continuous variables hang together over 10 discrete ones: 1,024 normal"
    ):
        chain.query("P(sum)", memory=50_000)
