"""A hostile SuperLink, a real one: its operator changes, repeats, swaps and drops messages in its database.

Triggers in the database do it, so that no message leaves before it was tampered with.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import dagora

pytest.importorskip(
    "flwr", reason="needs Flower: `make test-flower` installs it in an environment of its own"
)

from tests.flower.consortium import SITES, FlowerConsortium, give_rows_to_sites

pytestmark = pytest.mark.flower

# What a message holds lies in objects of its own; those of dagora are records of settings with one text of bytes.
OURS = "substr(NEW.content, 1, 12) = CAST('ConfigRecord' AS BLOB) AND length(NEW.content) > 700"
STORED = f"AFTER UPDATE OF content ON objects WHEN NEW.is_available = 1 AND {OURS}"
OTHER = f"SELECT content FROM objects WHERE object_id != NEW.object_id AND {OURS.replace('NEW.', '')} LIMIT 1"
MIDDLE = "length(NEW.content) / 2"
# The last condition keeps a trigger from meeting its own change.
TRICKS = {
    "change": f"""{STORED} AND substr(NEW.content, {MIDDLE}, 4) != x'00ff00ff' BEGIN
        UPDATE objects SET content = substr(NEW.content, 1, {MIDDLE} - 1) || x'00ff00ff'
        || substr(NEW.content, {MIDDLE} + 4) WHERE object_id = NEW.object_id; END""",
    "repeat": f"""{STORED} AND EXISTS ({OTHER}) AND NEW.content != ({OTHER}) BEGIN
        UPDATE objects SET content = ({OTHER}) WHERE object_id = NEW.object_id; END""",
    "swap": """AFTER INSERT ON message_ins BEGIN
        UPDATE message_ins SET dst_node_id = CASE dst_node_id
        WHEN (SELECT min(node_id) FROM node) THEN (SELECT max(node_id) FROM node)
        WHEN (SELECT max(node_id) FROM node) THEN (SELECT min(node_id) FROM node)
        ELSE dst_node_id END WHERE message_id = NEW.message_id; END""",
    "drop": f"""AFTER INSERT ON message_res BEGIN
        INSERT INTO seen VALUES (NEW.run_id);
        DELETE FROM message_res WHERE message_id = NEW.message_id
        AND (SELECT count(*) FROM seen WHERE run = NEW.run_id) > {len(SITES)}; END""",
}


class HostileConsortium(FlowerConsortium):
    """A consortium whose SuperLink keeps its messages in a file."""

    @property
    def database(self) -> Path:
        return self.folder / "state.db"

    def superlink_line(self) -> list[object]:
        return [*super().superlink_line(), "--database", self.database]

    def change_database(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database, timeout=60.0)) as connection, connection:
            connection.execute(statement)


@pytest.fixture(scope="module")
def consortium(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileConsortium]:
    folder = tmp_path_factory.mktemp("hostile")
    files = give_rows_to_sites(table, folder)
    with HostileConsortium(folder / "run") as consortium:
        consortium.add_sites(files, folder / "keys")
        app = consortium.folder / "app"
        consortium.command(*consortium.app_line(app), "-o", consortium.folder / "network.json")
        yield consortium


@pytest.mark.parametrize("trick", [None, *TRICKS])
def test_the_run_ends_in_one_line_or_in_the_right_graph(
    consortium: HostileConsortium, table: Path, trick: str | None
) -> None:
    if trick is not None:
        consortium.change_database("CREATE TABLE IF NOT EXISTS seen (run)")
        consortium.change_database(f"CREATE TRIGGER trick {TRICKS[trick]}")
    output = consortium.folder / "network.json"
    output.unlink(missing_ok=True)
    consortium.start_daemons("--runs", 1, "--idle", 60)
    try:
        run = consortium.start_run(consortium.folder / "app", 'method="notears" patience=20 wait=40')
        state = consortium.finish(run)
        said = consortium.log_of(run)
    finally:
        consortium.change_database("DROP TRIGGER IF EXISTS trick")
        for site in SITES:
            consortium.processes[site].terminate()
    errors = [line for line in said.splitlines() if line.startswith("dagora: error: ")]
    print(trick, state["status"], *errors)
    assert "Traceback" not in said
    if state["status"] == "finished:completed":
        learned = dagora.Result.from_json(output.read_text())
        assert learned.graph == dagora.learn(table, "notears").graph
    else:
        assert len(errors) == 1, said
        assert not output.exists()
    assert (trick is None) == (state["status"] == "finished:completed"), said
    for site in SITES:
        consortium.code(site)
        assert consortium.said(site).count("dagora: error: ") <= 1
        assert "Traceback" not in consortium.said(site)
