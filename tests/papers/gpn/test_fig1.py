"""Figure 1 at a small size, its sizes, and its table from runs made up by hand."""

import csv
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.gpn import contest, fig1, fig1_report
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.contest import BGE, BRIDGE, GP, LAPLACE, PRIORS, WEIGHTED, Tuning, compete
from dagora.papers.gpn.sampled import evaluate_draws

SETTINGS = {"space": "full", "alpha": 0.05, "chains": 2, "draws": 200, "seed": 3}
RUN = {
    "shd": 2.0, "tp": 7.0, "fp": 1.0, "class_shd": 1.0, "edges": 8.0, "rhat": 1.01, "ess": 900.0,
    "weight_ess": None, "roc": [[0.8, 0.3], [0.7, 0.1]], "seconds": 3.0, "cpu_seconds": 2.5, "families": 120,
}  # fmt: skip


@pytest.fixture(autouse=True)
def reference(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGORA_DATA", str(data_dir))


def test_the_full_size_is_that_of_the_paper() -> None:
    full, quick = fig1.fig1(Size(full=True)).cells, fig1.fig1(Size()).cells
    assert all(cell in full for cell in quick)  # so that the full size goes on from the quick one
    letter = [cell for cell in full if cell["score"] == "bridge"]
    assert len(letter) == 3 * 10
    assert {(cell["simulator"], cell["chains"], cell["draws"]) for cell in letter} == {("code", 1, 101)}
    full = [cell for cell in full if cell["score"] != "bridge"]
    settings = {(cell["simulator"], cell["lambda"]) for cell in full}
    assert settings == {(simulator, decay) for simulator in ("text", "code") for decay in (0.0, 0.5, 1.0)}
    assert len(full) == 6 * 2 * 100
    assert {(cell["nodes"], cell["rows"], cell["probability"]) for cell in full} == {(10, 100, 0.2)}
    more = fig1.fig1_n15(Size(full=True)).cells
    assert len(more) == 3 * 2 * 100
    assert {(cell["nodes"], cell["simulator"]) for cell in more} == {(15, "code")}


@pytest.fixture(scope="module")
def chain() -> tuple[DAG, Table]:
    rng = np.random.default_rng(0)
    a = rng.standard_normal(60)
    b = np.sin(2 * a) + 0.3 * rng.standard_normal(60)
    c = b + 0.5 * rng.standard_normal(60)
    return DAG("abc", [("a", "b"), ("b", "c")]), Table.from_numpy(np.column_stack([a, b, c]), names="abc")


@pytest.fixture(scope="module")
def runs(chain: tuple[DAG, Table]) -> list[dict]:
    truth, table = chain

    def judge(found):
        return {**evaluate_draws(found, truth), "prior_sentence": found.draws.prior, "draws": found.draws}

    return compete(
        table, "gp", SETTINGS, Run(), judge,
        Tuning(lambda method, _sampler: 100.0 if method == "GP" else 10.0, 0.1),
    )  # fmt: skip


def one(runs: list[dict], method: str, sampler: str, prior: str) -> dict:
    (found,) = [
        run for run in runs if (run["method"], run["sampler"], run["prior"]) == (method, sampler, prior)
    ]
    return found


def test_families_of_draws_by_counting_them(runs: list[dict]) -> None:
    """Appendix A.5: weighted draws count the chain's families, and then each that is in a graph drawn."""
    for sampler in ("partition", "order"):
        weighted = one(runs, WEIGHTED, sampler, "uniform")
        parents = weighted["draws"].parents.reshape(-1, 3)
        in_draws = {(node, mask) for row in parents.tolist() for node, mask in enumerate(row)}
        chain = one(runs, LAPLACE, sampler, "uniform")["families"]
        assert weighted["families"] - chain == len(in_draws)


def test_the_table_of_families() -> None:
    def of(method: str, prior: str, families: int) -> dict:
        return {**RUN, "method": method, "sampler": "partition", "prior": prior, "families": families}

    runs = [
        of(LAPLACE, "uniform", 100), of(WEIGHTED, "uniform", 140),
        of(LAPLACE, "published", 80), of(WEIGHTED, "published", 99), of(BRIDGE, "published", 84),
    ]  # fmt: skip
    cells = [
        MeasuredCell({"simulator": "code", "lambda": decay, "nodes": 10, "seed": 0}, {"runs": runs})
        for decay in (0.5, 1.0)
    ]
    table = fig1_report.families_table(fig1_report.by_run(cells), 10)
    assert table.rows == (
        ("code", 0.5, "uniform", "partition", 4000, 100, 40, 0.4, 1),
        ("code", 1.0, "uniform", "partition", 4000, 100, 40, 0.4, 1),
        ("code", 1.0, "published", "partition", 101, 80, 4, 0.05, 1),  # at ½ their factors differ
    )


def test_every_method_runs_under_every_prior(runs: list[dict]) -> None:
    assert len(runs) == 3 * 2 * 3
    for run in runs:
        assert run["shd"] == pytest.approx(2 - run["tp"] + run["fp"])  # of the two true edges
        assert run["cpu_seconds"] > 0
        assert run["seconds"] > 0
        assert (run["weight_ess"] is None) == (run["method"] != WEIGHTED)
        assert 12 <= run["families"] <= 24  # all parent sets of three nodes, in up to two scores


def test_the_published_prior_is_the_paper_s(runs: list[dict]) -> None:
    for method, factor in ((GP, 100), (WEIGHTED, 100), (LAPLACE, 10)):
        sentence = one(runs, method, "partition", "published")["prior_sentence"]
        assert "3.93" in sentence
        assert f"{math.log(factor):.6g}" in sentence
    dense, sparse, published = (one(runs, GP, "partition", prior)["edges"] for prior in PRIORS)
    assert dense > sparse > published - 0.05


def test_weights_bring_the_laplace_chain_to_the_gp_chain(runs: list[dict]) -> None:
    weighted, direct = (one(runs, method, "partition", "uniform") for method in (WEIGHTED, GP))
    assert weighted["shd"] == pytest.approx(direct["shd"], abs=0.3)
    assert weighted["weight_ess"] > 100


def test_published_weights_aim_at_the_uniform_prior(runs: list[dict]) -> None:
    """Chains under the published prior, weighted as published, find what the uniform prior finds."""
    published, uniform = (
        one(runs, WEIGHTED, "partition", prior)["edges"] for prior in ("published", "uniform")
    )
    assert published == pytest.approx(uniform, abs=0.15)


def test_bge_takes_its_published_sample_size_for_a_prior(chain: tuple[DAG, Table]) -> None:
    truth, table = chain
    found = compete(
        table, "bge", SETTINGS, Run(), lambda some: evaluate_draws(some, truth), Tuning(lambda *_: 1.0, 0.1)
    )
    assert [(run["sampler"], run["prior"]) for run in found] == [
        (sampler, prior) for prior in PRIORS for sampler in ("partition", "order")
    ]
    by_prior = {run["prior"]: run["edges"] for run in found if run["sampler"] == "partition"}
    assert by_prior["uniform"] > by_prior["sparse"]
    assert by_prior["uniform"] != by_prior["published"]


def test_algorithm_1_to_the_letter(chain: tuple[DAG, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    """One chain of Laplace draws, weighted by bridge sampling, for which few points of qmc stand in here."""
    truth, table = chain
    made, asked = contest.gp_score, []

    def stand_in(some: Table, name: str, estimator: str, jobs: int = 1) -> CachedScore:
        asked.append(estimator)
        return made(some, name, "qmc" if estimator == "bridge" else estimator, points=32, jobs=jobs)

    monkeypatch.setattr(contest, "gp_score", stand_in)
    settings = {**SETTINGS, "chains": 1, "draws": 101}
    (found,) = compete(
        table,
        "bridge",
        settings,
        Run(),
        lambda some: evaluate_draws(some, truth),
        Tuning(lambda *_: 10.0, 0.1),
    )
    assert (found["method"], found["sampler"], found["prior"]) == (BRIDGE, "partition", "published")
    assert asked[-2:] == ["laplace", "bridge"]
    assert 0 < found["weight_ess"] <= 101
    assert found["shd"] < 1.5


def cell(seed: int, shd: float, **changes: object) -> MeasuredCell:
    parameters = {"score": "gp", "simulator": "code", "lambda": 0.5, "nodes": 10, "seed": seed}
    names = [(WEIGHTED, "published"), (GP, "uniform")]
    made = [
        {**RUN, "method": method, "sampler": sampler, "prior": prior, "shd": shd, **changes}
        for method, prior in names
        for sampler in ("partition", "order")
    ]
    return MeasuredCell(parameters, {"runs": made, "true_edges": 9})


@pytest.mark.parametrize("change", [{"rhat": 1.2}, {"weight_ess": 60.0}])
def test_a_chain_that_did_not_mix_and_weights_of_few_draws_are_compared_with_nothing(change: dict) -> None:
    report = fig1_report.report([cell(0, 1.0, **change), cell(1, 2.0, **change)])
    short, _, table, _ = report.tables
    first = dict(zip(short.columns, short.rows[0], strict=True))
    assert first["GP, weighted, published prior"] == "1.50 †"
    assert {row[table.columns.index("paper")] for row in table.rows} == {None}


def test_medians_stand_beside_the_paper_s() -> None:
    report = fig1_report.report([cell(0, 1.0), cell(1, 5.0, rhat=1.04), cell(2, 2.0)])
    assert "10 nodes, 3 graphs a line (the paper: 100)" in report.title
    short, _, table, _ = report.tables
    assert [row[:3] for row in short.rows] == [("code", 0.5, "partition"), ("code", 0.5, "order")]
    first = dict(zip(short.columns, short.rows[0], strict=True))
    assert (first["GP, weighted, published prior"], first["GP, sparse prior"]) == (2.0, None)
    assert (round(first["GP (paper)"], 2), round(first["BGe (paper)"], 2)) == (2.94, 3.1)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [(row["prior"], row["method"]) for row in rows] == [
        ("uniform", "GP, partition"), ("uniform", "GP, order"),
        ("published", "GP, weighted, partition"), ("published", "GP, weighted, order"),
    ]  # fmt: skip
    ours = rows[2]
    assert (ours["simulator"], ours["λ"], ours["E-SHD"], ours["R-hat"], ours["graphs"]) == (
        "code",
        0.5,
        2.0,
        1.04,
        3,
    )
    assert ours["paper"] == pytest.approx(2.935, abs=0.001)
    assert ours["paper, s"] == pytest.approx(117.15, abs=0.01)
    assert rows[0]["paper"] is None  # another prior is not to be compared
    assert (first["kPC-DC (paper)"], first["DiBS+ (paper)"]) == (pytest.approx(6.825), 10)
    assert set(report.pictures) == {"partition", "order", "seconds", "roc"}
    assert all(picture.count('id="axes_') == 1 for picture in report.pictures.values())
    for label in ("GP, uniform", "kPC-HSIC (paper)", "DiBS+ (paper)"):
        assert f">{label}<" in report.pictures["partition"]
    assert "chosen by E-SHD against the truth" in " ".join(report.notes)


@pytest.mark.slow
def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("NODES", 10), ("ROWS", 30), ("LAMBDAS", (0.0, 1.0)), ("QUICK_GRAPHS", 1), ("SIMULATORS", {"code": True}),
        ("EDGE_PROBABILITY", 0.7), ("SETTINGS", {**fig1.SETTINGS, "chains": 2, "draws": 50}),
        ("QUICK_LETTER", 0), ("simulate_cell", smaller(fig1.simulate_cell)),
    ):  # fmt: skip
        monkeypatch.setattr(fig1, name, value)
    ran = run("reproduce", "gpn/fig1", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    content = json.loads(ran.out)
    rows = content["tables"][2]["rows"]
    assert len(rows) == 2 * len(PRIORS) * 4 * 2
    assert {row[3].rsplit(", ", 1)[0] for row in rows} == {GP, WEIGHTED, LAPLACE, BGE}
    assert len(list(csv.reader((tmp_path / "gpn-fig1-fig1.csv").read_text().splitlines()))) == len(rows) + 1
    for name in ("partition", "order", "seconds", "roc"):
        text = (tmp_path / f"gpn-fig1-{name}.svg").read_text()
        drawn = [element.get("id", "") for element in ET.fromstring(text).iter()]
        assert sum(name.startswith("axes_") for name in drawn) == 2  # one for each λ
    claim = content["tables"][1]["rows"]
    assert [row[1] for row in claim if row[0] == "the paper's"] == ["GP, partition", "GP, order"]
    assert "BGe has one formula" in content["notes"][-1]


def smaller(simulated: Callable) -> Callable:
    """Tables of three nodes in place of ten."""
    return lambda parameters: simulated({**parameters, "nodes": 3})


def test_a_line_leaves_out_graphs_on_which_chains_did_not_mix() -> None:
    runs = [{**RUN, "shd": float(graph), "rhat": 1.0} for graph in range(20)]
    runs[19] = {**runs[19], "shd": 100.0, "rhat": 3.0}
    line = fig1_report.numbers(runs, None)
    assert (line[0], line[-2:]) == (9.0, (19, 1))
    assert fig1_report.comparable(runs)
    assert not fig1_report.comparable([{**one, "rhat": 3.0} for one in runs[:3]] + runs[3:])
