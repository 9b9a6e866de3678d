"""What commands write: parameters in JSON, names checked before learning, and all that can be written."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.errors import FormatError
from dagora.cli.outputs import check_output
from dagora.data.readers import read_table
from dagora.learners.result import Result
from dagora.network.fit import fit
from tests.formats.format_oracles import assert_same_network

FULL = Path("/dev/full")


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """A table of continuous columns with names that need quotes."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = 2 * a + rng.normal(size=300)
    lines = ['"a, ""b""",größe', *(f"{x},{y}" for x, y in zip(a, b, strict=True))]
    (tmp_path / "numbers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "numbers.csv"


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_json_holds_the_parameters_to_the_last_bit(
    run: Callable, garden: Path, numbers: Path, tmp_path: Path, kind: str
) -> None:
    data = garden / "garden.csv" if kind == "discrete" else numbers
    assert run("learn", data, "-o", tmp_path / "net.json").code == 0
    result = Result.from_json((tmp_path / "net.json").read_text(encoding="utf-8"))
    assert result.graph == dagora.read_graph(tmp_path / "net.json")
    network = dagora.read_network(tmp_path / "net.json")
    expected = fit(result.graph, read_table(data), pseudocount="one-row", name="learned")
    assert_same_network(network, expected)
    dagora.write_network(network, tmp_path / "again.json")
    assert_same_network(dagora.read_network(tmp_path / "again.json"), expected)
    ran = run("convert", tmp_path / "net.json", tmp_path / "net.bif")
    if kind == "discrete":
        assert_same_network(dagora.read_network(tmp_path / "net.bif"), expected)
    else:
        assert ran.code == 2
        assert "BIF holds discrete networks only" in ran.err


def test_intervals_with_quotes_reach_bif(run: Callable, numbers: Path, tmp_path: Path) -> None:
    assert run("learn", numbers, "--discretise", "quantile", "-o", tmp_path / "net.bif").code == 0
    network = dagora.read_network(tmp_path / "net.bif")
    assert network.graph.nodes == ('a, "b"', "größe")
    assert network.levels["größe"][0].startswith("(-inf, ")
    assert (tmp_path / "net.bif").read_text(encoding="ascii").count("from_-inf_to_") > 1


def test_json_says_why_it_has_no_parameters(run: Callable, garden: Path, tmp_path: Path) -> None:
    ran = run("learn", garden / "garden.csv", "--method", "ges", "-o", tmp_path / "net.json")
    assert ran.code == 0
    reason = "a CPDAG stands for many networks"
    assert f"dagora: note: {tmp_path / 'net.json'} has no parameters: {reason}" in ran.err
    assert json.loads((tmp_path / "net.json").read_text())["no_parameters"].startswith(reason)
    with pytest.raises(FormatError, match=r"holds a graph without parameters \(a CPDAG"):
        dagora.read_network(tmp_path / "net.json")


def test_large_tables_are_left_out_of_json_and_said(
    run: Callable, garden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dagora.api.fitted_parameters.MOST_CELLS", 5)
    ran = run("learn", garden / "garden.csv", "-o", tmp_path / "net.json")
    assert "the tables have more than 5 entries; -o network.bif writes them" in ran.err


def test_names_and_methods_are_checked_before_learning(run: Callable, garden: Path, tmp_path: Path) -> None:
    ran = run("learn", garden / "garden.csv", "--method", "ges", "-o", tmp_path / "net.bif")
    assert (ran.code, "the CPDAG that ges returns cannot have" in ran.err) == (2, True)
    with pytest.raises(FormatError, match=r"g\.graphml: XML cannot hold the name"):
        check_output(str(tmp_path / "g.graphml"), ("a\x00",), None)
    with pytest.raises(FormatError, match="cannot be written as UTF-8"):
        check_output(str(tmp_path / "g.dot"), ("a\ud800",), None)
    check_output(str(tmp_path / "g.dot"), ("a\x00", '"'), None)


@pytest.mark.full
@pytest.mark.skipif(not FULL.exists(), reason="needs the device /dev/full")
@pytest.mark.parametrize("command", ["learn", "sample"])
def test_a_full_disk_costs_one_file(run: Callable, garden: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "net.json").symlink_to(FULL)
    (tmp_path / "p.svg").symlink_to(FULL)
    more = ("--draws", "20", "--chains", "2") if command == "sample" else ()
    output = ("-o", tmp_path / "net.json", "--picture", tmp_path / "p.svg", "--report", tmp_path / "r.html")
    ran = run(command, garden / "garden.csv", *more, *output, "--json", "--quiet")
    assert ran.code == 2
    assert (tmp_path / "r.html").stat().st_size > 1000
    assert json.loads(ran.out)["nodes"]
    lines = [line for line in ran.err.splitlines() if line.startswith("dagora: error: ")]
    failed = "; ".join(
        f"cannot write {tmp_path / name}: no space left on device: free some space, or write elsewhere"
        for name in ("net.json", "p.svg")
    )
    assert lines == [f"dagora: error: {failed}"]


@pytest.mark.full
def test_a_folder_that_goes_while_learning_costs_its_file(
    run: Callable, garden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    learn = dagora.api.learn.learn

    def learn_and_remove(*arguments: object, **options: object) -> Result:
        (tmp_path / "gone").rmdir()
        return learn(*arguments, **options)

    monkeypatch.setattr("dagora.api.learn.learn", learn_and_remove)
    target, picture = tmp_path / "gone" / "net.bif", tmp_path / "p.svg"
    ran = run("learn", garden / "garden.csv", "-o", target, "--picture", picture)
    assert ran.code == 2
    assert "BIC" in ran.out.upper()
    assert f"written: {picture}" in ran.err
    assert f"written: {target}" not in ran.err
    assert ran.err.endswith(f"dagora: error: cannot write {target}: there is no folder '{target.parent}'\n")


def test_a_truth_that_bif_cannot_hold_is_refused_before_anything_is_written(
    run: Callable, tmp_path: Path
) -> None:
    random = ("simulate", "--nodes", "3", "--degree", "1", "--sem", "gaussian", "--rows", "9")
    ran = run(*random, "-o", tmp_path / "d.csv", "--truth", tmp_path / "t.bif")
    assert (ran.code, "has no tables for BIF" in ran.err, list(tmp_path.iterdir())) == (2, True, [])
