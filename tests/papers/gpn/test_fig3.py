"""Figure 3 at a small size: draws approach what they are drawn from, and weights bring them to the truth."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dagora.data.table import Table
from dagora.learners.run import Run
from dagora.papers.cell import Measured
from dagora.papers.experiment import Size
from dagora.papers.gpn import fig3
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.contest import BGE, GP, LAPLACE, WEIGHTED, gp_score


def test_sizes() -> None:
    quick, full = fig3.fig3(Size()).cells, fig3.fig3(Size(full=True)).cells
    assert (len(quick), quick[0]["most"]) == (3, 10_000)
    assert (len(full), full[0]["most"]) == (10, 100_000)


@pytest.fixture(scope="module", autouse=True)
def quick_bridge() -> Iterator[None]:
    """Bridge sampling takes seconds per family: few points of the other estimate stand in for it."""

    def stand_in(table: Table, name: str, estimator: str, **options: int) -> CachedScore:
        return (
            gp_score(table, name, "qmc", points=32)
            if estimator == "bridge"
            else gp_score(table, name, estimator, **options)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fig3, "gp_score", stand_in)
        yield


@pytest.fixture(scope="module")
def numbers(quick_bridge: None) -> dict:
    (cell, *_) = fig3.fig3(Size()).cells
    return dict(fig3.measure({**cell, "most": 4000, "true_points": 512, "rows": 60}, Run()))


@pytest.mark.slow
def test_divergences_fall_to_their_limits(numbers: dict) -> None:
    assert numbers["draws"] == [100, 400, 1000, 4000]
    assert set(numbers["divergence"]) == set(fig3.METHODS)
    for name in (GP, LAPLACE, BGE):
        found = numbers["divergence"][name]
        assert found[0] > found[-1]
        # with many draws what is left is the limit and about what independent draws would leave
        assert found[-1] == pytest.approx(
            numbers["limits"][name], abs=6 * numbers["divergence"][fig3.EXACT][-1] + 0.02
        )
    assert numbers["divergence"][fig3.EXACT] == sorted(numbers["divergence"][fig3.EXACT], reverse=True)


def test_weighted_draws_come_nearer_to_the_truth_than_other_scores(numbers: dict) -> None:
    last = {name: found[-1] for name, found in numbers["divergence"].items()}
    assert last[WEIGHTED] < last[BGE]
    assert last[WEIGHTED] < 6 * last[fig3.EXACT] + 0.02
    assert numbers["limits"][GP] < 0.01
    assert numbers["limits"][fig3.BRIDGED] < 0.05
    assert numbers["limits"][fig3.CONSTANTS] > numbers["limits"][LAPLACE]
    assert 0 < numbers["weight_ess"][WEIGHTED] <= 4000


def test_probabilities_of_the_most_probable_graphs(numbers: dict) -> None:
    truth = numbers["probabilities"]["truth"]
    assert truth == sorted(truth, reverse=True)
    assert len(truth) == len(numbers["graphs"]) == len(set(numbers["graphs"])) == fig3.SHOWN
    assert numbers["probabilities"][GP] == pytest.approx(truth, abs=0.05)


def test_report(numbers: dict) -> None:
    cells = [Measured({"most": 4000, "seed": seed}, numbers) for seed in range(2)]
    report = fig3.report(cells)
    grown, limits, top = report.tables
    assert grown.columns == ("method", "M = 100", "M = 400", "M = 1000", "M = 4000", "ESS of weights / M")
    assert [row[0] for row in grown.rows] == list(fig3.METHODS)
    assert len(limits.rows) == 5
    assert top.columns[:2] == ("graph", "truth")
    assert set(report.pictures) == {"divergence", "graphs"}


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("QUICK_MOST", 400), ("QUICK_NETWORKS", 1), ("TRUE_POINTS", 256), ("ROWS", 30)):
        monkeypatch.setattr(fig3, name, value)
    ran = run("reproduce", "gpn/fig3", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert [table["name"] for table in json.loads(ran.out)["tables"]] == ["divergence", "limits", "graphs"]
    assert (tmp_path / "gpn-fig3-divergence.svg").is_file()
