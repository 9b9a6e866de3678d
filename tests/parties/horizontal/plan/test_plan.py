import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagora.errors import ProtocolError
from dagora.parties.horizontal.plan.codebook import Codebook, Coding
from dagora.parties.horizontal.plan.drafting import draft_plan
from dagora.parties.horizontal.plan.plan import Plan, worst_case

PRINTS = {name: "sha256:" + str(i) * 64 for i, name in enumerate(("north", "south", "west"))}
BOOK = Codebook((Coding("a", levels=("no", "yes")), Coding("x", low=0.0, high=1.0)))
PLAN = draft_plan(BOOK, PRINTS, "hill-climb", coordinator="sha256:" + "f" * 64)


def test_a_plan_is_read_as_it_was_written():
    again = Plan.decode(PLAN.encode())
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


HOSTILE = {
    "an unknown part": changed(unit=3),
    "another version": changed(version=2),
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
        Plan.decode(HOSTILE[what])
    assert str(told.value).isprintable()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=8))
def test_damaged_plans_are_refused(place, noise):
    whole = PLAN.encode()
    place %= len(whole)
    damaged = whole[:place] + noise + whole[place + len(noise) :]
    try:
        plan = Plan.decode(damaged)
    except ProtocolError:
        return
    assert plan.encode() == damaged
