import json
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.base.errors import FormatError, ProtocolError
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.drafting import draft_effect_plan, draft_plan
from dagora.parties.horizontal.plan.plan import MOST_RELEASED, RunPlan, worst_case
from dagora.parties.privacy.release import feature_size
from dagora.parties.privacy.terms import agree_on_terms

PRINTS = {name: "sha256:" + str(i) * 64 for i, name in enumerate(("north", "south", "west"))}
BOOK = Codebook((ColumnCoding("a", levels=("no", "yes")), ColumnCoding("x", low=0.0, high=1.0)))
PLAN = draft_plan(BOOK, PRINTS, "hill-climb", coordinator="sha256:" + "f" * 64)


def test_a_plan_is_read_as_it_was_written():
    again = RunPlan.decode(PLAN.encode())
    assert again == PLAN
    assert again.digest == PLAN.digest


def test_worst_case_counts_tables():
    assert worst_case(4, 2) == 4 + 6
    assert worst_case(3, 10) == 7


CHANGES = [
    {"method": "tabu"}, {"questions": ("counts",)}, {"tables": 9}, {"largest_rows": 5},
    {"sites": {**PRINTS, "west": "sha256:" + "9" * 64}}, {"codebook": Codebook(BOOK.columns[:1])},
    {"coordinator": ""}, {"cells_per_table": 7}, {"columns_per_table": 1}, {"method": "vote", "shows": ("local-weights",)},
    {"settings": {"score": "k2"}}, {"functions": 3},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=[next(iter(change)) for change in CHANGES])
def test_whatever_changes_changes_the_digest(change):
    assert replace(PLAN, **change).digest != PLAN.digest


def changed(**parts):
    content = {**PLAN.to_dict(), **parts}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


QUESTION = {"model": "linear", "lambda1": 0.01, "knowledge": {"forbidden": [["a", "b"]]}, "seed": 2**100}
ALONE = replace(PLAN, method="vote", shows=("local-weights",), shown_questions={"local-weights": QUESTION})


def test_a_question_to_each_site_alone_is_part_of_what_is_signed():
    assert RunPlan.decode(ALONE.encode()) == ALONE
    for change in ({"lambda1": 0.02}, {"knowledge": {}}, {"seed": 1}, {"model": "mlp"}):
        other = replace(ALONE, shown_questions={"local-weights": {**QUESTION, **change}})
        assert other.digest != ALONE.digest
        assert other.shown_name("local-weights") != ALONE.shown_name("local-weights")
    assert "shown_questions" not in PLAN.to_dict()
    known = {ALONE.shown_name("local-weights")}
    assert replace(ALONE, settings={"note": "another run"}).new_answers(known) == 0


def alone(**questions):
    return changed(method="vote", shows=["local-weights"], shown_questions=questions)


def nested(depth):
    return [nested(depth - 1)] if depth else "a"


HOSTILE = {
    "a question that is not shown": changed(shown_questions={"local-weights": {}}),
    "a question of another task": alone(**{"local-graph": {}}),
    "questions that are a list": changed(shown_questions=[]),
    "a question that is a text": alone(**{"local-weights": "all"}),
    "a question that is nested deeply": alone(**{"local-weights": {"knowledge": nested(9)}}),
    "a question with nothing in it": alone(**{"local-weights": {"seed": None}}),
    "a question with a huge number": alone(**{"local-weights": {"seed": 2**200}}),
    "a question without a number": alone(**{"local-weights": {"lambda1": float("nan")}}),
    "no questions": changed(shown_questions={}),
    "an unknown part": changed(unit=3),
    "another version": changed(version=1),
    "one site": changed(sites={"north": ""}),
    "a site with a path for a name": changed(sites={**PRINTS, "../x": ""}),
    "one certificate twice": changed(sites={**PRINTS, "west": PRINTS["north"]}),
    "a fingerprint that is none": changed(coordinator="sha256:xyz"),
    "no columns": changed(columns=[]),
    "a question of another kind": changed(questions=["total"]),
    "tables below zero": changed(tables=-1),
    "tables that are true": changed(tables=True),
    "rows without bound": changed(largest_rows=2**70),
    "a huge method": changed(method="m" * 1000),
    "a method with an escape": changed(method="\x1b[2J"),
    "settings that are a list": changed(settings=[]),
    "a part missing": b"{}",
    "no JSON": b"plan",
    "not UTF-8": b"\xff\xfe",
    "too long": b" " * (1 << 23),
    "deep": b"[" * 100_000,
    "the same in other bytes": PLAN.encode().replace(b'","', b'", "'),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_plan_is_one_line(what):
    with pytest.raises(ProtocolError, match=r"^the plan is (not valid: |too long)") as told:
        RunPlan.decode(HOSTILE[what])
    assert str(told.value).isprintable()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_damaged_plans_are_refused(place, noise):
    whole = PLAN.encode()
    place %= len(whole)
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        plan = RunPlan.decode(damaged)
    except ProtocolError:
        return
    assert plan.encode() == damaged


def discrete(*sizes):
    return Codebook(tuple(ColumnCoding(f"d{i}", levels=level_names(size)) for i, size in enumerate(sizes)))


def level_names(size):
    return tuple(f"{i:05}" for i in range(size))


def continuous(columns):
    return Codebook(tuple(ColumnCoding(f"x{i}", low=0.0, high=1.0) for i in range(columns)))


def draft_release(book, **more):
    return draft_plan(book, PRINTS, "ges", privacy=agree_on_terms(book.schema, 3, epsilon=1.0), **more)


@pytest.mark.parametrize(
    ("book", "cells", "line"),
    [
        (continuous(1446), 4096, ""),
        (continuous(1447), 4096, "a release of 1,049,076 numbers is too large, at most 1,048,576"),
        (continuous(9000), 4096, "too large"),
        (discrete(*[2] * 724), 4096, ""),
        (discrete(*[2] * 725), 4096, "a release of 1,049,800 numbers is too large"),
        (discrete(1100, 1000, 2), 1 << 22, "a release of 1,104,200 numbers is too large"),
        (discrete(64, 64, 2), 4096, ""),
        (discrete(64, 65, 2), 4096, "tables of up to 4160 cells, and the plan allows 4096 "),
    ],
    ids=lambda value: f"{len(value.columns)} columns" if isinstance(value, Codebook) else None,
)
def test_a_release_has_a_largest_size(book, cells, line):
    """Refused where it is drafted, and where it is read, before anything is signed."""
    if not line:
        plan = draft_release(book, cells_per_table=cells)
        assert feature_size(plan.privacy, book.schema) <= MOST_RELEASED
        return
    with pytest.raises(FormatError, match=line) as told:
        draft_release(book, cells_per_table=cells)
    assert str(told.value).isprintable()
    small = draft_release(discrete(2, 2))
    terms = agree_on_terms(book.schema, 3, epsilon=1.0).to_dict()
    large = {**small.to_dict(), "columns": book.to_list(), "privacy": terms, "cells_per_table": cells}
    with pytest.raises(ProtocolError, match=line):
        RunPlan.decode(json.dumps(large, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5, 2), (1, 7, 4, 4)])
def test_the_size_of_a_release_is_that_of_its_tables(sizes):
    book = discrete(*sizes)
    terms = agree_on_terms(book.schema, 3, epsilon=1.0)
    assert feature_size(terms, book.schema) == sum(a * b for a, b in combinations(sizes, 2))


WORDS = Codebook(BOOK.columns[:1])
NUMBERS = Codebook(tuple(ColumnCoding(name, low=0.0, high=1.0) for name in "xyz"))


@pytest.mark.parametrize(
    ("book", "sets", "words"),
    [
        (WORDS, [["a", "a"]], "different columns of the plan"),
        (WORDS, [["a", "nothing"]], "different columns of the plan"),
        (NUMBERS, [["x"]], "different columns of the plan"),
        (NUMBERS, [], "names its regressions"),
        (NUMBERS, "xy", "must be a list of"),
        (NUMBERS, [["x", 3]], "must be a list of"),
        (NUMBERS, [["x", "y", "z"]], "35 sums of products, and 20 are allowed"),
    ],
)
def test_odd_sets_are_refused(book, sets, words):
    first = [("a",)] if book is WORDS else [("x", "y"), ("x", "z")]
    content = draft_effect_plan(book, PRINTS, first, coordinator="", cells_per_table=20).to_dict()
    with pytest.raises(FormatError, match=words):
        RunPlan.from_dict({**content, "sets": sets})


def test_a_plan_with_sets_is_written_in_one_way():
    plan = draft_effect_plan(NUMBERS, PRINTS, [("z", "x"), ("z", "y", "x")], coordinator="")
    assert RunPlan.decode(plan.encode()) == plan
    assert (plan.questions, plan.largest_table, plan.tables) == (("fourth",), 35, 0)
