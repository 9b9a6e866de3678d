"""The front door of private K2: what two tables with a key give is what the joined table gives."""

import json

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.api.learn_private import learn_private
from dagora.base.errors import DataError, DisagreementError, OptionError
from dagora.data.table import Table
from dagora.formats.registry import read_network
from dagora.learners.result import Result
from dagora.network.sample import sample_network
from dagora.parties.vertical import private_session


def with_key(table, names):
    """Some columns of a table as a frame, with a key for each row."""
    part = table.select(names)
    columns = {v.name: [v.levels[c] for c in part.codes(k)] for k, v in enumerate(part.schema)}
    return pd.DataFrame({"ID": [f"p{i}" for i in range(part.n_rows)], **columns})


@pytest.mark.parametrize("mode", ["hidden", "adaptive"])
def test_asia(data_dir, mode):
    table = sample_network(read_network(data_dir / "networks" / "asia.bif.gz"), 700, seed=3)
    host, guest = table.names[::2], table.names[1::2]
    order = ",".join(table.names[::-1])
    central = dagora.learn(table, "k2", score="k2", order=order, max_parents=2)
    result = learn_private(
        with_key(table, host).sample(frac=1.0, random_state=1),
        with_key(table, guest).sample(frac=1.0, random_state=2),
        "ID",
        order=order,
        max_parents=2,
        mode=mode,
    )
    assert set(result.graph.edges) == set(central.graph.edges)
    assert len(result.graph.edges) > 3
    assert result.method == "private-k2"
    assert result.settings["mode"] == mode
    assert result.settings["order"] == list(table.names[::-1])
    assert result.stats["rows"] == 700.0
    assert result.stats["bytes_to_guest"] > 1e5
    assert result.stats["rounds"] > 3
    assert {"agreement", "transfer", "intersection", "moments", "search", "result"} == {
        key.removesuffix("_seconds") for key in result.stats if key.endswith("_seconds")
    }
    assert len(result.settings["leakage"]) == 4
    again = Result.from_json(result.to_json())
    assert again.graph == result.graph
    assert json.loads(result.to_json())["settings"]["leakage"] == result.settings["leakage"]


@pytest.mark.parametrize(
    ("mode", "limit", "columns"),
    [
        ("hidden", 1, 20),
        pytest.param("hidden", 1, 37, marks=pytest.mark.slow),
        pytest.param("adaptive", 2, 37, marks=pytest.mark.slow),
    ],
)
def test_alarm_in_two_levels(data_dir, mode, limit, columns):
    table = sample_network(read_network(data_dir / "networks" / "alarm.bif.gz"), 400, seed=1)
    half = [max(1, variable.cardinality // 2) for variable in table.schema]
    bits = np.column_stack([table.codes(k) >= half[k] for k in range(len(half))]).astype(int)
    joined = Table.from_numpy(bits, names=table.names, discrete=table.names).select(table.names[:columns])
    order = ",".join(joined.names)
    central = dagora.learn(joined, "k2", score="k2", order=order, max_parents=limit)
    result = learn_private(
        with_key(joined, joined.names[::2]),
        with_key(joined, joined.names[1::2]),
        "ID",
        order=order,
        max_parents=limit,
        mode=mode,
    )
    assert set(result.graph.edges) == set(central.graph.edges)
    assert len(result.graph.edges) > 0.6 * columns


def table(name, cells=(0, 1, 0, 1), first=0):
    rows = [[first + k, cell] for k, cell in enumerate(cells)]
    return Table.from_numpy(rows, names=["ID", name], discrete=["ID", name])


def test_the_line_is_that_of_the_party_at_fault():
    with pytest.raises(DataError, match="column 'b' has 6 levels"):
        learn_private(table("a"), table("b", (0, 1, 2, 3, 4, 5)), "ID")
    with pytest.raises(DataError, match="column 'b' has 1 level"):
        learn_private(table("a"), table("b", (0, 0, 0)), "ID")
    with pytest.raises(DisagreementError, match="have 4 keys in common: at least 9 are needed"):
        learn_private(table("a"), table("b"), "ID", min_rows=9)
    with pytest.raises(DisagreementError, match="both parties have a column 'a'"):
        learn_private(table("a"), table("a"), "ID")
    with pytest.raises(DisagreementError, match="option 'order' must name every variable once: 'b'"):
        learn_private(table("a"), table("b"), "ID", order="a")
    with pytest.raises(OptionError, match="option 'mode' must be hidden or adaptive"):
        learn_private(table("a"), table("b"), "ID", mode="open")
    with pytest.raises(DisagreementError, match="no key in common"):
        learn_private(table("a"), table("b", first=50), "ID")


@pytest.mark.parametrize("faulty", ["host", "guest"])
def test_the_error_raised_is_that_of_the_party_that_failed_first(monkeypatch, faulty):
    original = private_session.private_k2

    def fail(transport, role, *arguments, **options):
        if role == faulty:
            raise MemoryError("too little")
        return original(transport, role, *arguments, **options)

    monkeypatch.setattr(private_session, "private_k2", fail)
    with pytest.raises(MemoryError, match=r"^too little$"):
        learn_private(table("a"), table("b"), "ID")


def test_a_repeated_key_is_refused():
    frame = pd.DataFrame({"ID": ["x", "x"], "a": ["0", "1"]})
    with pytest.raises(DataError, match="column 'ID': rows 1 and 2 have the same key"):
        learn_private(frame, table("b"), "ID")


def frame(name, codes, levels, declared=()):
    cells = pd.Categorical([levels[code] for code in codes], [*levels, *declared])
    return pd.DataFrame({"ID": range(len(codes)), name: cells})


def test_declared_levels_that_no_row_has_are_not_counted():
    b = table("b")
    with pytest.warns(dagora.DagoraWarning, match="'a': 1 declared level that no row has: not counted"):
        result = learn_private(frame("a", (0, 1, 1, 0), "pq", ["never"]), b, "ID")
    assert result.settings["levels"] == {"a": 2, "b": 2}
    with (
        pytest.warns(dagora.DagoraWarning, match="no row has"),
        pytest.raises(DataError, match="column 'a' has 1 level,"),
    ):
        learn_private(frame("a", (0, 0, 0, 0), "p", ["never"]), b, "ID")


@pytest.mark.parametrize("owner", [0, 1])
def test_a_level_without_a_common_row_warns_its_owner(owner):
    both = [frame("a", (0, 1, 1, 0, 2), "pqr"), table("b")]
    with pytest.warns(dagora.DagoraWarning, match="'a' has 3 levels, of which no common row has 1: K2"):
        result = learn_private(both[owner], both[1 - owner], "ID")
    told = [warning for warning in result.warnings if "no common row" in warning]
    assert len(told) == 1 - owner  # the result is the host's


def test_what_a_party_has_of_its_own_is_refused_before_anything_is_sent():
    long = frame("a", (0, 1, 1, 0), ["p" * 501, "q"])
    for levels in ("p" * 501, "\x1b[2J"):
        with pytest.raises(DataError, match="column 'a' has a level whose name is not a printable text"):
            learn_private(frame("a", (0, 1, 1, 0), [levels, "q"]), table("b"), "ID", parameters="open")
    assert learn_private(long, table("b"), "ID").stats["rows"] == 4
    with pytest.raises(OptionError, match="shares"):
        learn_private(long, table("b"), "ID", shares="x.json")
