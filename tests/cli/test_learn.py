"""`dagora learn`: one JSON object, every output format, pictures, knowledge, and how it is stopped."""

import json
import math
import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.network.networks import DiscreteNetwork

CONTRACT = {
    "method", "score_name", "score", "status", "message", "nodes", "edges", "undirected", "seconds", "stats",
    "settings", "seed", "versions",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """What should be done in a moment shows no progress, even where it takes longer than that."""
    monkeypatch.setattr("dagora.cli.live_line.FIRST_SECONDS", math.inf)


def test_json_is_the_contract(run: Callable, garden: Path) -> None:
    ran = run("learn", garden / "garden.csv", "--json")
    assert ran.code == 0
    assert not ran.err
    assert ran.out.count("\n") == 1, "one object on one line"
    content = json.loads(ran.out)
    assert content.keys() >= CONTRACT
    assert (content["method"], content["score_name"], content["seed"]) == ("auto", "bic", 0)
    assert content["status"] == "finished"
    assert content["message"]
    assert content["undirected"] == []
    assert content["versions"].keys() >= {"dagora", "numpy", "python"}
    result = dagora.learn(dagora.read_table(garden / "garden.csv"))
    assert content["nodes"] == list(result.graph.nodes)
    assert content["edges"] == [list(edge) for edge in result.graph.edges]
    assert content["score"] == result.score
    assert content["stats"] == dict(result.stats)


def test_people_get_the_same_in_words(run: Callable, garden: Path) -> None:
    content = json.loads(run("learn", garden / "garden.csv", "--json").out)
    ran = run("learn", garden / "garden.csv", "--truth", garden / "garden.bif")
    assert ran.code == 0
    result = dagora.Result.from_dict(content)
    assert result.open_edges
    assert all(f"  {tail} → {head}\n" in ran.out for tail, head in result.shown_graph.edges)
    assert all(f"  {tail} — {head}\n" in ran.out for tail, head in result.shown_graph.undirected)
    assert f"\n{result.describe_directions()}\n" in ran.out
    assert f"bic: {content['score']:.4f}" in ran.out
    assert "SHD" in ran.out
    assert "CPDAG" in ran.out


def test_flags_reach_the_learner(run: Callable, garden: Path, tmp_path: Path) -> None:
    knowledge = {"required": [["harvest", "growth"]], "forbidden": [["season", "light"]], "max_parents": 3}
    (tmp_path / "k.json").write_text(json.dumps(knowledge))
    line = (
        "--method tabu --score bdeu --option ess=10 --option length=20 --option restarts=2 --max-parents 2 "
        "--seed 7 --time-limit 60 --jobs 2"
    )
    ran = run("learn", garden / "garden.csv", *line.split(), "--knowledge", tmp_path / "k.json", "--json")
    content = json.loads(ran.out)
    assert (content["method"], content["score_name"], content["seed"]) == ("tabu", "bdeu", 7)
    settings = content["settings"]
    assert (settings["ess"], settings["length"], settings["restarts"], settings["time_limit"]) == (
        10.0,
        20,
        2,
        60.0,
    )
    assert settings["knowledge"] == {**knowledge, "max_parents": 2}
    assert ["harvest", "growth"] in content["edges"]
    assert ["season", "light"] not in content["edges"]
    heads = [head for _, head in content["edges"]]
    assert max(map(heads.count, heads)) == 2
    expected = dagora.learn(
        garden / "garden.csv", "tabu", score="bdeu", ess=10, length=20, restarts=2, max_parents=2, seed=7,
        knowledge=knowledge,
    )  # fmt: skip
    assert content["score"] == expected.score
    assert content["edges"] == [list(edge) for edge in expected.graph.edges]


def test_start_graph_from_a_file(run: Callable, garden: Path) -> None:
    line = (
        "--method",
        "tabu",
        "--option",
        f"start={garden / 'garden.bif'}",
        "--option",
        "max_steps=0",
        "--json",
    )
    content = json.loads(run("learn", garden / "garden.csv", *line).out)
    truth = dagora.read_graph(garden / "garden.bif")
    assert sorted(map(tuple, content["edges"])) == sorted(truth.edges)
    assert content["status"] == "step-limit"


@pytest.mark.parametrize(
    "name",
    [
        "g.json",
        "g.bif",
        "g.dot",
        "g.gv",
        "g.graphml",
        "g.csv",
        "g.dagitty",
        "g.json.gz",
        "g.bif.gz",
        "g.dot.gz",
    ],
)
def test_every_output_format_holds_the_learned_graph(
    run: Callable, garden: Path, tmp_path: Path, name: str
) -> None:
    ran = run("learn", garden / "garden.csv", "--method", "hill-climb", "--json", "-o", tmp_path / name)
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    graph = dagora.read_graph(tmp_path / name)
    assert sorted(graph.nodes) == sorted(content["nodes"])
    assert sorted(graph.edges) == sorted(map(tuple, content["edges"]))
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_bif_is_a_complete_network(run: Callable, garden: Path, tmp_path: Path) -> None:
    """Its log-likelihood is what BIC says without its penalty, (ln m)/2 per free parameter."""
    content = json.loads(
        run("learn", garden / "garden.csv", "--json", "-o", tmp_path / "g.bif", "--pseudocount", 0).out
    )
    network = dagora.read_network(tmp_path / "g.bif")
    assert isinstance(network, DiscreteNetwork)
    table = dagora.read_table(garden / "garden.csv")
    parameters = sum(t.size // t.shape[-1] * (t.shape[-1] - 1) for t in network.tables.values())
    likelihood = content["score"] + math.log(table.n_rows) / 2 * parameters
    assert dagora.log_likelihood(network, table) == pytest.approx(likelihood, rel=1e-9)


def test_json_file_is_the_result(run: Callable, garden: Path, tmp_path: Path) -> None:
    shown = json.loads(run("learn", garden / "garden.csv", "--json", "-o", tmp_path / "g.json").out)
    written = dagora.Result.from_json((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert written.to_dict() == shown


def test_picture(run: Callable, garden: Path, tmp_path: Path) -> None:
    picture = tmp_path / "g.svg"
    ran = run("learn", garden / "garden.csv", "--truth", garden / "garden.bif", "--picture", picture)
    assert ran.code == 0
    assert f"written: {picture}" in ran.err
    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    shown = " ".join(text for element in root.iter() for text in (element.text or "").split())
    assert all(name in shown for name in dagora.read_table(garden / "garden.csv").names)


def test_truth_adds_a_comparison(run: Callable, garden: Path, tmp_path: Path) -> None:
    line = ("--truth", garden / "garden.bif", "-o", tmp_path / "g.dot")
    content = json.loads(run("learn", garden / "garden.csv", "--json", *line).out)
    compared = json.loads(run("compare", tmp_path / "g.dot", garden / "garden.bif", "--json").out)
    assert compared.items() >= content["comparison"].items()


def test_reading_options(run: Callable, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=60)
    lines = [
        f"{k};{int(x > 0)};{x};{x + 0.1 * e}"
        for k, (x, e) in enumerate(zip(u, rng.normal(size=60), strict=True))
    ]
    (tmp_path / "t.txt").write_text("id;flag;u;v\n" + "\n".join(lines) + "\n61;1;;0.5\n")
    line = ("--separator", ";", "--drop", "id", "--missing", "drop", "--json")
    as_number = json.loads(run("learn", tmp_path / "t.txt", *line, "--continuous", "flag").out)
    assert (as_number["score_name"], as_number["nodes"]) == ("bic-gaussian", ["flag", "u", "v"])
    assert as_number["stats"]["rows"] == 60
    cut = json.loads(run("learn", tmp_path / "t.txt", *line, "--discretise", "quantile", "--bins", 3).out)
    assert cut["score_name"] == "bic"
    assert cut["edges"]


def test_warnings_go_to_stderr_and_into_the_json(run: Callable, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n" + "no,x,same\nyes,y,same\n" * 20 + "maybe,y,same\n")
    ran = run("learn", tmp_path / "t.csv", "--json")
    assert ran.code == 0
    lines = ran.err.splitlines()
    assert all(line.startswith("dagora: warning: ") for line in lines)
    assert any("'c'" in line and "constant" in line for line in lines)
    assert any("'a'" in line and "once" in line for line in lines)
    assert [f"dagora: warning: {text}" for text in json.loads(ran.out)["warnings"]] == lines
    quiet = run("learn", tmp_path / "t.csv", "--json", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")


def test_words_for_missing_are_levels(run: Callable, tmp_path: Path) -> None:
    """Only an empty cell or NaN is missing; None and NA as text are levels."""
    (tmp_path / "t.csv").write_text("a,b\n" + "None,NA\nSome,yes\n" * 20)
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "g.bif")
    network = dagora.read_network(tmp_path / "g.bif")
    assert {name: set(levels) for name, levels in network.levels.items()} == {
        "a": {"None", "Some"},
        "b": {"NA", "yes"},
    }


@pytest.fixture(scope="module")
def long_job(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Arguments of a job that would run for days."""
    path = tmp_path_factory.mktemp("long") / "wide.csv"
    truth = dagora.random_dag("er", 30, 2, seed=0)
    dagora.write_table(dagora.simulate(truth, "gaussian", 300, seed=0).table, path)
    return ("learn", path, "--method", "hill-climb", "--option", "restarts=1000000000", "--json")


def check_stopped(content: dict[str, object], reason: str) -> None:
    assert content["status"] == "time-limit"
    assert reason in content["message"]
    assert len(dagora.DAG(content["nodes"], map(tuple, content["edges"])).edges) > 30


def test_ctrl_c_returns_the_best_found(start: Callable, long_job: tuple[object, ...]) -> None:
    process = start(*long_job)
    # After a hundred steps there is something to return.
    lines = iter(process.stderr.readline, "")
    assert any(re.match(r"climbing +step \d{3,} +score ", line) for line in lines)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    content = json.loads(out)
    check_stopped(content, "interrupted")
    assert content["seconds"] > 2


def test_quiet_says_nothing_and_a_time_limit_stops(start: Callable, long_job: tuple[object, ...]) -> None:
    for limit in (3, 15, 60):
        process = start(*long_job, "--time-limit", limit, "--quiet")
        out, err = process.communicate(timeout=limit + 60)
        assert process.returncode == 0
        assert err == ""
        content = json.loads(out)
        assert 0.9 * limit <= content["seconds"] < limit + 60
        if content["stats"]["steps"] >= 100:
            break  # else the machine was too busy for much to be found
    check_stopped(content, f"{limit} s")


def test_an_estimate_learns_nothing(run: Callable, garden: Path, tmp_path: Path) -> None:
    line = ("learn", garden / "garden.csv", "--method", "hill-climb", "--estimate")
    ran = run(*line)
    assert (ran.code, ran.out.count("\n")) == (0, 1)
    assert re.fullmatch(r"about .*; measured on [\d,]+ rows and all 11 columns of this table\.\n", ran.out)
    content = json.loads(run(*line, "--bootstrap", "1000", "--json").out)
    assert 0 < content["low"] < content["high"]
    assert content["parts"][-1][0] == 11
    for more, said in (
        (("-o", tmp_path / "x.bif"), "leave --output out"),
        (("--time", "season"), "does not go with --time"),
        (("--interventions", "season:winter=soil"), "does not go with --interventions"),
        (("--scan",), "into memory"),
        (("--method", "k2", "--option", "order=season"), "must name every variable once"),
        (("--method", "kpc-hsic"), "needs continuous columns"),
    ):
        refused = run(*line, *more)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no such folder here")
def test_a_folder_that_takes_no_files_is_seen_before_learning(
    run: Callable, garden: Path, monkeypatch
) -> None:
    monkeypatch.setattr("dagora.api.learn.learn", lambda *_given, **_more: pytest.fail("it learned"))
    ran = run("learn", garden / "garden.csv", "--report", "/proc/x.html")
    assert ran.code == 2
    assert "cannot write /proc/x.html" in ran.err
    assert "there is no folder" not in ran.err
