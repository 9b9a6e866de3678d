"""Sessions of two processes on TLS, measured: few rows and columns here."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dagora.data.keys import split_key
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.private_k2 import scaling
from dagora.papers.private_k2.networks import write_owner
from dagora.papers.private_k2.scaling import K2Session, random_rows


def test_two_owners_hold_the_columns_between_them(tmp_path: Path) -> None:
    rows = random_rows(K2Session(50, 5, 3, "hidden", "rlwe", seed=2))
    seen = {}
    for side in (0, 1):
        table, keys, _ = split_key(write_owner(rows, side, tmp_path / f"{side}.csv"), "ID")
        assert keys == [str(row) for row in range(50)]
        seen |= {name: table.codes(k).tolist() for k, name in enumerate(table.names)}
    assert seen == {name: rows.bits[:, k].tolist() for k, name in enumerate(rows.truth.nodes)}


@pytest.mark.slow
def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "QUICK", {"rlwe": ((40, 2),)})
    monkeypatch.setattr(scaling, "MODES", ("hidden",))
    ran = run("reproduce", "private-k2/scaling", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    report = json.loads(ran.out)
    (table,) = report["tables"]
    (row,) = (dict(zip(table["columns"], row, strict=True)) for row in table["rows"])
    assert (row["n"], row["variables"], row["mode"]) == (40, 2, "hidden")
    parts = row["keys s"] + row["moments s"] + row["search s"]
    assert 0 < parts <= row["seconds"] + 0.01
    assert row["MB to guest"] > row["MB to host"] > 0
    assert row["MB memory"] > 50
    assert row["CPU s"] > 0
    assert report["notes"][-1] == "All 1 sessions gave the graph of K2 in the clear."


def test_a_session_of_each_kind_goes_before_those_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[int, str, str]] = []

    class Stopped(Exception):
        """Instead of two processes."""

    def record(session: K2Session, rows: object) -> None:
        ran.append((session.rows, session.mode, session.crypto))
        if session.rows == 40:
            raise Stopped

    monkeypatch.setattr(scaling, "run_session", record)
    scaling.warm_up.cache_clear()
    cell = {"n": 40, "variables": 2, "limit": 1, "crypto": "rlwe", "seed": 0}
    for mode in ("hidden", "hidden", "adaptive"):
        with pytest.raises(Stopped):
            scaling.measure({**cell, "mode": mode}, Run())
    scaling.warm_up.cache_clear()
    kinds = [("hidden", "rlwe")] * 2 + [("adaptive", "rlwe")]
    assert [rows for rows, *_ in ran] == [100, 40, 40, 100, 40]
    assert [tuple(kind) for rows, *kind in ran if rows == 40] == kinds
    assert [tuple(kind) for rows, *kind in ran if rows == 100] == [kinds[0], kinds[2]]


def test_pictures_and_a_graph_that_is_another() -> None:
    numbers = dict.fromkeys(
        ("seconds", "transfer_seconds", "intersection_seconds", "moments_seconds", "search_seconds",
         "megabytes_to_guest", "megabytes_to_host", "ands", "rounds", "host_cpu", "guest_cpu", "host_memory",
         "guest_memory", "edges"),
        1.0,
    )  # fmt: skip
    cells = [
        MeasuredCell({"n": n, "variables": 4, "mode": "hidden", "crypto": "rlwe"}, {**numbers, "same": same})
        for n, same in ((10, True), (20, False))
    ]
    report = scaling.report(cells)
    assert report.notes[-1].startswith("1 of 2 sessions gave ANOTHER graph")
    assert list(report.pictures) == ["rows"]  # there is one number of variables
    assert report.pictures["rows"].count('id="axes_') == 3
