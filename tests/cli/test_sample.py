"""`dagora sample`: one JSON object, words for people, files, warnings that cannot be missed, and bad input."""

import json
import re
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.data.writers import write_table
from dagora.posterior.summary.posterior import Posterior

CONTRACT = {
    "method", "score_name", "score", "status", "message", "nodes", "edges", "undirected", "seconds", "stats",
    "settings", "seed", "versions", "edge_probability", "diagnostics", "prior", "space", "warnings",
}  # fmt: skip


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `bed.csv`, 150 rows of four numbers, and `truth.json`, the graph they come from."""
    folder = tmp_path_factory.mktemp("bed")
    names = ["seed", "water", "light", "yield"]
    truth = dagora.DAG(names, [("water", "yield"), ("light", "yield"), ("seed", "water")])
    simulated = dagora.simulate(truth, "gaussian", 150, seed=2)
    write_table(simulated.table, folder / "bed.csv")
    dagora.write_graph(truth, folder / "truth.json")
    return folder


EXACT = ("--method", "exact", "--draws", 200, "--chains", 2)


def test_json_is_the_contract(run: Callable, bed: Path) -> None:
    ran = run("sample", bed / "bed.csv", *EXACT, "--json", "--seed", 3)
    # Where kernels are compiled first it takes long enough for progress to show.
    assert (ran.code, "warning" in ran.err) == (0, False)
    assert ran.out.count("\n") == 1, "one object on one line"
    content = json.loads(ran.out)
    assert content.keys() >= CONTRACT
    assert "draws" not in content
    found = dagora.sample(bed / "bed.csv", "exact", draws=200, chains=2, seed=3)
    assert (content["method"], content["score_name"], content["seed"]) == ("exact", "bge", 3)
    assert content["edges"] == [list(edge) for edge in found.consensus().edges]
    assert content["undirected"] == []
    assert content["score"] == found.score
    for i, tail in enumerate(found.nodes):
        for j, head in enumerate(found.nodes):
            if i != j:
                assert content["edge_probability"][tail][head] == found.edge_probability[i, j]
    assert content["diagnostics"] == json.loads(json.dumps(found.diagnostics.to_dict()))
    assert (content["prior"], content["space"]) == (found.prior, found.space)
    assert content["settings"]["draws"] == 200


def test_people_get_the_same_in_words(run: Callable, bed: Path) -> None:
    content = json.loads(run("sample", bed / "bed.csv", *EXACT, "--json").out)
    ran = run("sample", bed / "bed.csv", *EXACT)
    assert (ran.code, "warning" in ran.err) == (0, False)
    for tail, row in content["edge_probability"].items():
        for head, value in row.items():
            lines = [line for line in ran.out.splitlines() if f" {tail} → {head} " in line]
            assert len(lines) == (value >= 0.05)
            if lines:
                assert f"{value:.3f}" in lines[0]
                assert lines[0].startswith("*") == ([tail, head] in content["edges"])
    assert f"prior: {content['prior']}" in ran.out
    assert f"highest log score: {content['score']:.4f}" in ran.out


@pytest.mark.parametrize("method", ["partition", "order"])
def test_chains_show_errors_and_mixing(run: Callable, bed: Path, method: str) -> None:
    ran = run("sample", bed / "bed.csv", "--method", method, "--draws", 500, "--prior", "fair")
    assert ran.code == 0, ran.err
    assert " ± 0.0" in ran.out
    assert re.search(r"mixing: 4 chains × 500 draws; log score: R-hat (0\.99|1\.)", ran.out)
    assert "every number of parents is as likely" in ran.out


def test_truth_adds_expected_distances(run: Callable, bed: Path) -> None:
    line = ("sample", bed / "bed.csv", *EXACT, "--truth", bed / "truth.json")
    content = json.loads(run(*line, "--json").out)
    found = dagora.sample(bed / "bed.csv", "exact", draws=200, chains=2)
    truth = dagora.read_graph(bed / "truth.json").reorder(found.nodes)
    expected = content["expected"]
    assert expected["shd"] == found.expected_shd(truth).mean
    assert expected["tp"] == pytest.approx(found.edge_probability[truth.to_numpy()].sum())
    assert expected["fp"] == pytest.approx(found.edge_probability[~truth.to_numpy()].sum())
    assert expected["errors"]["shd"] == 0.0
    assert expected["cpdag"]["shd"] == found.expected_shd(truth, on="cpdag").mean
    assert content["comparison"] == dagora.compare(found.consensus(), truth).to_dict()
    shown = run(*line).out
    assert "E-SHD" in shown
    assert f"{expected['shd']:.2f}" in shown


def test_files(run: Callable, bed: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "p.json", tmp_path / "p.svg"
    ran = run(
        "sample", bed / "bed.csv", *EXACT, "--truth", bed / "truth.json", "-o", out, "--picture", picture
    )
    assert ran.code == 0
    assert f"written: {out}" in ran.err
    assert f"written: {picture}" in ran.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.json", "p.svg"]
    again = Posterior.from_json(out.read_text(encoding="utf-8"))
    fresh = dagora.sample(bed / "bed.csv", "exact", draws=200, chains=2)
    assert np.array_equal(again.draws.parents, fresh.draws.parents)
    assert dagora.read_graph(out) == again.consensus(), "it is a graph file, too"
    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    notes = [element.text for element in root.iter() if element.tag.endswith("title")]
    water = fresh.edge_probability[fresh.nodes.index("water"), fresh.nodes.index("yield")]
    assert f"water → yield: {water:.4g}" in notes
    assert len([note for note in notes if "→" in note]) == 12
    assert len([element for element in root.iter() if element.get("class") == "true"]) == 3


def test_flags_reach_the_sampler(run: Callable, bed: Path, tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text(json.dumps({"required": [["seed", "light"]], "max_parents": 3}))
    line = "--max-parents 2 --prior sparse --option edge_penalty=0.5 --option alpha_mu=2 --seed 7 --jobs 2"
    ran = run(
        "sample", bed / "bed.csv", *EXACT, *line.split(), "--knowledge", tmp_path / "k.json", "--json",
        "--time-limit", 60,
    )  # fmt: skip
    content = json.loads(ran.out)
    settings = content["settings"]
    assert (settings["prior"], settings["edge_penalty"], settings["alpha_mu"]) == ("sparse", 0.5, 2.0)
    assert settings["knowledge"] == {"required": [["seed", "light"]], "max_parents": 2}
    assert (settings["time_limit"], content["seed"]) == (60.0, 7)
    assert content["edge_probability"]["seed"]["light"] == pytest.approx(1.0)
    assert "0.5" in content["prior"]


def test_chains_that_have_not_mixed_cannot_be_missed(
    run: Callable, bed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from dagora.posterior.registry import sampler_named

    entry = replace(
        sampler_named("exact"),
        sampler="tests.api.test_sample:stuck",
        options=sampler_named("exact").options[:1],
    )
    monkeypatch.setattr("dagora.posterior.registry.SAMPLERS", (entry,))
    line = ("sample", bed / "bed.csv", "--method", "exact", "--draws", 100)
    ran = run(*line)
    assert ran.code == 0
    assert "dagora: warning: the chains have not mixed" in ran.err
    assert "inf" in ran.out, "the line about mixing says it, too"
    quiet = run(*line, "--quiet").out
    assert "not mixed: 4 chains × 100 draws" in quiet
    assert "not-mixed: " in quiet, "the status says it, too"
    ran = run(*line, "--json", "--quiet")
    assert ran.err == ""
    content = json.loads(ran.out)
    assert any("have not mixed" in warning for warning in content["warnings"])
    assert (content["status"], content["diagnostics"]["verdict"]) == ("not-mixed", "not mixed")
    assert content["diagnostics"]["apart"][0]["highest"] == 1.0


def test_no_draws_exit_with_code_1(
    run: Callable, bed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from dataclasses import replace

    from dagora.posterior.registry import sampler_named

    entry = replace(
        sampler_named("exact"),
        sampler="tests.cli.test_sample:nothing",
        options=sampler_named("exact").options[:1],
    )
    monkeypatch.setattr("dagora.posterior.registry.SAMPLERS", (entry,))
    ran = run("sample", bed / "bed.csv", "--method", "exact", "--json", "-o", tmp_path / "p.json")
    assert ran.code == 1
    assert "dagora: exact failed: there was no time" in ran.err
    assert json.loads(ran.out)["score"] is None
    assert not list(tmp_path.iterdir())


def nothing(score: object, run: object, *, draws: int, chains: int, prior: str = "uniform") -> object:
    from dataclasses import replace

    from tests.posterior.oracle import enumeration

    found = enumeration(score, run, draws=1, chains=chains)
    return replace(
        found, parents=found.parents[:, :0], log_scores=found.log_scores[:, :0], status="time-limit",
        message="there was no time",
    )  # fmt: skip


def test_an_estimated_score_shows_its_error(run: Callable, bed: Path) -> None:
    line = ("sample", bed / "bed.csv", *EXACT, "--score", "gp", "--max-parents", 1, "--option", "points=32")
    stats = json.loads(run(*line, "--json").out)["stats"]
    assert stats["estimated_families"] == 12
    shown = (
        f"standard error of the score: median {stats['score_error_median']:.2g}, "
        f"largest {stats['score_error_largest']:.2g} nat, over 12 families\n"
    )
    assert shown in run(*line).out
    assert "standard error of the score" not in run("sample", bed / "bed.csv", *EXACT).out


@pytest.mark.parametrize("edges", [0, 1, 2])
def test_a_single_edge_is_one_edge(run: Callable, tmp_path: Path, edges: int) -> None:
    rng = np.random.default_rng(3)
    columns = rng.normal(size=(200, 3))
    if edges >= 1:
        columns[:, 1] += 3 * columns[:, 0]
    if edges == 2:
        columns[:, 2] += 3 * columns[:, 1]
    write_table(dagora.Table.from_numpy(columns), tmp_path / "t.csv")
    (tmp_path / "k.json").write_text(json.dumps({"tiers": [["x0"], ["x1"], ["x2"]]}))
    ran = run("sample", tmp_path / "t.csv", *EXACT, "--knowledge", tmp_path / "k.json", "--prior", "sparse")
    written = {0: "0 edges", 1: "1 edge", 2: "2 edges"}[edges]
    assert f"* consensus graph: {written} above 0.5" in ran.out


def test_a_run_interrupted_while_scoring_writes_no_posterior_and_goes_on(
    run: Callable, bed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real Ctrl-C amid an expensive score: exit 1, a line that says what is kept, and then the same answer."""
    import signal

    from dagora.scores.gp.score import GaussianProcessScore

    out, file = tmp_path / "p.json", tmp_path / "run.npz"
    line = (
        "sample", bed / "bed.csv", "--score", "gp", "--option", "estimator=laplace", "--draws", 50,
        "--max-parents", 2,
    )  # fmt: skip
    learn = GaussianProcessScore._learn

    def interrupted(score: object, keys: list, watch: Callable) -> None:
        if len(keys[0][1]) == 1:
            signal.raise_signal(signal.SIGINT)
        learn(score, keys, watch)

    monkeypatch.setattr(GaussianProcessScore, "_learn", interrupted)
    ran = run(*line, "--checkpoint", file, "-o", out)
    assert ran.code == 1
    assert ran.out == ""
    assert "dagora: partition failed: it was interrupted before all families were scored" in ran.err
    assert f"the families scored so far are kept in {file}: the same command goes on from there" in ran.err
    assert [found.name for found in tmp_path.iterdir()] == ["run.npz"]
    monkeypatch.setattr(GaussianProcessScore, "_learn", learn)
    resumed = json.loads(run(*line, "--checkpoint", file, "--json").out)
    whole = json.loads(run(*line, "--json").out)
    assert resumed["edge_probability"] == whole["edge_probability"]
    assert "taken up from a checkpoint" in resumed["message"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bed.csv --method mcmc", "no sampler named 'mcmc'"),
        ("bed.csv --score bgee", "did you mean 'bge'"),
        ("bed.csv --score lasso --method exact", "no log probability"),
        ("bed.csv --draws 0", "--draws"),
        ("bed.csv --chains 0", "--chains"),
        ("bed.csv --prior flat", "'prior' is one of"),
        ("bed.csv --option zeal=1", "'zeal'"),
        ("bed.csv --option thin=0", "'thin' must be at least 1"),
        ("bed.csv --prior fair --option prior=fair", "'prior' twice"),
        ("bed.csv --method exact --checkpoint c.npz", "'checkpoint'"),
        ("bed.csv --checkpoint none/c.npz", "no folder 'none'"),
        ("bed.csv --checkpoint bed.csv", "bed.csv: is not a checkpoint of dagora"),
        ("bed.csv --reweight qmc --method exact", "reweight goes with"),
        ("bed.csv -o p.bif", "written as .json"),
        ("bed.csv -o p.txt", "unknown extension"),
        ("bed.csv --picture p.png", ".svg"),
        ("bed.csv --truth other.json", "'zebra'"),
        ("two.csv", "two.csv: there are 2 rows"),
        ("fixed.csv --method exact", "'b' was left out (a constant number)"),
        ("fixed.csv --method exact --continuous b", "'b' is constant"),
        ("scores.jkl", "sample from a table"),
        ("absent.csv", "absent.csv"),
    ],
)
def test_bad_input_is_one_clear_line(
    run: Callable, bed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    (tmp_path / "bed.csv").write_text((bed / "bed.csv").read_text())
    (tmp_path / "two.csv").write_text("a,b\n0.5,1.5\n0.25,1.25\n")
    (tmp_path / "fixed.csv").write_text("a,b\n" + "".join(f"{k / 7},4.5\n" for k in range(30)))
    (tmp_path / "scores.jkl").write_text("1\na 1\n-1.0 0\n")
    (tmp_path / "other.json").write_text('{"nodes": ["seed", "water", "light", "zebra"], "edges": []}')
    monkeypatch.chdir(tmp_path)
    before = sorted(file.name for file in tmp_path.iterdir())
    ran = run("sample", *line.split())
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("dagora: error: ")
    assert ran.err.count("\n") == 1
    assert said in ran.err
    assert sorted(file.name for file in tmp_path.iterdir()) == before


# --- what the manual says

ROOT = Path(__file__).resolve().parents[2]
EDGE = re.compile(r"^[* ] (\w+) → (\w+) +([\d.]+)", re.MULTILINE)


def test_the_manual_works_as_it_stands(
    run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command and every line of Python of the page, in order, and the edges of the output it shows."""
    page = (ROOT / "docs" / "posterior.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(sh|python|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    said = []
    for kind, block in blocks:
        if kind == "sh":
            for line in block.splitlines():
                # Gaussian processes are slow: of fewer columns and rows.
                ran = run(
                    *shlex.split(re.sub("--nodes 5 (.*) --rows 150", r"--nodes 4 \1 --rows 50", line))[1:]
                )
                assert ran.code == 0, f"{line}\n{ran.err}"
                said.append(ran.out)
        elif kind == "python":
            capsys.readouterr()
            exec(block, {})
            said.append(capsys.readouterr().out)
    assert len(said) >= 12
    assert sum("taken up from a checkpoint" in text for text in said) == 1
    shown = next(block for kind, block in blocks if kind == "text")
    measured = {(tail, head): float(value) for tail, head, value in EDGE.findall(said[1])}
    claimed = EDGE.findall(shown)
    assert len(claimed) == 5
    for tail, head, value in claimed:
        assert measured[tail, head] == pytest.approx(float(value), abs=0.06)
    assert {file.name for file in tmp_path.iterdir()} >= {"posterior.json", "edges.svg", "run.npz"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param("sample {} --draws 20 --chains 2 --method order", True, marks=pytest.mark.full),
        ("learn {} --score bdeu", True),
        ("learn {} --score bdeu --bootstrap 5", False),  # these two do not go with it
        ("learn {} --score bdeu -o network.bif", False),
        ("sample {} --weights c", False),  # what is missing beside weights is not modelled
    ],
)
def test_missing_cells_are_refused_with_the_way_to_draw_them(
    run: Callable, tmp_path: Path, words: str, offered: bool
) -> None:
    rows = dagora.simulate(dagora.DAG("ab", ["ab"]), "logistic", 60, seed=1).table
    cells = [",".join("01"[int(code)] for code in row) for row in zip(*rows.columns, strict=True)]
    cells[3] = "," + cells[3][2:]
    lines = ["a,b,c", *(f"{cell},{1 + k % 3}" for k, cell in enumerate(cells))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    asked = words.format(tmp_path / "rows.csv").split()
    refused = run(*asked)
    assert refused.code == 2
    assert "1 cell is missing, the first in column 'a', data row 4: choose --missing drop" in refused.err
    assert ("or --impute 20 to draw what is missing" in refused.err) == offered
    if offered:
        assert run(*asked, "--impute", 3).code == 0
