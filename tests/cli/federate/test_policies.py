"""`dagora federate policy`: what it writes is what it reads, and a mistake in a policy gets one line."""

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.parties.horizontal.policy.policy_file import CODEBOOK_NAME, POLICY_NAME, read_policy
from dagora.parties.transport.certificates import fingerprint
from tests.cli.federate.consortium import COORDINATOR, SITES, Play, client_line, coordinator_line, only_line

INIT = ("federate", "policy", "init")
CHECK = ("federate", "policy", "check")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Words, of which one is rare, and numbers."""
    rng = np.random.default_rng(1)
    words = rng.choice(["no", "yes"], 200).astype(object)
    words[:3] = "Mr Smith"
    file = tmp_path / "table.csv"
    rows = zip(words, rng.normal(size=200), rng.normal(size=200), strict=True)
    file.write_text("w,x,y\n" + "".join(f"{w},{x:.4f},{y:.4f}\n" for w, x, y in rows))
    return file


@pytest.fixture
def trio(run: Callable, tmp_path: Path) -> Path:
    """The folder that `dagora federate keys` makes for three sites."""
    assert run("federate", "keys", tmp_path / "keys", "--sites", "north,south,west").code == 0
    return tmp_path / "keys"


def test_a_trial(run: Callable, trio: Path, table: Path) -> None:
    ran = run(*INIT, table, "--keys", trio)
    assert (ran.code, ran.err) == (0, "")
    homes = [trio / COORDINATOR / CODEBOOK_NAME, *(trio / site / POLICY_NAME for site in ("north", "south", "west"))]  # fmt: skip
    assert ran.out.split() == list(map(str, homes))
    policy = read_policy(homes[1], [])
    assert set(policy.sites) == {"north", "south", "west"}
    assert policy.sites["west"] == fingerprint((trio / "west" / "party.pem").read_bytes())
    assert policy.coordinator == fingerprint((trio / COORDINATOR / "party.pem").read_bytes())
    assert policy.least_sites == 3
    w, x, _ = policy.codebook
    assert (w.levels, w.other) == (("no", "yes"), True), "a rare level is not named"
    values = dagora.read_table(table).columns[1]
    assert x.low < values.min() < values.max() < x.high
    assert policy.cells_per_table == 16, "about ten rows for each cell"
    checked = run(*CHECK, homes[1], table)
    assert checked.code == 0, checked.err
    assert f"coordinator: {policy.coordinator}\n" in checked.out
    assert "sites: north, south, west; at least 3 of them in every sum\n" in checked.out
    assert "sums: counts, moments, indicators, fourth, release\n" in checked.out
    assert "3 columns: w, x, y\n" in checked.out
    assert checked.out.endswith(f"{table}: 200 rows follow the codebook\n")


def test_every_line_of_a_policy_is_a_comment_or_toml(run: Callable, trio: Path, table: Path) -> None:
    odd = table.rename(table.with_name("a\nb = 1\n.csv"))
    assert run(*INIT, odd, "--keys", trio).code == 0
    text = (trio / "west" / POLICY_NAME).read_text()
    assert set(tomllib.loads(text)) == set(tomllib.loads("\n".join(x for x in text.splitlines() if not x.startswith("#"))))  # fmt: skip
    assert "b" not in tomllib.loads(text)
    assert max(map(len, text.splitlines())) <= 200
    before = ""
    for line in text.splitlines():
        # Every limit has a comment above it, or stands under another of its kind.
        if " = " in line and not before:
            raise AssertionError(line)
        before = line


def test_all_levels_are_named_where_the_owner_wants_it(run: Callable, trio: Path, table: Path) -> None:
    assert run(*INIT, table, "--keys", trio, "--rare", 0).code == 0
    assert read_policy(trio / "west" / POLICY_NAME, []).codebook.columns[0].levels == (
        "Mr Smith",
        "no",
        "yes",
    )
    assert run(*INIT, table, "--keys", trio, "--rare", 1000, "--overwrite").code == 0
    assert read_policy(trio / "west" / POLICY_NAME, []).codebook.columns[0].levels == ("other",)


def test_an_order_that_rare_levels_cost_is_told(run: Callable, trio: Path, table: Path) -> None:
    said = ("--ordinal", "w: no < Mr Smith < yes")
    assert (
        "order: the order is left out (--rare 0 names all levels)"
        in run(*INIT, table, "--keys", trio, *said).err
    )
    assert run(*INIT, table, "--keys", trio, *said, "--rare", 0, "--overwrite").code == 0
    assert read_policy(trio / "west" / POLICY_NAME, []).codebook.schema[0].ordered


def test_nothing_is_overwritten_unasked(run: Callable, trio: Path, table: Path) -> None:
    (trio / "west" / POLICY_NAME).write_text("mine")
    ran = run(*INIT, table, "--keys", trio)
    assert ran.code == 2
    assert only_line(ran) == f"{trio / 'west' / POLICY_NAME}: is there already: --overwrite replaces it"
    assert not (trio / "north" / POLICY_NAME).exists(), "all files or none"
    assert (trio / "west" / POLICY_NAME).read_text() == "mine"
    assert run(*INIT, table, "--keys", trio, "--overwrite").code == 0
    assert read_policy(trio / "west" / POLICY_NAME, []).sites


def test_cut_points_are_common(run: Callable, trio: Path, table: Path, tmp_path: Path) -> None:
    """They come from all tables together, and each site cuts its own rows there."""
    head, *rows = table.read_text().splitlines()
    parts = [rows[:40], rows[40:]]
    for name, part in zip("ab", parts, strict=True):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *part]) + "\n")
    line = ("--keys", trio, "--discretise", "quantile", "--bins", 3)
    assert run(*INIT, tmp_path / "a.csv", tmp_path / "b.csv", *line).code == 0
    book = read_policy(trio / "west" / POLICY_NAME, []).codebook
    pooled = dagora.read_table(table, discretise="quantile", bins=3)
    assert book.schema[1].levels == pooled.schema[1].levels
    assert len(book.columns[1].cuts) == 2
    assert run(*CHECK, trio / "west" / POLICY_NAME, tmp_path / "a.csv").code == 0


def read_policy_text(home: Path) -> dict:
    return tomllib.loads((home / POLICY_NAME).read_text())


def test_one_site(run: Callable, keys: Path, table: Path) -> None:
    home = keys / "east"
    others = [("--site", f"{site}={keys / site / 'party.pem'}") for site in ("north", "south")]
    west = fingerprint((keys / "west" / "party.pem").read_bytes())
    given = [word for pair in others for word in pair]
    ran = run(*INIT, table, "--keys", home, *given, "--site", f"west={west}", "--coordinator", keys / COORDINATOR / "party.pem")  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    policy = read_policy(home / POLICY_NAME, [])
    assert policy.sites == {s: fingerprint((keys / s / "party.pem").read_bytes()) for s in SITES}
    assert policy.least_sites == 4
    assert not (keys / COORDINATOR / CODEBOOK_NAME).exists()
    ran = run(*INIT, table, "--keys", home, "--overwrite")
    assert ran.code == 0
    assert read_policy_text(home)["least_sites"] == 3
    assert ran.err == (
        "dagora: note: fill in the coordinator's certificate (--coordinator) and the other sites' certificates "
        "(--site) before you use the policy\n"
    )
    # What is not filled in is a mistake with its line.
    ran = run(*client_line(keys, "east", table), "--connect", "127.0.0.1:1", "--wait", 0.1)
    assert ran.code == 2
    assert f"{home / POLICY_NAME}, line " in only_line(ran)


def test_the_columns_of_a_codebook(run: Callable, trio: Path, table: Path, keys: Path) -> None:
    assert run(*INIT, table, "--keys", trio).code == 0
    book = trio / COORDINATOR / CODEBOOK_NAME
    assert run(*INIT, "--codebook", book, "--keys", keys / "west").code == 0
    text = (keys / "west" / POLICY_NAME).read_text()
    assert tomllib.loads(text)["column"] == tomllib.loads(book.read_text())["column"]


@pytest.mark.parametrize(
    ("arguments", "mention"),
    [
        ((), "give either tables or --codebook FILE"),
        (("none.csv", "--codebook", "none.toml"), "give either tables or --codebook FILE"),
        (("none.csv",), "none.csv: there is no such file"),
        (("--codebook", "none.toml"), "none.toml: no such file"),
        (("none.csv", "--site", "a=b"), "leave --coordinator and --site out"),
        (("none.csv", "--coordinator", "b"), "leave --coordinator and --site out"),
    ],
)
def test_mistakes(run: Callable, trio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple, mention: str) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    ran = run(*INIT, *arguments, "--keys", trio)
    assert ran.code == 2
    assert mention in only_line(ran)


@pytest.mark.parametrize(
    ("arguments", "mention"),
    [
        (("--site", "north"), "--site takes NAME=CERT of another site, not 'north'"),
        (("--site", "east=x"), "--site takes NAME=CERT of another site, not 'east=x'"),
        (("--site", "north=none.pem"), "none.pem: is not a certificate: give a .pem file, or sha256:…"),
        (("--coordinator", "sha256:12"), "a certificate must be a fingerprint, sha256: and 64 hexadecimal digits"),
        (("--site", "a b\n=sha256:" + "0" * 64), "cannot name a party"),
    ],
)  # fmt: skip
def test_mistakes_of_one_site(run: Callable, keys: Path, table: Path, arguments: tuple, mention: str) -> None:
    ran = run(*INIT, table, "--keys", keys / "east", *arguments)
    assert ran.code == 2
    assert mention in only_line(ran)
    assert not (keys / "east" / POLICY_NAME).exists()


def test_two_sites_need_a_word(run: Callable, table: Path, tmp_path: Path) -> None:
    assert run("federate", "keys", tmp_path / "keys", "--sites", "a,b").code == 0
    ran = run(*INIT, table, "--keys", tmp_path / "keys")
    assert ran.code == 2
    assert "--minimum 2 accepts that" in only_line(ran)
    assert run(*INIT, table, "--keys", tmp_path / "keys", "--minimum", 2).code == 0
    assert read_policy(tmp_path / "keys" / "a" / POLICY_NAME, []).least_sites == 2


HOSTILE = [
    'a "quoted" name', "back\\slash", "[[column]]", "name = 1", "# no comment", "é – 漢字 🙂", "tab\there",
    "two\nlines", "escape \x1b[31mred", "nul \x00", "line \u2028 separator", "\u202eturned", "'''", '"""', "\\u0041",
]  # fmt: skip


@pytest.mark.parametrize("place", ["name", "level"])
@pytest.mark.parametrize("text", HOSTILE)
def test_odd_names_and_levels_come_back_or_are_refused(
    run: Callable, trio: Path, tmp_path: Path, text: str, place: str
) -> None:
    file = tmp_path / "odd.csv"
    rows = [[text if place == "name" else "a", "b"]]
    rows += [[text if place == "level" else "no", "p"], ["yes", "q"]] * 10
    with file.open("w", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    ran = run(*INIT, file, "--keys", trio)
    policy = trio / "west" / POLICY_NAME
    if ran.code:
        assert ran.code == 2
        assert len(only_line(ran).splitlines()) == 1
        assert only_line(ran).isprintable()
        assert not policy.exists()
        assert not text.isprintable()
        return
    coding = read_policy(policy, []).codebook.columns[0]
    assert text.strip() in (coding.name, *coding.levels)
    checked = run(*CHECK, policy, file)
    assert checked.code == 0, checked.err
    assert all(line.isprintable() for line in checked.out.splitlines())


MISTAKES = {
    "a typo": ("columns_per_table = 3", "colums_per_table = 3", "there is no 'colums_per_table' in a policy"),
    "a wrong type": ("columns_per_table = 3", 'columns_per_table = "3"', "columns_per_table must be a whole number from 0 to 64"),
    "a truth value": ("tables_per_run = ", "tables_per_run = true #", "tables_per_run must be a whole number"),
    "a large number": ("cells_per_table = ", "cells_per_table = 1000000000000", "cells_per_table must be a whole number"),
    "a negative number": ("rho_for_ever = 0.1", "rho_for_ever = -1", "rho_for_ever must be a number, 0 or more"),
    "not a number": ("rho_for_ever = 0.1", "rho_for_ever = nan", "rho_for_ever must be a number, 0 or more"),
    "no truth value": ("noise = false", "noise = 1", "noise must be true or false"),
    "an unknown method": ('methods = ["any"]', 'methods = ["hill-clim"]', "there is no method 'hill-clim'"),
    "an unknown method to show": ("shows = []", 'shows = ["votes"]', "there is no method 'votes'"),
    "words without a list": ('methods = ["any"]', 'methods = "any"', "methods must be a list of words in quotation marks"),
    "an unknown question": ('questions = ["counts", "moments", "indicators", "fourth", "release"]', 'questions = ["count"]', "there are no questions of the kind 'count'"),
    "a bad fingerprint": ('coordinator = "sha256:', 'coordinator = "sha1:', "coordinator must be a fingerprint"),
    "an empty fingerprint": ('coordinator = "sha256:', 'coordinator = "" # "', "coordinator is empty"),
    "a bad fingerprint of a site": ('west = "sha256:', 'west = "sha256:0', "the certificate of 'west' must be a fingerprint"),
    "no TOML": ("noise = false", "noise = = false", "line "),
    "a key twice": ("noise = false", "noise = false\nnoise = true", "line "),
    "a range the wrong way round": ("range = [-", "range = [1e9, -", "range must be two numbers, the smaller one first"),
    "a typo in a column": ("\nother = true", "\nothers = true", "column 'w': there is no 'others'"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_policy(run: Callable, trio: Path, table: Path, mistake: str) -> None:
    assert run(*INIT, table, "--keys", trio).code == 0
    policy = trio / "west" / POLICY_NAME
    before, after, words = MISTAKES[mistake]
    text = policy.read_text()
    assert before in text
    policy.write_text(text.replace(before, after, 1))
    client = ("federate", "client", table, "--keys", trio / "west", "--connect", "127.0.0.1:1", "--wait", 0.1)
    said = set()
    for ran in (run(*CHECK, policy), run(*client)):
        assert ran.code == 2
        assert words in only_line(ran)
        assert only_line(ran).startswith(str(policy))
        said.add(only_line(ran))
    assert len(said) == 1
    if "TOML" not in mistake and "twice" not in mistake:
        number = int(said.pop().removeprefix(f"{policy}, line ").partition(":")[0])
        line = policy.read_text().splitlines()[number - 1]
        # In a column or among the sites, the line where these begin is named.
        assert after.strip() in line or line in ("[[column]]", "[sites]")


def test_files_that_are_no_policy(run: Callable, table: Path, tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 5000)
    (tmp_path / "empty.toml").write_text("")
    for name, mention in (("bytes", ""), ("deep", ""), ("empty", "a policy needs 'coordinator'"), ("none", "no such file")):  # fmt: skip
        ran = run(*CHECK, tmp_path / f"{name}.toml")
        assert ran.code == 2
        assert only_line(ran).startswith(str(tmp_path / f"{name}.toml"))
        assert mention in only_line(ran)


def test_sites_run_with_common_cut_points(run: Callable, play: Callable, keys: Path, numbers: Path) -> None:
    """The columns that a codebook cuts are cut once, and the run is that of the pooled rows so cut."""
    drafted = run(
        "federate",
        "policy",
        "init",
        numbers,
        "--keys",
        keys,
        "--discretise",
        "quantile",
        "--bins",
        3,
        "--overwrite",
    )
    assert drafted.code == 0, drafted.err
    sites = ("east", "north", "south", "stranger", "west")
    others = {site: client_line(keys, site, numbers) for site in sites}
    ended = Play()(coordinator_line(keys, "--json", sites=sites), others)
    assert {ran.code for ran in ended.values()} == {0}, ended
    pooled = dagora.learn(dagora.read_table(numbers, discretise="quantile", bins=3), max_parents=2)
    content = json.loads(ended["coordinator"].out)
    assert content["stats"]["rows"] == 5 * 400
    assert {tuple(edge) for edge in pooled.graph.edges} <= {tuple(edge) for edge in content["edges"]} | {
        tuple(reversed(edge)) for edge in content["edges"]
    }


def test_a_check_reads_cells_as_the_client_does(run: Callable, trio: Path, tmp_path: Path) -> None:
    file = tmp_path / "holes.csv"
    file.write_text("a,b\n" + "x,u\ny,v\n" * 20)
    assert run("federate", "policy", "init", file, "--keys", trio).code == 0
    file.write_text("a,b\n,u\n" + "x,u\ny,v\n" * 20)
    policy = trio / "north" / "policy.toml"
    assert run("federate", "policy", "check", policy, file).code == 2
    checked = run("federate", "policy", "check", policy, file, "--missing", "drop")
    assert checked.code == 0, checked.err
    assert "40 rows follow the codebook" in checked.out
    file.write_text("a,b\n,u\n,v\n")
    refused = run("federate", "policy", "check", policy, file, "--missing", "drop")
    assert refused.code == 2
    assert "leave that one out (of the agreed columns)" in refused.err  # there is no --drop here


def test_fingerprints_as_openssl_prints_them(run: Callable, keys: Path, table: Path) -> None:
    given = fingerprint((keys / "south" / "party.pem").read_bytes()).removeprefix("sha256:").upper()
    colons = ":".join(given[i : i + 2] for i in range(0, 64, 2))
    for number, text in enumerate((colons, f"sha256 Fingerprint={colons}", f"sha256:{given.lower()}")):
        line = ("federate", "policy", "init", table, "--keys", keys / "north", "--site", f"south={text}")
        ran = run(*line, "--minimum", 2, *(["--overwrite"] if number else []))
        assert ran.code == 0, ran.err
        assert given.lower() in (keys / "north" / "policy.toml").read_text()
    twice = run(*line, "--site", "south=" + "0" * 64, "--overwrite")
    assert twice.code == 2


def test_limits_of_a_codebook_go_into_the_policy(
    run: Callable, trio: Path, table: Path, tmp_path: Path
) -> None:
    assert run("federate", "policy", "init", table, "--keys", trio).code == 0
    book = trio / "coordinator" / "codebook.toml"
    text = book.read_text().replace("largest_rows = 4194304", "largest_rows = 5000")
    book.write_text(text)
    assert run("federate", "policy", "init", "--codebook", book, "--keys", trio, "--overwrite").code == 0
    assert "largest_rows = 5000" in (trio / "north" / "policy.toml").read_text()
