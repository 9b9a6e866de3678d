"""Errors carry what is wrong, and each door writes it; what is neutral never reaches a user."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError, OptionError, ProtocolError, speaking
from dagora.base.files import naming
from dagora.base.wording import BEGIN, COMMAND, NEXT, PYTHON, by_door, option, render, setting
from dagora.data.columns.intervals import check_intervals
from dagora.explore.page_words import PAGE
from dagora.network.drawing import check_rows, seed_sequence
from tests.conftest import PRIVATE_USE

SENTENCE = f"{option('missing', 'drop')}, {setting('ess', 10)} or {by_door(python='fit', command='`dagora`')}"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (PYTHON, 'missing="drop", ess=10 or fit'),
        (COMMAND, "--missing drop, --option ess=10 or `dagora`"),
        (PAGE, "“missing values: drop their rows”, “options: ess = 10” or `dagora`"),
    ],
)
def test_each_door_writes_the_same_error_in_its_words(words: Any, text: str) -> None:
    error = DataError(SENTENCE)
    assert error.render(words) == text
    with speaking(words):
        assert str(error) == text
        assert str(pickle.loads(pickle.dumps(error))) == text
    assert str(error) == 'missing="drop", ess=10 or fit'
    assert error.options == [("missing", "drop"), ("ess", "10")]


def test_an_error_that_leaves_a_door_keeps_its_words() -> None:
    words = COMMAND.lacking("drop", "here")
    with pytest.raises(DataError) as caught, speaking(COMMAND), speaking(words), naming("a.csv"):
        raise DataError(f"leave it out ({option('drop', 'age')})")
    assert str(caught.value) == "a.csv: leave it out (here)"


def test_errors_are_built_from_parts() -> None:
    error = OptionError(option="max_parents", value=-1, must="be a whole number, 0 or more")
    assert str(error) == "max_parents must be a whole number, 0 or more, not -1"
    assert error.render(COMMAND).startswith("--max-parents must be")
    again = pickle.loads(pickle.dumps(error))
    assert (again.option, again.value, again.must) == ("max_parents", -1, "be a whole number, 0 or more")
    with pytest.raises(DagoraError) as caught:
        dagora.learn({"a": [0, 1]}, seed=-1)
    assert (caught.value.option, caught.value.value) == ("seed", -1)
    assert not PRIVATE_USE.search(repr(error) + str(error.args))


def test_more_text_around_an_error_keeps_its_parts(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught, naming("a.csv"):
        raise OptionError(option="bins", value=1, must="be 2 or more")
    error = caught.value
    assert (error.option, error.value, error.must) == ("bins", 1, "be 2 or more")
    assert error.render(COMMAND) == "a.csv: --bins must be 2 or more, not 1"
    assert error.args == ("a.csv: bins must be 2 or more, not 1",)
    with pytest.raises(ProtocolError) as failed, naming("a.log"):
        raise ProtocolError("left", party="bob")
    assert failed.value.party == "bob"
    file = tmp_path / "a.csv"
    file.write_text("x,y\n1,2\n,3\n")
    with pytest.raises(DataError) as refused, speaking(COMMAND):
        dagora.read_table(file)
    assert refused.value.column == "x"
    assert str(refused.value).startswith(f"{file}: ")
    assert "--missing drop" in str(refused.value)
    assert ("missing", "drop") in refused.value.options


def with_column(values: list[Any], **options: Any) -> Callable[[], object]:
    return lambda: dagora.learn({"ok": [0, 1] * 6, "odd one": values}, **options)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "mistake",
    [
        with_column([1.5, float("inf")] * 6),
        with_column(["a", None] * 6, missing="error"),
        with_column(["a", "b"] * 6, continuous="odd one"),
        with_column([0, 1] * 6, discrete="odd one", continuous="odd one"),
        with_column([2.5] * 12, score="bic-gaussian", continuous="all"),
        with_column(["a", "b"] * 6, discretise="mean", drop="ok", missing="level", discrete="odd"),
        with_column([{"a": 1}, 2] * 6),
        lambda: dagora.learn({"ok": [0, 1]}, drop="odd one"),
        lambda: dagora.Table.from_numpy([[0.5]], ["odd one"]).codes(0),
    ],
)
def test_an_error_names_the_column_at_fault(mistake: Callable[[], object]) -> None:
    with pytest.raises(DagoraError) as caught:
        mistake()
    assert caught.value.column in {"odd one", "odd"}
    assert f"column '{caught.value.column}'" in str(caught.value)
    assert not PRIVATE_USE.search(str(caught.value) + repr(caught.value))
    assert pickle.loads(pickle.dumps(caught.value)).column == caught.value.column


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("mistake", "flag"),
    [
        (lambda: dagora.Knowledge(max_parents=-1), "--max-parents must be a whole number, 0 or more, not -1"),
        (
            lambda: dagora.Knowledge(required=[("a", "b")], max_parents=0),
            "'b' has 1 required parents, but --max-parents is 0",
        ),
        (lambda: check_rows(0), "--rows must be a whole number of at least 1, not 0"),
        (lambda: seed_sequence(-1), "--seed must be a whole number of at least 0, not -1"),
        (lambda: check_intervals("width", 1), "--bins must be a whole number from 2 to 10000, not 1"),
        (lambda: dagora.learn(dagora.Table.from_numpy([[0.5]], ["a"]), discrete="a"), "--discrete cannot change a table"),
        (lambda: dagora.learn({"a": [0, 1]}, drop=3), "--drop takes the names of columns, not 3"),
    ],
)  # fmt: skip
def test_options_at_fault_are_spelled_as_at_the_door(mistake: Callable[[], object], flag: str) -> None:
    with pytest.raises(DagoraError) as caught, speaking(COMMAND):
        mistake()
    assert str(caught.value).startswith(flag)


def test_no_column_where_none_is_at_fault() -> None:
    assert DataError("there are no rows").column is None
    assert DataError(f"{BEGIN}no mention\ue002").options == []


def test_the_consequence_ends_the_line() -> None:
    error = ProtocolError(f"leave {option('score')} out", party="bob")
    error.consequence = "; nothing was sent"
    with speaking(COMMAND):
        assert str(error) == f"{error.message}; nothing was sent" == "leave --score out; nothing was sent"
    assert pickle.loads(pickle.dumps(error)).party == "bob"


def test_mentions_within_mentions_and_texts_that_look_alike() -> None:
    nested = by_door(python=f"give {option('score')}", command=f"give {option('score', 'bic')}")
    assert (render(nested), render(nested, COMMAND)) == ("give score", "give --score bic")
    for own in (BEGIN, f"{BEGIN}x{NEXT}", f"{BEGIN}no{NEXT}such\ue002"):
        assert render(own) == own


def test_threads_speak_as_the_door_that_started_them() -> None:
    with speaking(COMMAND), ThreadPoolExecutor(1) as pool:
        assert pool.submit(render, option("score")).result() == "score"
        assert pool.submit(copy_context().run, render, option("score")).result() == "--score"


@pytest.fixture
def odd_table(tmp_path: Path) -> Path:
    """A table about which there is a lot to say."""
    random = np.random.default_rng(1)
    rows = ["id,codes,job,x,total,half"]
    for k in range(120):
        x, half = random.normal(), random.normal()
        job = random.choice(["baker", "smith", "?", "NA"])
        rows.append(f"{1000 + 7 * k},{random.integers(0, 40)},{job},{x:.6f},{x + half:.6f},{half:.6f}")
    file = tmp_path / "odd.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


@pytest.mark.full
def test_nothing_neutral_reaches_a_user(run: Callable[..., Any], odd_table: Path, tmp_path: Path) -> None:
    """The fixture `run` looks at what is printed; here, also at what is written."""
    result, report = tmp_path / "result.json", tmp_path / "report.html"
    ran = run("learn", odd_table, "-o", result, "--report", report, "--bootstrap", 3)
    assert "--na" in ran.err
    for arguments in (
        ("inspect", odd_table),
        ("inspect", odd_table, "--json"),
        ("learn", odd_table, "--scan", "--json"),
        ("sample", odd_table, "--chains", 1, "--draws", 20, "--json"),
        ("learn", odd_table, "--max-parents", -1),
        ("learn", odd_table, "--score", "bdeu"),
    ):
        assert run(*arguments).out + run(*arguments).err
    for file in (result, report):
        text = file.read_text(encoding="utf-8")
        assert not PRIVATE_USE.search(text)
        assert not [code for code in ("\\ue000", "\\ue001", "\\ue002") if code in text]
        assert "--na" in text
    with pytest.warns(dagora.DagoraWarning) as caught:
        found = dagora.learn(odd_table)
    texts = [*map(str, caught), found.to_json(), repr(found), *found.warnings, found.message]
    assert not PRIVATE_USE.search("".join(texts))
    assert any('na="none"' in warning for warning in found.warnings)
    assert not PRIVATE_USE.search(str(dagora.inspect(odd_table)) + str(dagora.methods("best")))


def test_marks_in_a_users_text_do_not_break_a_mention() -> None:
    mentioned = option("drop", "n\ue000a\ue001m\ue002e")
    assert render(f"leave it out ({mentioned})") == r"leave it out (drop=['n\ue000a\ue001m\ue002e'])"


def test_an_error_about_a_value_that_cannot_be_pickled_can() -> None:
    error = OptionError(option="seed", value=lambda: 0, must="be a whole number")
    assert "seed must be a whole number" in str(pickle.loads(pickle.dumps(error)))
