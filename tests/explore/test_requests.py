"""What the page may ask for: checked by the library's own code, refused in one line, and never a path."""

from pathlib import Path
from urllib.parse import quote

import pytest

import dagora
from dagora.api.score import make_score
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError
from dagora.data.readers import look_at_file
from dagora.explore.asking import ExploreRequest, looking_at, parse_request
from dagora.explore.choosing import Fit
from dagora.explore.open_table import Data
from dagora.explore.session import NUMBERS_FOR, Session
from dagora.learners.registry import METHODS
from dagora.learners.request import GivenData, prepare
from dagora.scores.registry import SCORES
from tests.explore.conftest import MOST_UPLOAD, Client


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"method": "tabbu"}, "did you mean 'tabu'?"),
        ({"method": 3}, "method takes a text"),
        ({"score": "bdue"}, "did you mean 'bdeu'?"),
        ({"method": "notears", "score": "bic"}, "takes no score"),
        ({"method": "tabu", "options": {"patience": "-1"}}, "option 'patience' must be at least"),
        ({"method": "tabu", "options": {"patience": 3}}, "takes a text"),
        ({"method": "tabu", "options": {"zebra": "3"}}, "has no option 'zebra'"),
        ({"method": "tabu", "options": {"start": "/etc/passwd"}}, "takes the name of a file"),
        ({"method": "best"}, "needs the option"),
        ({"seed": -1}, "“seed” must be a whole number"),
        ({"seed": "1"}, "“seed” must be a whole number"),
        ({"time_limit": 0}, "“seconds at most” must be a positive number"),
        ({"knowledge": "/etc/passwd"}, "knowledge is an object"),
        ({"knowledge": {"required": [["season", "soil"]], "forbidden": [["season", "soil"]]}}, "both required and forbidden"),
        ({"knowledge": {"required": [["a", "b"], ["b", "a"]]}}, "cannot all be there"),
        ({"knowledge": {"zebra": 1}}, "unknown key 'zebra'"),
        ({"reading": {"missing": "perhaps"}}, "“missing values” must be one of"),
        ({"reading": {"drop": "season"}}, "drop takes a list"),
        ({"reading": {"na": "\ud800"}}, "half of a letter"),
        ({"reading": {"discretise": "width", "bins": 0}}, "bins must be at least 2"),
        ({"reading": {"discretise": "width", "bins": 1}}, "bins must be at least 2"),
        ({"reading": {"separator": "ab"}}, ""),
        ({"reading": {"path": "/etc/passwd"}}, "reading has no 'path'"),
        ({"bootstrap": 1}, "the number of samples must be a whole number from 2"),
        ({"bootstrap": True}, "the number of samples must be a whole number from 2"),
        ({"bootstrap": 2.5}, "the number of samples must be a whole number from 2"),
        ({"method": "fci", "bootstrap": 5}, "returns a PAG"),
        ({"path": "/etc/passwd"}, "a request has no 'path'"),
    ],
)  # fmt: skip
def test_bad_requests_get_one_line(client: Client, asked: dict, said: str) -> None:
    answer = client.post("/api/learn", asked)
    if said:
        assert (answer.status, said in answer.error) == (400, True), answer.body
    else:  # known when the table is read
        assert client.post("/api/look", asked["reading"]).status == 400
        assert "separator must be one character" in client.finished()["error"]
    assert client.get("/api/state").json["run"] is None


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"\xff", b'{"seed": NaN}', b"[" * 100_000])
def test_bodies_that_are_no_objects(client: Client, body: bytes) -> None:
    assert client.ask("POST", "/api/learn", body).status == 400


def test_columns_that_are_not_there(client: Client) -> None:
    assert "zebra" in client.post("/api/look", {"drop": ["zebra"]}).error
    assert client.post("/api/learn", {"knowledge": {"required": [["zebra", "soil"]]}}).status == 200
    assert "names 'zebra', which is not a variable" in client.finished()["error"]


def test_nothing_of_that_name(client: Client) -> None:
    for path in (
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/page.py",
        "/api/zebra",
        "/api/results/x",
        f"/api/results/{'1' * 5000}",
        f"/api/compare/1/{'1' * 5000}",
    ):
        assert client.get(path).status == 404, path
    assert client.get("/api/results/999").status == 400
    assert client.ask("PUT", "/api/learn").status == 405


def folders(client: Client) -> list:
    """Those of uploads; reports are files."""
    return [path for path in client.server.session.folder.iterdir() if path.is_dir()]


def test_too_much_is_refused(client: Client) -> None:
    before = client.get("/api/state").json["data"]
    large = b"a,b\n" + b"0,1\n" * MOST_UPLOAD
    assert client.upload(large[: MOST_UPLOAD + 1]).status == 413
    in_pieces = (large[at : at + 10_000] for at in range(0, len(large), 10_000))  # its size is not said
    assert client.upload(in_pieces).status == 413
    assert client.post("/api/learn", {"method": "a" * 2**20}).status == 413
    assert client.get("/api/state").json["data"] == before
    assert folders(client) == [], "nothing is left of it"


@pytest.mark.parametrize("name", ["table.exe", "", "..", "%00", "a" * 3000])
def test_names_of_uploads(client: Client, name: str) -> None:
    assert client.upload(b"a,b\n0,1\n", name).status == 400


@pytest.mark.parametrize("name", ["rows.sqlite", "rows.SQLITE3"])
def test_a_database_is_no_text_of_a_chosen_separator(client: Client, name: str) -> None:
    """Before, the server read it as text, and its worker as a database."""
    refused = client.upload(b"a;b\n1;x\n2;y\n1;y\n", name, query="?separator=%3B")
    assert (refused.status, "is a database of SQLite" in refused.error) == (400, True)


def test_a_long_name_is_cut(client: Client, garden) -> None:
    """File systems count bytes, of which these letters have three each."""
    name = client.upload(garden.read_bytes(), quote("\u8868" * 90 + ".csv")).json["name"]
    assert name == "\u8868" * 65 + ".csv"
    client.server.session.open(garden)


def test_an_upload_cannot_leave_its_folder(client: Client, garden) -> None:
    session = client.server.session
    assert client.upload(garden.read_bytes(), "..%2F..%2Fup%0A.csv").json["name"] == "up_.csv"
    assert session.data.path.parent.parent == session.folder
    assert session.data.path.stat().st_mode & 0o077 == 0
    assert session.folder.stat().st_mode & 0o077 == 0
    wrong = client.upload(b"a;b\n1;2;3\n")
    assert (wrong.status, str(session.folder) in wrong.error) == (400, False)
    session.open(garden)
    assert folders(client) == [], "one table at a time is kept"
    assert garden.exists()


def test_how_an_upload_is_read(client: Client, garden) -> None:
    session = client.server.session
    table = b"a;b\n1;x\n2;y\n1;y\n"
    refused = client.upload(b"a;b\n1;x;y\n2;y\n")
    assert refused.error.endswith("try “cells of text files are separated by: semicolon”")
    assert len(client.upload(table).json["columns"]) == 2
    found = client.upload(table, query="?separator=%3B").json
    assert found["reading"] == client.get("/api/state").json["reading"] == {"separator": ";"}
    assert len(client.post("/api/look", found["reading"]).json["table"]["columns"]) == 2
    assert client.upload(table, "table.txt", "?separator=%3B").status == 200, "it says that this is text"
    assert client.upload(table, "..", "?separator=%3B").status == 400
    assert client.upload(garden.read_bytes(), query="?separator=").json["reading"] == {}, "what the name says"
    assert "no 'path'" in client.upload(table, query="?path=/etc/passwd").error
    assert "drop takes a list" in client.upload(table, query="?drop=a").error
    session.open(garden)


def test_an_uploaded_spreadsheet(client: Client, garden, tmp_path) -> None:
    from tests.data.test_program_files import save_book

    book = save_book(
        tmp_path / "b.xlsx", first=[["a", "b"], ["x", 1], ["y", 2]], second=[["c"], ["u"], ["v"]]
    )
    refused = client.upload(book.read_bytes(), "b.xlsx")
    assert (refused.status, refused.error) == (
        400,
        "it has several sheets: choose one with “sheet of a spreadsheet”; known are first, second",
    )
    found = client.upload(book.read_bytes(), "b.xlsx", "?table=first").json
    assert (found["reading"], found["columns"]) == ({"table": "first"}, ["a", "b"])
    assert len(client.post("/api/look", found["reading"]).json["table"]["columns"]) == 2
    client.server.session.open(garden)


def test_what_the_command_was_told_is_kept_for_a_file_that_is_chosen_on_the_page() -> None:
    session = Session(reading={"missing": "drop", "na": "?", "separator": ";", "drop": ["a"]})
    try:
        assert session.reading_of_upload({"separator": "|"}) == {**session.reading, "separator": "|"}
        session.data = Data(Path("t.csv"), "t.csv")
        assert session.reading_of_upload({}) == {"missing": "drop", "na": "?", "separator": ";"}
    finally:
        session.close()


def tables(folder) -> dict:
    made = {
        "discrete": {"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10},
        "codes": {"a": [0, 1, 2, 1] * 10, "b": [0, 1] * 20},
    }
    made["continuous"] = {"a": [k / 7 for k in range(40)], "b": [k * k / 9 for k in range(40)]}
    made["mixed"] = {"a": made["discrete"]["a"], "b": made["continuous"]["b"]}
    made["holes"] = {"a": ["x", "y", "", "y"] * 10, "b": made["discrete"]["b"]}
    for name, columns in made.items():
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return {name: folder / f"{name}.csv" for name in made}


def test_dropped_rows_leave_no_holes(tmp_path) -> None:
    overview = look_at_file(tables(tmp_path)["holes"], looking_at({}))
    told = Fit(overview, overview).reason_against_score
    score = next(score for score in SCORES if "cells are missing" in told(score))
    assert not Fit(overview, overview, "drop").reason_against_score(score)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["discrete", "codes", "continuous", "mixed", "holes"])
def test_reasons_are_those_of_the_library(kind: str, tmp_path) -> None:
    """What is said not to fit is refused by `learn`, and what fits passes all checks before the search."""
    file = tables(tmp_path)[kind]
    fit = Fit(look_at_file(file, looking_at({})), look_at_file(file, looking_at({}, numbers_for=NUMBERS_FOR)))
    for method in METHODS:
        if reason := fit.reason_against(method):
            if "pip install" not in reason:
                with pytest.raises(DagoraError):
                    dagora.learn(file, method.name)
        else:
            prepare(GivenData(file), method.name, {}, clock=Budget())
    for score in SCORES:
        if fit.reason_against_score(score):
            with pytest.raises(DagoraError):
                dagora.learn(file, "hill-climb", score=score.name)
        else:
            prepared = prepare(GivenData(file), "auto", {}, clock=Budget(), score=score.name)
            make_score(prepared.source.rows, score.name)
    assert fit.to_dict()["default_score"] in fit.advice


def test_a_request_comes_back_as_it_was() -> None:
    asked = parse_request({"method": "tabu", "score": "bdeu", "options": {"ess": "2", "patience": "7"}, "seed": 3,
                       "bootstrap": 50, "reading": {"drop": ["a, b"], "missing": "drop"}, "knowledge": {"tiers": [["c"], ["d"]]}})  # fmt: skip
    assert ExploreRequest.from_dict(asked.to_dict()) == asked
    assert asked.command("t.csv") == (
        "dagora learn t.csv --method tabu --score bdeu --option ess=2.0 --option patience=7 "
        "--drop '\"a, b\"' --missing drop --knowledge knowledge.json --seed 3 --bootstrap 50"
    )
