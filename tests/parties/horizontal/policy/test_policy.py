"""What the policy does not allow is refused, with the line of the owner's file that says so."""

from dataclasses import replace

import pytest

from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.drafting import draft_effect_plan, draft_plan
from dagora.parties.horizontal.policy.drafted_policy import draft_policy, trial_policy
from dagora.parties.horizontal.policy.policy import PolicyError, SitePolicy
from dagora.parties.horizontal.policy.policy_file import read_policy
from dagora.parties.horizontal.policy.policy_text import write_policy
from dagora.parties.privacy.terms import agree_on_terms

PRINTS = {name: "sha256:" + str(i) * 64 for i, name in enumerate(("north", "south", "west"))}
COORDINATOR = "sha256:" + "f" * 64
BOOK = Codebook(
    (
        ColumnCoding("a", levels=("no", "yes")),
        ColumnCoding("b", levels=("x", "y", "z"), other=True),
        ColumnCoding("x", low=0.0, high=1.0),
    )
)
PLAN = draft_plan(BOOK, PRINTS, "hill-climb", coordinator=COORDINATOR, cells_per_table=64)
PAIR = Codebook(BOOK.columns[:2])
NOISY = draft_plan(
    PAIR, PRINTS, "ges", coordinator=COORDINATOR, privacy=agree_on_terms(PAIR.schema, 3, epsilon=1.0)
)
POLICY = draft_policy(BOOK, COORDINATOR, PRINTS, least_sites=3, rows=1000)
METHODS = ["hill-climb", "vote", "admm"]


def test_the_drafted_policy_allows_the_drafted_plan():
    POLICY.check(PLAN, "north", History())


def test_the_drafted_policy_allows_an_effect_with_two_adjustment_columns_over_a_class():
    """Before, 1000 rows allowed 64 sums, and a regression of four columns has 70; a run, three regressions."""
    numbers = Codebook(tuple(ColumnCoding(name, low=0.0, high=1.0) for name in "abcdefgh"))
    policy = draft_policy(numbers, COORDINATOR, PRINTS, least_sites=3, rows=1000)
    sets = [("a", "b", c, d) for c, d in ("cd", "ce", "de", "ef")]
    book = Codebook(numbers.columns[:6])
    limits = {"coordinator": COORDINATOR, "cells_per_table": policy.cells_per_table}
    policy.check(draft_effect_plan(book, PRINTS, sets, **limits), "north", History())
    more = Codebook(numbers.columns[:7])
    seven = [*sets, *(("a", "b", name, "g") for name in "cde")]
    with pytest.raises(PolicyError, match=r"\(tables_per_run\): the plan may ask for 7 sums"):
        policy.check(draft_effect_plan(more, PRINTS, seven, **limits), "north", History())
    wide = draft_effect_plan(more, PRINTS, ["abcde", "afg"], **limits | {"cells_per_table": 126})
    with pytest.raises(PolicyError, match=r"\(cells_per_table\): the plan may ask for tables of 126 cells"):
        policy.check(wide, "north", History())


OTHER_BOOK = Codebook((ColumnCoding("a", levels=("yes", "no")), *BOOK.columns[1:]))
FORBIDDEN = {
    "coordinator": (PLAN, {"coordinator": "sha256:" + "e" * 64}),
    "sites": (PLAN, {"sites": {**PRINTS, "west": "sha256:" + "7" * 64}}),
    "sites: a stranger": (PLAN, {"sites": {k: PRINTS[k] for k in ("north", "south")}, "least_sites": 2}),
    "sites: not this one": (
        replace(PLAN, sites={k: v for k, v in PRINTS.items() if k != "north"}),
        {"least_sites": 2},
    ),
    "least_sites": (replace(PLAN, sites={k: PRINTS[k] for k in ("north", "west")}), {}),
    "column: another order of levels": (replace(PLAN, codebook=OTHER_BOOK), {}),
    "column: unknown": (PLAN, {"codebook": Codebook(BOOK.columns[:2])}),
    "column: other range": (
        replace(PLAN, codebook=Codebook((*BOOK.columns[:2], ColumnCoding("x", low=0.0, high=1.0000001)))),
        {},
    ),
    "methods": (PLAN, {"methods": ("notears",)}),
    "questions": (PLAN, {"questions": ("moments",)}),
    "shows": (replace(PLAN, method="vote", shows=("local-weights",)), {"shows": ("best",)}),
    "shows: graphs": (replace(PLAN, method="vote", shows=("local-graph",)), {"shows": ("best",)}),
    "columns_per_table": (PLAN, {"columns_per_table": 2}),
    "cells_per_table": (PLAN, {"cells_per_table": 7}),
    "cells_per_table: of a release": (NOISY, {"cells_per_table": 7, "methods": ("any",)}),
    "tables_per_run": (PLAN, {"tables_per_run": 3}),
    "tables_for_ever": (PLAN, {"tables_for_ever": 0}),
    "largest_rows": (replace(PLAN, largest_rows=100), {}),
    "noise": (PLAN, {"noise": True}),
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_a_forbidden_plan_is_refused_with_its_line(what, tmp_path):
    plan, change = FORBIDDEN[what]
    path = tmp_path / "policy.toml"
    path.write_text(write_policy(replace(POLICY, **change), "a table"))
    policy = read_policy(path, [*METHODS, "notears", "best"])
    key = what.partition(":")[0]
    with pytest.raises(PolicyError, match=rf"policy.toml, line (\d+) \({key}\): ") as told:
        policy.check(plan, "north", History())
    line = int(str(told.value).partition("line ")[2].partition(" ")[0])
    assert key in path.read_text().splitlines()[line - 1]


def test_other_sites_than_before_need_the_owner():
    history = History(rosters={"other"})
    with pytest.raises(PolicyError, match=PLAN.roster_digest):
        POLICY.check(PLAN, "north", history)
    replace(POLICY, agreed_rosters=(PLAN.roster_digest,)).check(PLAN, "north", history)
    POLICY.check(PLAN, "north", History(rosters={PLAN.roster_digest}))


def test_a_policy_of_two_sites_needs_a_word():
    two = {name: PRINTS[name] for name in ("north", "south")}
    plan = replace(PLAN, sites=two)
    with pytest.raises(PolicyError, match="2 sites, and 3 must take part"):
        replace(POLICY, sites=two, least_sites=0).check(plan, "north", History())
    replace(POLICY, sites=two, least_sites=2).check(plan, "north", History())


def test_a_policy_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "policy.toml"
    for policy in (POLICY, trial_policy(PLAN)):
        path.write_text(write_policy(policy, "a table\nwith a line break"))
        again = read_policy(path, METHODS)
        assert replace(again, place=policy.place, lines={}) == replace(policy, lines={})
        assert isinstance(again, SitePolicy)


def test_a_limit_on_privacy_adds_up_over_runs():
    history = History(rho={"plan": 0.08})
    POLICY.may_spend(history, 0.02, "another")
    with pytest.raises(PolicyError, match=r"0\.08 already, and 0\.03 more"):
        POLICY.may_spend(history, 0.03, "another")
    POLICY.may_spend(history, 0.08, "plan")
