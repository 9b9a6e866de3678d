"""Figure 3 at a small size: draws approach what they are drawn from, and weights bring them to the truth."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dagora.data.table import Table
from dagora.graph.enumerate import all_parent_sets
from dagora.learners.run import Run
from dagora.papers.cell import MeasuredCell
from dagora.papers.experiment import Size
from dagora.papers.gpn import fig3
from dagora.papers.gpn.cached_score import CachedScore
from dagora.papers.gpn.contest import BGE, GP, LAPLACE, WEIGHTED, gp_score
from dagora.papers.gpn.fig3 import divergence, floor, shares
from dagora.posterior.draws import Draws
from dagora.posterior.exact.enumeration import enumerate_weights


def test_sizes() -> None:
    quick, full = fig3.fig3(Size()).cells, fig3.fig3(Size(full=True)).cells
    assert (len(quick), quick[0]["most"]) == (10 + 3 + 2 * 3, 10_000)
    assert (len(full), full[0]["most"]) == (10 + 3 + 2 * 3, 100_000)
    assert [cell["seed"] for cell in quick if "timed" in cell] == [0, 1, 2]
    assert [cell for cell in quick if "method" in cell] == [cell for cell in full if "method" in cell]


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
    cells = [MeasuredCell({"most": 4000, "seed": seed}, numbers) for seed in range(2)]
    report = fig3.report(cells)
    grown, limits, top = report.tables
    assert grown.columns == ("method", "M = 100", "M = 400", "M = 1000", "M = 4000", "ESS of weights / M")
    assert [row[0] for row in grown.rows] == list(fig3.METHODS)
    assert len(limits.rows) == 5
    assert top.columns[:2] == ("graph", "truth")
    assert set(report.pictures) == {"divergence", "graphs"}


@pytest.fixture(scope="module")
def times(quick_bridge: None) -> MeasuredCell:
    cell = {**next(cell for cell in fig3.fig3(Size()).cells if "timed" in cell), "most": 400, "rows": 30}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fig3, "warm_up", lambda _name: None)
        return MeasuredCell(cell, dict(fig3.measure(cell, Run())))


@pytest.fixture(scope="module")
def particles() -> MeasuredCell:
    cell = next(cell for cell in fig3.fig3(Size()).cells if "method" in cell)
    cell = {**cell, "rows": 30, "points": 64, "steps": 5}
    return MeasuredCell(cell, dict(fig3.measure(cell, Run())))


def test_times_count_scores_and_draws(times: MeasuredCell) -> None:
    seconds = times.numbers["seconds"]
    assert set(seconds) == set(fig3.METHODS) - {fig3.EXACT}
    assert all(len(found) == 2 for found in seconds.values())
    assert min(min(found) for found in seconds.values()) > 0
    # each count has the time of its scores, though only the first run computed them
    assert min(seconds[WEIGHTED]) > min(seconds[LAPLACE])


def test_a_divergence_of_particles(particles: MeasuredCell) -> None:
    numbers = particles.numbers
    assert numbers["dibs"] <= numbers["mean_surprise"]
    assert numbers["dibs"] >= numbers["mean_surprise"] - math.log(fig3.PARTICLES)
    assert numbers["par"] == 1


def test_the_page_has_times_and_dibs(numbers: dict, times: MeasuredCell, particles: MeasuredCell) -> None:
    main = MeasuredCell({"most": 4000, "seed": 0}, numbers)
    report = fig3.report([main, times, particles])
    assert [table.name for table in report.tables] == ["divergence", "limits", "graphs", "seconds", "dibs"]
    assert [row[0] for row in report.tables[3].rows] == [name for name in fig3.METHODS if name != fig3.EXACT]
    assert report.tables[4].rows[0][0] == "DiBS+, par = 1"
    assert set(report.pictures) == {"divergence", "graphs", "time"}
    assert [table.name for table in fig3.report([times]).tables] == ["seconds"]


def test_end_to_end(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"QUICK_MOST": 400, "QUICK_NETWORKS": 1, "TRUE_POINTS": 256, "ROWS": 30}
    for name, value in {**few, "TIMED_NETWORKS": 0, "DIBS_NETWORKS": 0}.items():
        monkeypatch.setattr(fig3, name, value)
    ran = run("reproduce", "gpn/fig3", "-o", tmp_path, "--json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert [table["name"] for table in json.loads(ran.out)["tables"]] == ["divergence", "limits", "graphs"]
    assert (tmp_path / "gpn-fig3-divergence.svg").is_file()


@pytest.fixture
def three_nodes():
    return enumerate_weights(["a", "b", "c"], np.random.default_rng(3).normal(size=(3, 4)))


def draws_of(graphs, log_weights=None) -> Draws:
    parents = np.array(graphs, dtype=np.uint64)[..., None]
    return Draws(
        ("a", "b", "c"),
        parents,
        np.zeros(parents.shape[:2]),
        "p",
        "s",
        "finished",
        "m",
        log_weights=log_weights,
    )


def test_shares_count_the_first_draws_of_all_chains(three_nodes) -> None:
    known = list(all_parent_sets(3))
    chains = [[known[4], known[4], known[7], known[0]], [known[7], known[2], known[2], known[2]]]
    share = shares(draws_of(chains), 4, three_nodes)
    assert {k: p for k, p in enumerate(share) if p} == {4: 0.5, 7: 0.25, 2: 0.25}
    weights = np.log([[1.0, 2.0, 1.0, 9.0], [4.0, 1.0, 9.0, 9.0]])
    weighted = shares(draws_of(chains, weights), 4, three_nodes)
    assert {k: p for k, p in enumerate(weighted) if p} == pytest.approx({4: 3 / 8, 7: 4 / 8, 2: 1 / 8})


def test_weights_undo_what_draws_were_made_under(three_nodes) -> None:
    """Every graph drawn in proportion to q and weighted by p / q gives p back: eq. 14."""
    p = three_nodes.probabilities
    copies = np.random.default_rng(0).integers(1, 6, len(p))
    known = list(all_parent_sets(3))
    flat = [known[k] for k in range(len(p)) for _ in range(copies[k])]
    logs = np.concatenate([[math.log(p[k] / copies[k])] * copies[k] for k in range(len(p))])
    found = shares(draws_of([flat], logs[None]), len(flat), three_nodes)
    assert found == pytest.approx(p)
    assert divergence(found, p) == pytest.approx(0, abs=1e-12)
    assert divergence(copies / copies.sum(), p) > 0.1


def test_divergence_by_hand() -> None:
    q, p = np.array([0.5, 0.5, 0.0]), np.array([0.9, 0.05, 0.05])
    assert divergence(q, p) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(10))
    assert divergence(p, p) == 0


def test_the_floor_is_that_of_independent_draws() -> None:
    """2 M KL is nearly chi-squared with (number of graphs − 1) degrees of freedom."""
    p = np.full(25, 1 / 25)
    low, high = floor(p, [500, 5000], seed=1, repeats=200)
    assert low == pytest.approx(24 / 1000, rel=0.12)
    assert high == pytest.approx(24 / 10_000, rel=0.12)
