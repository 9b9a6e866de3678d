"""Whoever writes arguments of a command, or a file that it takes, wants it to end by anything but one line.

A script that passes on what others wrote is enough: numbers beyond all numbers, line breaks, empty halves.
"""

import json

import numpy as np
import pytest

import dagora
from dagora.base.phrases import comma_list, split_list
from dagora.data.columns.odd_values import lone_values
from dagora.network.time.trajectory import Trajectory, TrajectorySeries

HUGE = "9" * 400
GAUSSIAN = {
    "kind": "gaussian",
    "nodes": ["a", "a[t-1]"],
    "edges": [["a[t-1]", "a"]],
    "intercepts": {"a": 0.0, "a[t-1]": 0.0},
    "coefficients": {"a": {"a[t-1]": 30.0}, "a[t-1]": {}},
    "sds": {"a": 1.0, "a[t-1]": 1.0},
}
COIN = {
    "kind": "discrete", "nodes": ["u"], "edges": [], "levels": {"u": ["p", "q"]}, "tables": {"u": [0.5, 0.5]},
}  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """A network in time that grows thirtyfold a step, a coin, and rows."""
    (tmp_path / "grows.json").write_text(json.dumps(GAUSSIAN))
    (tmp_path / "coin.json").write_text(json.dumps(COIN))
    rows = ["t,a", *(f"{k},{k % 3}" for k in range(40))]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        ("forecast", "grows.json", "rows.csv", "--time", "t", "--do", "a=1e308@t+1"),
        ("forecast", "grows.json", "rows.csv", "--time", "t", "--steps", "400", "--json"),
        ("forecast", "grows.json", "rows.csv", "--time", "t", "--steps", "99999999999999999999"),
        ("forecast", "grows.json", "rows.csv", "--time", "t", "--draws", "99999999999999999999"),
        ("query", "coin.json", "P(u)", "--samples", "99999999999999999999", "--method", "sampling"),
        ("query", "coin.json", "P(u)", "--memory", HUGE),
        ("query", "coin.json", "P(u)", "--likelihood", "u="),
        ("query", "coin.json", "P(u)", "--soft", "u=,"),
        ("adjust", "coin.json", "--from", "u", "--to", "u", "--set", "a\nb"),
        ("check", "coin.json", "--separated", "u", "--given", "a\nb"),
        ("check", "coin.json", "--separated", "a\rb"),
        ("learn", "rows.csv", "--drop", "a\nb"),
    ],
)
def test_arguments_that_ended_a_command_with_a_traceback(run, files, line):
    told = run(line[0], *(files / word if word.endswith((".json", ".csv")) else word for word in line[1:]))
    assert told.code == 2
    (_error,) = (said for said in told.err.splitlines() if said.startswith("dagora: error: "))
    assert "Warning" not in told.err


def test_a_list_of_names_holds_any_name():
    """Python's csv refuses line breaks outside of quotes, and names beyond 131,072 letters."""
    names = ["a,b", 'say "so"', "two\nlines", "x" * 200_000, "plain"]
    assert split_list(comma_list(names)) == names
    assert split_list("a\nb, c\r") == ["a\nb", "c"]
    assert split_list('"open, and so on') == ["open, and so on"]


def test_a_trajectory_beyond_all_numbers_is_refused():
    one = {"x": np.array([1.0, np.inf])}
    with pytest.raises(dagora.DagoraError, match="'x' grows beyond all numbers"):
        Trajectory("forecast", ("x",), {}, (TrajectorySeries("", ("1", "2"), (1, 2), one, one, one, one),))


@pytest.mark.filterwarnings("error")
def test_numbers_so_far_apart_that_their_ratio_is_no_number():
    """A damaged file of Stata brought a warning of numpy's to the screen."""
    numbers = np.concatenate([np.zeros(30), np.linspace(1, 2, 40) * 5e-324, [1e-300, 1e300]])
    assert lone_values(numbers)[0] == (1e300,)


def test_levels_that_seem_the_same_do_not_fill_a_screen(run, tmp_path):
    """Before, a thousand pairs of levels were one line of 30,000 letters."""
    levels = [f"{name}{k}" for k in range(1000) for name in ("Ab", "aB")]
    (tmp_path / "t.csv").write_text(
        "u,v\n" + "".join(f"{level},{k % 2}\n" for k, level in enumerate(levels * 3))
    )
    told = run("inspect", tmp_path / "t.csv")
    assert told.code == 0
    assert "seem to be the same" in told.err + told.out
    assert max(map(len, (told.err + told.out).splitlines())) < 2000
