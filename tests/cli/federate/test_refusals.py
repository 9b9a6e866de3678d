"""Who does not fit: rows that do not follow the codebook, too few sites, plans that a policy forbids."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.policy.policy import SitePolicy
from dagora.parties.horizontal.policy.policy_file import POLICY_NAME, read_policy
from dagora.parties.horizontal.policy.policy_text import write_policy
from dagora.parties.transport.certificates import fingerprint
from tests.cli.federate.consortium import (
    COORDINATOR,
    SITES,
    agree_on,
    client_line,
    coordinator_line,
    log_of,
    only_line,
)

NOWHERE = ("--connect", "127.0.0.1:1", "--wait", 0.1)
SOMEBODY = "sha256:" + "0" * 64


def rewritten(keys: Path, site: str, change: Callable[[SitePolicy], SitePolicy]) -> Path:
    """Change a site's policy."""
    file = keys / site / POLICY_NAME
    file.write_text(write_policy(change(read_policy(file, ())), "a test"))
    return file


def with_column(policy: SitePolicy, name: str, coding: ColumnCoding | None) -> SitePolicy:
    """A policy in which one column is written in another way, or not at all."""
    columns = [coding if column.name == name else column for column in policy.codebook]
    return replace(policy, codebook=Codebook(tuple(column for column in columns if column)))


@pytest.mark.parametrize(
    ("change", "mentions"),
    [
        (lambda text: text.replace("season", "time_of_year", 1), "'season'"),
        (lambda text: "\n".join(line.rpartition(",")[0] for line in text.splitlines()), "'harvest'"),
        (lambda text: text.replace("summer", "cold"), "column 'season' has levels that the codebook lacks ('cold')"),
        (lambda _: "", "is empty"),
    ],
)  # fmt: skip
def test_rows_that_do_not_follow_the_codebook_stay_at_home(
    run: Callable, keys: Path, files: dict[str, Path], tmp_path: Path, change: Callable, mentions: str
) -> None:
    """The owner is told before anybody is called; nobody else hears of a level."""
    agree_on(keys, list(files.values()))
    (tmp_path / "south.csv").write_text(change(files["south"].read_text()))
    ran = run(*client_line(keys, "south", tmp_path / "south.csv"), *NOWHERE)
    assert ran.code == 2
    assert str(tmp_path / "south.csv") in only_line(ran)
    assert mentions in only_line(ran)
    checked = run("federate", "policy", "check", keys / "south" / POLICY_NAME, tmp_path / "south.csv")
    assert checked.code == 2
    assert checked.err.endswith(f"dagora: error: {only_line(ran)}\n")


def test_text_or_numbers_outside_the_range_where_others_have_numbers(
    run: Callable, keys: Path, numbers: Path, tmp_path: Path
) -> None:
    agree_on(keys, [numbers])
    head, *rows = numbers.read_text().splitlines()
    for cell, mention in (("high", "'x0'"), ("1e9", "column 'x0': 5 of 400 values are outside")):
        spoilt = [f"{cell},{row.partition(',')[2]}" for row in rows[:5]]
        (tmp_path / "south.csv").write_text("\n".join([head, *spoilt, *rows[5:]]) + "\n")
        ran = run(*client_line(keys, "south", tmp_path / "south.csv"), *NOWHERE)
        assert ran.code == 2
        assert mention in only_line(ran)
    # Up to one in a hundred is moved to the end of the range.
    (tmp_path / "south.csv").write_text("\n".join([head, *spoilt[:4], *rows[4:]]) + "\n")
    assert "nobody listens" in only_line(run(*client_line(keys, "south", tmp_path / "south.csv"), *NOWHERE))


@pytest.mark.parametrize("option", ["--discretise=quantile", "--discrete=a", "--continuous=a", "--minimum=2"])
def test_how_columns_are_written_is_no_option_of_a_client(run: Callable, keys: Path, option: str) -> None:
    ran = run(*client_line(keys, "south", keys / "south.csv"), option)
    assert ran.code == 2
    assert f"there is no option '{option.partition('=')[0]}'" in only_line(ran)


def test_without_a_policy_nothing_is_answered(run: Callable, keys: Path, files: dict[str, Path]) -> None:
    ran = run(*client_line(keys, "south", files["south"]), *NOWHERE)
    assert ran.code == 2
    way_out = f"`dagora federate policy init {files['south']} --keys {keys / 'south'}`"
    assert only_line(ran).endswith(
        f"there is no policy, so nothing may be answered: write one with {way_out}"
    )
    ran = run(*coordinator_line(keys))
    assert ran.code == 2
    assert "there is no codebook: write one with `dagora federate policy init`" in only_line(ran)


def test_two_sites_only_where_everybody_says_so(play: Callable, keys: Path, run: Callable) -> None:
    refused = run(*coordinator_line(keys, sites=("east", "north")))
    assert refused.code == 2
    pair = ("east", "north")
    # A policy that says nothing about the least number of sites wants three.
    ended = play("--minimum", 2, "--wait", 5, sites=pair, changes={"north": {"least_sites": 3}})
    assert ended["north"].code == 2
    assert "policy.toml, line 34: there are only 2 sites" in only_line(ended["north"])
    assert ended[COORDINATOR].code == 1
    assert "--minimum 2 accepts that" in only_line(run(*coordinator_line(keys, sites=pair)))
    assert {ran.code for ran in play("--minimum", 2, sites=pair).values()} == {0}


def stranger_too(keys: Path) -> dict[str, str]:
    return {
        site: fingerprint((keys / site / "party.pem").read_bytes()) for site in sorted((*SITES, "stranger"))
    }


LIMITS: dict[str, tuple[str, Callable[[SitePolicy, Path], SitePolicy], str]] = {
    "coordinator": ("coordinator", lambda p, _: replace(p, coordinator=SOMEBODY), "another coordinator"),
    "certificate": ("sites", lambda p, _: replace(p, sites={**p.sites, "east": SOMEBODY}), "for site 'east'"),
    "roster": ("least_sites", lambda p, keys: replace(p, sites=stranger_too(keys), least_sites=5), "5 must take"),
    "column": ("column", lambda p, _: with_column(p, "season", None), "'season', which is not listed here"),
    "levels": ("column", lambda p, _: with_column(p, "season", ColumnCoding("season", levels=("0", "1"))), "and here with the levels 0, 1"),
    "order": ("column", lambda p, _: with_column(p, "season", replace(p.codebook.get("season"), levels=p.codebook.get("season").levels[::-1])), "and here with the levels summer, spring"),
    "methods": ("methods", lambda p, _: replace(p, methods=("tabu", "ges")), "the method auto"),
    "questions": ("questions", lambda p, _: replace(p, questions=("moments",)), "asks for counts"),
    "columns_per_table": ("columns_per_table", lambda p, _: replace(p, columns_per_table=2), "tables of 9 columns"),
    "cells_per_table": ("cells_per_table", lambda p, _: replace(p, cells_per_table=2), "cells"),
    "tables_per_run": ("tables_per_run", lambda p, _: replace(p, tables_per_run=5), "may ask for"),
    "tables_for_ever": ("tables_for_ever", lambda p, _: replace(p, tables_for_ever=0), "0 different sums"),
    "largest_rows": ("largest_rows", lambda p, _: replace(p, largest_rows=1000), "at most 4194304 rows in all"),
    "noise": ("noise", lambda p, _: replace(p, noise=True), "without noise"),
}  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS)
def test_a_plan_that_a_policy_forbids(
    play: Callable, run: Callable, keys: Path, files: dict[str, Path], tmp_path: Path, limit: str
) -> None:
    """The owner reads which line forbids what, the coordinator that the site refused, the others no more."""
    key, change, reason = LIMITS[limit]
    agree_on(keys, list(files.values()))
    file = files["south"]
    if limit == "levels":
        file = tmp_path / "south.csv"
        file.write_text(
            re.sub("^(spring|summer|autumn),", "1,", files["south"].read_text(), flags=re.MULTILINE)
        )
    policy = rewritten(keys, "south", lambda found: change(found, keys))
    out = tmp_path / "out.json"
    ended = play("-o", out, agreed=True, others={"south": client_line(keys, "south", file)})
    south = ended.pop("south")
    why = only_line(south)
    assert south.code == 2
    place, _, _ = why.partition(f" ({key}): ")
    number = int(place.removeprefix(f"{policy}, line "))
    assert policy.read_text().splitlines()[number - 1].strip("[]").startswith(key)
    assert reason in why
    assert "dagora: answered nothing\n" in south.err
    assert ended[COORDINATOR].code == 1
    assert only_line(ended[COORDINATOR]) == "site 'south': refused the plan; see its own output"
    for ran in ended.values():
        assert ran.code == 1
        assert str(policy) not in ran.err
        assert reason not in ran.err
    assert not out.exists()
    assert [event["event"] for event in log_of(keys, "south")] == ["refused"]
    assert log_of(keys, "south")[0]["reason"] == why
    # The same without anybody else, in advance.
    plan = tmp_path / "plan.json"
    assert run(*coordinator_line(keys, "--write-plan", plan)).code == 0
    rehearsed = run("federate", "client", file, "--keys", keys / "south", "--dry-run", plan)
    assert rehearsed.code == 2
    assert rehearsed.err.endswith(f"dagora: error: {why}\n")
    assert "this site's policy allows it" not in rehearsed.out


def test_another_range(play: Callable, keys: Path, numbers: Path) -> None:
    agree_on(keys, [numbers])
    wider = ColumnCoding("x0", low=-1e3, high=1e3)
    rewritten(keys, "west", lambda policy: with_column(policy, "x0", wider))
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    ended = play(others=clients, agreed=True)
    assert ended["west"].code == 2
    assert "writes column 'x0' in another way: from " in only_line(ended["west"])
    assert only_line(ended["west"]).endswith("and here from -1000 to 1000")
    assert only_line(ended[COORDINATOR]) == "site 'west': refused the plan; see its own output"


def test_a_site_shows_what_it_has_alone_only_where_its_owner_allows_it(
    play: Callable, keys: Path, numbers: Path
) -> None:
    clients = {site: client_line(keys, site, numbers, "--show-weights") for site in SITES}
    clients["east"] = client_line(keys, "east", numbers)
    ended = play("--method", "vote", others=clients, tables=[numbers])
    assert ended["east"].code == 2
    assert "(shows): the method vote shows answers of this site alone" in only_line(ended["east"])
    assert only_line(ended[COORDINATOR]) == "site 'east': refused the plan; see its own output"


def test_a_vote_on_graphs_is_shown_graphs_and_no_weights(
    play: Callable, keys: Path, files: dict[str, Path]
) -> None:
    """One of the sites has a single row, and votes for no edge."""
    clients = {site: client_line(keys, site, files[site], "--show-weights") for site in SITES}
    ended = play("--method", "vote", "--option", "model=pc", "--json", others=clients)
    assert {ran.code for ran in ended.values()} == {0}
    content = json.loads(ended[COORDINATOR].out)
    assert content["edges"]
    assert any(line.startswith("1 of 4 sites voted for no edge") for line in content["warnings"])
    (plan,) = (event["plan"] for event in log_of(keys, "south") if "plan" in event)
    assert plan["shows"] == ["local-graph"]


def test_the_limit_for_ever_ends_a_run_in_the_middle(play: Callable, keys: Path) -> None:
    ended = play(changes={"south": {"tables_for_ever": 12}})
    south = ended.pop("south")
    assert south.code == 2
    assert "(tables_for_ever): " in only_line(south)
    assert ended[COORDINATOR].code == 1
    assert only_line(ended[COORDINATOR]) == "site 'south': refused; see its own output"
    tables = {tuple(table) for event in log_of(keys, "south") for table in event.get("tables", ())}
    assert 0 < len(tables) <= 12
    # What was answered stays counted.
    ended = play(changes={"south": {"tables_for_ever": len(tables)}})
    assert f"{len(tables)} different sums were answered already" in only_line(ended["south"])


def test_the_same_tables_again_cost_nothing(play: Callable, keys: Path) -> None:
    assert play()["south"].code == 0
    tables = {tuple(table) for event in log_of(keys, "south") for table in event.get("tables", ())}
    again = play(changes={"south": {"tables_for_ever": len(tables)}})
    assert {ran.code for ran in again.values()} == {0}, again


def test_other_sites_than_before_need_a_word_of_the_owner(play: Callable, keys: Path) -> None:
    assert play()["south"].code == 0
    three = ("east", "north", "south")
    ended = play(sites=three)
    # The first to refuse ends the run for the others.
    assert ended["east"].code == 2
    why = only_line(ended["east"])
    assert "(agreed_rosters): these rows were summed with other sites before (east,north,south now)" in why
    roster = why.partition('add "')[2].partition('"')[0]
    assert len(roster) == 64
    changes = {site: {"agreed_rosters": (roster,)} for site in three}
    assert {ran.code for ran in play(sites=three, changes=changes).values()} == {0}
