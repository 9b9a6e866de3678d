"""Three and more owners from Python: what their tables give is what K2 on the joined table gives."""

import pandas as pd
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError, DisagreementError, OptionError
from dagora.formats.registry import read_network
from dagora.learners.result import Result
from dagora.network.sample import sample_network
from dagora.parties.replicated import group_session
from tests.api.test_learn_private import table, with_key

OWNERS = ("ann", "bob", "cleo", "dora")


@pytest.mark.parametrize(("owners", "score"), [(3, "f"), (4, "f"), (3, "g")])
def test_asia(data_dir, owners, score):
    rows = sample_network(read_network(data_dir / "networks" / "asia.bif.gz"), 700, seed=3)
    order = list(rows.names[::-1])
    central = dagora.learn(rows, "k2", score="k2", order=",".join(order), max_parents=2)
    tables = {
        name: with_key(rows, rows.names[place::owners]).sample(frac=1.0, random_state=place)
        for place, name in enumerate(OWNERS[:owners])
    }
    phases = []
    result = dagora.learn_private_group(
        tables,
        "ID",
        order=order,
        max_parents=2,
        score=score,
        on_event=lambda event: phases.append(event.phase),
    )
    assert set(result.graph.edges) == set(central.graph.edges)
    assert len(result.graph.edges) > 3
    assert (result.method, result.status, result.score_name) == ("private-k2", "finished", score)
    assert list(dict.fromkeys(phases)) == ["agreement", "rows", "moments", "search", "result"]
    assert result.settings["owner"] == "ann"
    assert result.settings["owners"] == list(OWNERS[:owners])
    assert result.settings["computing"] == list(OWNERS[:3])
    assert result.settings["order"] == order
    assert result.settings["columns"] == {name: list(frame.columns[1:]) for name, frame in tables.items()}
    assert result.stats["rows"] == 700.0
    assert result.stats["rounds"] > 3
    assert min(result.stats[f"bytes_to_{name}"] for name in OWNERS[1:owners]) > 100
    assert result.settings["leakage"]
    again = Result.from_json(result.to_json())
    assert again.graph == result.graph
    assert again.settings == result.settings


def three(**changed):
    return {
        "ann": table("a", [0, 1] * 6),
        "bob": table("b", [0, 1] * 6),
        "cleo": table("c", [0, 0, 1] * 4),
    } | changed


@pytest.mark.parametrize(
    ("tables", "options", "error", "line"),
    [
        (list(three().values()), {}, DataError, "a mapping from an owner's name to its table, not as list"),
        ({"ann": 1, "bob": 2}, {}, OptionError, "there are 2 tables, and three are needed: two are for learn_private"),
        (three(cleo=None), {}, DataError, "NoneType"),
        (three(cleo=table("c", [0, 1, 2] * 4)), {}, DataError, "column 'c' has 3 levels, but this takes columns of two"),
        (three(bob=table("b", [0] * 12)), {}, DataError, "column 'b' has 1 level"),
        (three(bob=table("a", [0, 1] * 6)), {}, DisagreementError, "'ann' and 'bob' both have a column 'a'"),
        (three(bob=table("b", [0, 1] * 5)), {}, DisagreementError, "'ann' has 12 rows and 'bob' has 10"),
        (three(bob=table("b", [0, 1] * 6, 1)), {}, DisagreementError, "the owners do not have the same keys"),
        (three(), {"key": "nr"}, DataError, "nr"),
        (three(), {"min_rows": 13}, DisagreementError, "the owners have 12 rows, fewer than the 13"),
        (three(), {"min_rows": 1}, OptionError, "option 'min_rows' must be from 2"),
        (three(), {"order": "a,b"}, DisagreementError, "option 'order' must name every variable once: 'c'"),
        (three(), {"max_parents": 0}, OptionError, "option 'max_parents'"),
        (three(), {"score": "bic"}, OptionError, "option 'score'"),
        (three(), {"mode": "adaptive"}, OptionError, "learn_private_group has no option 'mode'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_one_line(tables, options, error, line):
    with pytest.raises(error) as refused:
        dagora.learn_private_group(tables, **{"key": "ID", **options})
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("faulty", ["ann", "cleo"])
def test_the_error_raised_is_that_of_the_owner_that_failed_first(monkeypatch, faulty):
    original = group_session.group_k2

    def fail(transport, *arguments, **options):
        if transport.name == faulty:
            raise MemoryError("too little")
        return original(transport, *arguments, **options)

    monkeypatch.setattr(group_session, "group_k2", fail)
    with pytest.raises(MemoryError, match=r"^too little$"):
        dagora.learn_private_group(three(), "ID")


def test_files_and_missing_cells(tmp_path):
    for name, each in three().items():
        frame = pd.DataFrame(
            {"ID": each.codes(0), each.names[1]: [f"level {code}" for code in each.codes(1)]}
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = {name: tmp_path / f"{name}.csv" for name in three()}
    expected = dagora.learn_private_group(three(), "ID").graph
    assert dagora.learn_private_group(files, "ID").graph == expected
    holes = pd.read_csv(files["bob"])
    holes.loc[3, "b"] = None
    holes.to_csv(files["bob"], index=False)
    with pytest.raises(DagoraError, match=r"bob\.csv.*1 cell is missing"):
        dagora.learn_private_group(files, "ID")
    with pytest.raises(DisagreementError, match="'ann' has 12 rows and 'bob' has 11"):
        dagora.learn_private_group(files, "ID", missing="drop")
