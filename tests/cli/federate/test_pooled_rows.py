"""The result on pooled rows, whoever holds them: as processes, as threads, with odd names, with one row."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.cli.data_options import CellReading
from dagora.cli.federate.processes import site_files
from dagora.cli.main import run as run_command
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.parties.horizontal.plan.drafting import codebook_of
from tests.cli.federate.consortium import COORDINATOR, SITES, Troupe, client_line, log_of
from tests.cli.federate.pooled import edges_of, pooled


def without_times(content: str) -> dict:
    learned = json.loads(content)
    steps = [point[1:] for point in learned.pop("trace")]
    learned.pop("command")
    return {**learned, "seconds": 0, "trace": steps}


def test_simulate_with_processes_gives_the_network_of_the_pooled_rows(
    run: Callable, garden: Path, tmp_path: Path
) -> None:
    ran = run("federate", "simulate", garden / "garden.csv", "--parties", 3, "-o", tmp_path / "s.bif", "--json", "--quiet")  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    assert edges_of(ran.out) == pooled(garden / "garden.csv")
    assert json.loads(ran.out)["stats"]["bytes_from_site3"] > 0
    assert run("learn", garden / "garden.csv", "-o", tmp_path / "p.bif").code == 0
    here, there = (
        [line for line in (tmp_path / file).read_text().splitlines() if "// origin" not in line]
        for file in ("p.bif", "s.bif")
    )
    assert there == here  # all but the rows of each combination of parents, which stay at the sites


@pytest.mark.slow
@pytest.mark.parametrize("method", ["notears", "ges"])
def test_simulate_with_processes_on_numbers(run: Callable, numbers: Path, method: str) -> None:
    ran = run("federate", "simulate", numbers, "--parties", 3, "--method", method, "--json")
    assert ran.code == 0
    assert edges_of(ran.out) == pooled(numbers, method)


@pytest.mark.parametrize("method", ["hill-climb", "ges", "notears"])
@pytest.mark.parametrize("kind", ["garden", "numbers"])
def test_simulate_in_memory(run: Callable, request: pytest.FixtureRequest, method: str, kind: str) -> None:
    file = request.getfixturevalue(kind)
    file = file / "garden.csv" if kind == "garden" else file
    line = ("federate", "simulate", file, "--parties", 4, "--in-memory", "--method", method, "--json")
    ran = run(*line)
    if (method, kind) == ("notears", "garden"):
        assert ran.code == 2
        assert "discrete" in ran.err
        return
    assert ran.code == 0
    assert edges_of(ran.out) == pooled(file, method)
    again = without_times(run(*line, "--seed", 0).out)
    # Signatures vary in length by a byte or two.
    for content in (again, first := without_times(ran.out)):
        content["stats"] = {k: v for k, v in content["stats"].items() if not k.startswith(("bytes", "sec"))}
    assert again == first
    assert edges_of(run(*line, "--seed", 5).out) == pooled(file, method)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Names with commas and dashes, levels that look like numbers, quotes, gaps."""
    rng = np.random.default_rng(1)
    first = rng.choice(["yes", 'it\'s, "odd"', "1.0", "1"], 60)
    second = np.where(rng.random(60) < 0.9, first, "no")
    rows = np.column_stack([first, second, rng.choice(["", "x"], 60), rng.choice(["1", "01", "2"], 60)])
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    (tmp_path / "odd.csv").write_text("\n".join(['"a, b",-c,d,e', *quoted]) + "\n")
    return tmp_path / "odd.csv"


def test_odd_names_and_levels_survive_the_way_through_files(odd: Path) -> None:
    table = dagora.read_table(odd, missing="level", discrete=["e"])
    parts = split_rows(table, 3)
    with site_files(dict(zip("abc", parts, strict=True))) as written:
        assert all(file.parent.stat().st_mode & 0o077 == 0 for file in written.values())
        book = codebook_of({"all": table})
        for part, file in zip(parts, written.values(), strict=True):
            site = CellReading({"na": "none", "separator": None}).site(str(file), "a", book)
            assert site.table.equals(part)
    assert not any(file.parent.exists() for file in written.values())


@pytest.mark.slow
def test_odd_names_and_levels_with_processes(run: Callable, odd: Path) -> None:
    line = ("--parties", 3, "--missing", "level", "--discrete", "e", "--json")
    ran = run("federate", "simulate", odd, *line)
    assert ran.code == 0, ran.err
    result = dagora.learn(dagora.read_table(odd, missing="level", discrete=["e"]))
    assert edges_of(ran.out) == ([list(edge) for edge in result.graph.edges], [], result.score)


@pytest.mark.slow
def test_by_hand_with_processes(run: Callable, garden: Path, files: dict[str, Path], tmp_path: Path) -> None:
    """Keys, policies, a coordinator and three clients, as the manual says; one site's row goes to another."""
    made = run("federate", "keys", tmp_path / "keys", "--sites", "east,north,south")
    assert made.code == 0
    assert made.out.split() == [str(tmp_path / "keys" / name) for name in (COORDINATOR, "east", "north", "south")]  # fmt: skip
    assert (tmp_path / "keys" / "north" / "party.key").stat().st_mode & 0o077 == 0
    south = tmp_path / "south.csv"
    south.write_text(files["south"].read_text() + files["west"].read_text().partition("\n")[2])
    drafted = run("federate", "policy", "init", garden / "garden.csv", "--keys", tmp_path / "keys")
    assert drafted.code == 0, drafted.err
    with Troupe(tmp_path / "keys") as troupe:
        out = tmp_path / "out.bif"
        troupe.begin({"east": files["east"], "north": files["north"], "south": south}, "--json", "-o", out)
        ended = troupe.end()
    assert {name: ran.code for name, ran in ended.items()} == dict.fromkeys(ended, 0)
    assert edges_of(ended[COORDINATOR].out) == pooled(garden / "garden.csv")
    assert run("learn", garden / "garden.csv", "-o", tmp_path / "pooled.bif").code == 0
    # The same parameters; only where rows are in memory are those behind each of them counted.
    texts = [path.read_text().splitlines() for path in (out, tmp_path / "pooled.bif")]
    assert [line for line in texts[0] if "origin" not in line] == [
        line for line in texts[1] if "origin" not in line
    ]
    assert re.search(r"^dagora: answered \d+ tables of counts$", ended["north"].err, re.MULTILINE)
    assert not ended["north"].out
    told = run("federate", "log", tmp_path / "keys" / "north")
    assert told.code == 0, told.err
    assert "accepted a plan for auto over" in told.out
    assert told.out.endswith("ended: done\n")


def test_a_site_with_one_row_takes_part(play: Callable, garden: Path) -> None:
    ended = play("--json")
    assert ended[COORDINATOR].code == 0, ended
    assert edges_of(ended[COORDINATOR].out) == pooled(garden / "garden.csv")
    assert [ended[site].code for site in SITES] == [0] * 4


def test_a_level_that_one_site_never_saw_is_no_fault(play: Callable, keys: Path, garden: Path) -> None:
    one = dagora.read_table(garden / "garden.csv")
    assert len(one.schema[0].levels) > 1
    # The site with one row has seen one level of each column.
    ended = play("--json", "--score", "bdeu")
    result = dagora.learn(garden / "garden.csv", score="bdeu")
    assert json.loads(ended[COORDINATOR].out)["score"] == pytest.approx(result.score, rel=1e-12)


def draft_for_all(table: Path, keys: Path, columns: int | None = None) -> None:
    """Draft codebook and policies as the README does; with `columns`, the owners allow smaller tables."""
    shutil.rmtree(keys / "stranger")
    assert run_command(["federate", "policy", "init", str(table), "--keys", str(keys)]) == 0
    for file in keys.glob("*/*.toml"):
        if columns is not None:
            text = re.sub(r"columns_per_table = \d+", f"columns_per_table = {columns}", file.read_text())
            file.write_text(text)


@pytest.fixture(scope="module")
def three_causes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of eight columns of two levels, of which d has three causes and e two of these."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 2, (900, 8))
    rows[:, 3] = rng.random(900) < np.array([0.02, 0.35, 0.65, 0.98])[rows[:, :3].sum(axis=1)]
    rows[:, 4] = rng.random(900) < np.array([0.02, 0.5, 0.98])[rows[:, :2].sum(axis=1)]
    file = tmp_path_factory.mktemp("causes") / "all.csv"
    write_table(dagora.Table.from_numpy(rows, names=list("abcdefgh")), file)
    return file


@pytest.mark.parametrize("given", [(), ("--method", "hill-climb"), ("--method", "pc")])
@pytest.mark.parametrize("columns", [None, 3])
def test_the_commands_of_the_readme_give_what_pooled_rows_give_or_say_what_is_cut_off(
    play: Callable,
    keys: Path,
    three_causes: Path,
    tmp_path: Path,
    given: tuple[str, ...],
    columns: int | None,
) -> None:
    """900 rows of two levels are tables of six columns, so of five parents: as on pooled rows here."""
    table = dagora.read_table(three_causes)
    for site, part in zip(SITES, split_rows(table, 4), strict=True):
        write_table(part, tmp_path / f"{site}.csv")
    draft_for_all(three_causes, keys, columns)
    clients = {site: client_line(keys, site, tmp_path / f"{site}.csv") for site in SITES}
    ended = play(*given, "--json", others=clients, agreed=True)
    assert {ran.code for ran in ended.values()} == {0}, ended
    content = json.loads(ended[COORDINATOR].out)
    method = given[-1] if given else "auto"
    result = dagora.learn(three_causes, method)
    assert [tail for tail, head in result.graph.edges if head == "d"] == ["a", "b", "c"]
    assert content["method"] == method
    same = edges_of(ended[COORDINATOR].out)[0] == [list(edge) for edge in result.graph.edges]
    assert same is (columns is None)
    most = (columns or 6) - (2 if method == "pc" else 1)
    what = f"{most} given variables" if method == "pc" else f"{most} parents"
    assert (
        f"cut off what pooled rows have: sets of more than {what} (columns_per_table)" in content["message"]
    )


@pytest.mark.parametrize("given", [(), ("--method", "hill-climb"), ("--max-parents", 3)])
def test_tables_over_sites_are_those_of_the_codebook_unless_parents_are_asked_for(
    play: Callable, keys: Path, garden: Path, given: tuple[str, ...]
) -> None:
    ended = play(*given, "--json")
    assert ended[COORDINATOR].code == 0, ended
    most = 3 if "--max-parents" in given else None
    result = dagora.learn(
        garden / "garden.csv", given[1] if "--method" in given else "auto", max_parents=most
    )
    assert edges_of(ended[COORDINATOR].out)[0] == [list(edge) for edge in result.graph.edges]
    sizes = [len(table) for event in log_of(keys, "north") for table in event.get("tables", ())]
    assert most is None or max(sizes) == most + 1


@pytest.mark.parametrize(("given", "most"), [(("--option", "max_given=2"), 2), (("--table-columns", 2), 0)])
def test_pc_over_sites_is_given_what_its_tables_allow(
    play: Callable, keys: Path, garden: Path, given: tuple[str, ...], most: int
) -> None:
    changes = {site: {"columns_per_table": 4, "tables_per_run": 1000} for site in SITES}
    ended = play("--method", "pc", *given, "--json", changes=changes)
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert json.loads(ended[COORDINATOR].out)["settings"]["max_given"] == most
    alone = dagora.learn(garden / "garden.csv", "pc", max_given=most).graph
    assert edges_of(ended[COORDINATOR].out)[:2] == ([*map(list, alone.edges)], [*map(list, alone.undirected)])
    assert max(len(table) for event in log_of(keys, "south") for table in event.get("tables", ())) == most + 2


def test_continuous_columns_over_sites_are_learned_from_one_sum(
    play: Callable, keys: Path, numbers: Path
) -> None:
    clients = {site: client_line(keys, site, numbers) for site in SITES}
    ended = play("--json", others=clients, tables=[numbers])
    assert {ran.code for ran in ended.values()} == {0}, ended
    content = json.loads(ended[COORDINATOR].out)
    assert (content["method"], content["stats"]["rows"]) == ("auto", 1600)
    assert [event["event"] for event in log_of(keys, "west")] == ["plan", "answer", "end"]
    assert "dagora: answered 1 sum of moments\n" in ended["west"].err


def test_a_method_that_counts_its_own_rounds_is_believed(run: Callable, numbers: Path) -> None:
    line = ("--parties", 3, "--in-memory", "--method", "admm", "--option", "max_rounds=7", "--json")
    ran = run("federate", "simulate", numbers, *line, "--quiet")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["stats"]["rounds"] == 7


def test_rows_in_files_and_in_a_database(
    play: Callable, keys: Path, files: dict[str, Path], garden: Path, tmp_path: Path
) -> None:
    """One site has a folder of files, another one a table of a database, and the others a file each."""
    duckdb = pytest.importorskip("duckdb", reason="the extra engines is not installed")
    (tmp_path / "parts").mkdir()
    head, *rows = files["east"].read_text().splitlines(keepends=True)
    for number, part in enumerate((rows[:400], rows[400:])):
        (tmp_path / "parts" / f"{number}.csv").write_text("".join((head, *part)))
    with duckdb.connect(str(tmp_path / "north.db")) as database:
        database.execute(
            f"CREATE TABLE visits AS SELECT * FROM read_csv('{files['north']}', all_varchar=true)"
        )
    others = {
        "east": client_line(keys, "east", tmp_path / "parts"),
        "north": client_line(keys, "north", f"duckdb:{tmp_path / 'north.db'}", "--table", "visits"),
    }
    ended = play("--json", others=others)
    assert {ran.code for ran in ended.values()} == {0}, ended
    assert edges_of(ended[COORDINATOR].out) == pooled(garden / "garden.csv")
