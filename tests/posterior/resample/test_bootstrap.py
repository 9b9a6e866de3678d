"""The bootstrap of any learner: the same graphs as by hand, whatever the threads, limits and files."""

import json
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DagoraWarning, DataError, FormatError, OptionError, RowsUnavailableError
from dagora.data.table import Table
from dagora.learners.registry import METHODS
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.posterior.resample import one_sample
from dagora.posterior.resample.row_draws import drawn_rows, seeds_of, way_for
from dagora.posterior.resample.run_samples import learned_samples
from dagora.stats.table import TableStatistics

DISCRETE = sample_network(greenhouse(), 300, seed=5)
NORMAL = dagora.simulate(dagora.random_dag("er", 5, 1.5, seed=2), "gaussian", 200, seed=3).table
# Options that make a method quick.
QUICK = {
    "rbnets": {"episodes": 5},
    "rl-bic": {"rounds": 5, "hidden": 2, "heads": 1, "blocks": 1, "sample": 4},
    "asobs": {"orders": 20},
    "obs": {"restarts": 3},
    "order-search": {"patience": 50},
    "notears": {"disturbances": 0},
}
SLOW = {"notears-mlp", "notears-sob"}  # seconds a sample; nothing in them is special here


def quick(name: str) -> dict[str, object]:
    return QUICK.get(name, {})


@pytest.mark.parametrize(
    "method",
    [
        m
        for m in METHODS
        if m.takes != "federation" and m.returns != "pag" and not m.in_time and m.name not in SLOW
    ],
    ids=lambda method: method.name,
)
def test_a_sample_is_what_learn_finds_on_its_rows(method: object) -> None:
    table = NORMAL if method.own_objective else DISCRETE
    strengths = dagora.bootstrap(table, method.name, samples=2, seed=7, **quick(method.name))
    again = [graph for graph, _ in strengths.graphs()]
    for k in range(2):
        random, seed = seeds_of(7, k)
        rows = table.take(drawn_rows(way_for("auto", method), table.n_rows, random))
        assert dagora.learn(rows, method.name, seed=seed, **quick(method.name)).graph in again
    assert strengths.directed == (method.returns == "dag")


@pytest.mark.full
def test_the_number_of_threads_does_not_matter() -> None:
    one, three = (dagora.bootstrap(DISCRETE, "hill-climb", samples=20, seed=1, jobs=jobs) for jobs in (1, 3))
    assert np.array_equal(one.marks, three.marks)
    other = dagora.bootstrap(DISCRETE, "hill-climb", samples=20, seed=2)
    assert not np.array_equal(one.marks, other.marks)


@pytest.mark.full
def test_frequencies_are_shares_of_the_graphs() -> None:
    strengths = dagora.bootstrap(DISCRETE, "hill-climb", samples=12)
    graphs = [(graph, round(12 * share)) for graph, share in strengths.graphs()]
    assert sum(times for _, times in graphs) == 12
    names = DISCRETE.names
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            there = sum(times for graph, times in graphs if (a, b) in graph.edges)
            back = sum(times for graph, times in graphs if (b, a) in graph.edges)
            sure = sum(times for graph, times in graphs if (a, b) in dagora.CPDAG.from_dag(graph).edges)
            assert strengths.edge_frequency[i, j] == pytest.approx(there / 12)
            assert strengths.adjacency_frequency[i, j] == pytest.approx((there + back) / 12)
            assert strengths.compelled_frequency[i, j] == pytest.approx(sure / 12)


def test_undirected_edges_count_half_each_way() -> None:
    strengths = dagora.bootstrap(DISCRETE, "pc", samples=12)
    assert not strengths.directed
    share = strengths.edge_frequency
    assert np.allclose(share + share.T, strengths.adjacency_frequency)
    lines = sum(part for graph, part in strengths.graphs() if ("light", "season") in graph.undirected)
    lines += sum(part for graph, part in strengths.graphs() if ("season", "light") in graph.undirected)
    i, j = (strengths.nodes.index(name) for name in ("season", "light"))
    assert lines > 0
    assert share[i, j] - strengths.compelled_frequency[i, j] == pytest.approx(lines / 2)
    with pytest.raises(OptionError, match="path is one of DAGs, and pc returns classes"):
        strengths.pair_probability("path")


def test_distances_are_means_over_the_graphs() -> None:
    truth = greenhouse().graph
    strengths = dagora.bootstrap(DISCRETE, "hill-climb", samples=10)
    compared = [(dagora.compare(graph, truth), share) for graph, share in strengths.graphs()]
    for on, part in (("dag", "dag"), ("cpdag", "cpdag"), ("skeleton", "skeleton")):
        mean = sum(getattr(found, part).shd * share for found, share in compared)
        assert strengths.expected_shd(truth, on=on).mean == pytest.approx(mean)


def test_interventions_make_classes_smaller() -> None:
    rows = {"switch": [0, 1] * 60, "lamp": [0, 1] * 40 + [0, 0, 1, 1] * 10}
    marked = {**rows, "set": [""] * 80 + ["lamp"] * 40}
    told = dagora.bootstrap(marked, "hill-climb", samples=5, interventions="set")
    assert told.compelled_frequency[0, 1] == 1.0
    assert dagora.bootstrap(rows, "hill-climb", samples=5).compelled_frequency.max() == 0.0
    assert dagora.Strengths.from_json(told.to_json()).compelled_frequency[0, 1] == 1.0


def test_holes_stay_in_their_rows() -> None:
    holed = dagora.punch_holes(DISCRETE.select(DISCRETE.names[:4]), "mcar:0.1", seed=1)
    strengths = dagora.bootstrap(holed, "hill-climb", samples=3, em_rounds=1)
    assert strengths.samples == 3
    assert strengths.settings["missing"] == "model"
    assert "missing" in strengths.message


def test_what_was_finished_in_time_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    draw = one_sample.drawn_statistics

    def slower(*given: object) -> object:
        ended.append(1)
        if len(ended) == 4:
            budget.stop("it was interrupted")
        return draw(*given)

    monkeypatch.setattr(one_sample, "drawn_statistics", slower)
    budget = Budget()
    strengths = dagora.bootstrap(DISCRETE, "hill-climb", samples=50, budget=budget)
    assert (strengths.samples, strengths.status) == (3, "time-limit")
    assert "it was interrupted before 50 samples" in strengths.message


def test_without_time_there_is_no_graph() -> None:
    begun = time.monotonic()
    strengths = dagora.bootstrap(DISCRETE, "hill-climb", samples=10**6, time_limit=1e-9)
    assert time.monotonic() - begun < 5
    assert (strengths.samples, strengths.status) == (0, "failed")
    for ask in (strengths.consensus, strengths.classes, lambda: strengths.edge_frequency):
        with pytest.raises(OptionError, match="there are no graphs to look at: 0 samples"):
            ask()
    assert dagora.Strengths.from_json(strengths.to_json()).samples == 0


def test_numbers_of_samples_are_not_listed_beforehand() -> None:
    prepared = SimpleNamespace(searching=SimpleNamespace(method_options={}))
    assert not list(learned_samples(prepared, "rows", 0, count(), Budget(1e-9), jobs=1))


def test_a_run_goes_on_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "samples.npz"
    whole = dagora.bootstrap(DISCRETE, "hill-climb", samples=8, seed=3)
    dagora.bootstrap(DISCRETE, "hill-climb", samples=5, seed=3, checkpoint=file)
    drawn = []
    draw = one_sample.drawn_statistics
    monkeypatch.setattr(one_sample, "drawn_statistics", lambda *given: drawn.append(1) or draw(*given))
    gone_on = dagora.bootstrap(DISCRETE, "hill-climb", samples=8, seed=3, checkpoint=file)
    assert len(drawn) == 3
    assert np.array_equal(gone_on.marks, whole.marks)
    assert "5 of them from a file" in gone_on.message
    for changed in ({"seed": 4}, {"resample": "halves"}, {"score": "bdeu"}, {"max_parents": 1}):
        with pytest.raises(OptionError, match=r"samples\.npz was made with"):
            dagora.bootstrap(DISCRETE, "hill-climb", checkpoint=file, **{"seed": 3, "samples": 8, **changed})
    with pytest.raises(OptionError, match="made with other data"):
        dagora.bootstrap(DISCRETE.take(range(299)), "hill-climb", samples=8, seed=3, checkpoint=file)
    file.write_text("no file of ours")
    with pytest.raises(FormatError, match="is not a checkpoint of dagora"):
        dagora.bootstrap(DISCRETE, "hill-climb", samples=8, seed=3, checkpoint=file)
    with pytest.raises(OptionError, match="there is no folder"):
        dagora.bootstrap(DISCRETE, "hill-climb", samples=8, checkpoint=tmp_path / "no" / "x.npz")


def test_a_file_keeps_what_was_done_before_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "samples.npz"
    calls = []
    draw = one_sample.drawn_statistics

    def failing(*given: object) -> object:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return draw(*given)

    monkeypatch.setattr(one_sample, "drawn_statistics", failing)
    with pytest.raises(KeyboardInterrupt):
        dagora.bootstrap(DISCRETE, "hill-climb", samples=8, checkpoint=file)
    monkeypatch.setattr(one_sample, "drawn_statistics", draw)
    assert "3 of them" in dagora.bootstrap(DISCRETE, "hill-climb", samples=8, checkpoint=file).message


def test_samples_that_cannot_be_learned_from_are_told() -> None:
    # The number is constant in samples that miss the one row.
    rare = Table.from_numpy(np.column_stack([np.arange(40.0), np.eye(40)[0]]), continuous=["all"])
    with pytest.warns(DagoraWarning, match=r"samples could not be learned from: .*x1"):
        strengths = dagora.bootstrap(rare, "hill-climb", samples=30)
    assert 0 < strengths.samples < 30
    assert strengths.samples + strengths.stats["samples_refused"] == 30
    assert strengths.status == "finished"


def test_what_no_sample_can_be_learned_from_is_refused() -> None:
    x = np.arange(30.0)
    with pytest.raises(DataError, match=r"no sample of the rows could be learned from: .*x0"):
        dagora.bootstrap(np.column_stack([x, 2 * x, x**2]), "pc", samples=5)


class OnlySums(TableStatistics):
    def rows(self) -> Table:
        raise RowsUnavailableError("the rows stay where they are")


@pytest.mark.parametrize("samples", [0, 1, -3, 2.5, True, "many", 1_000_001, 10**12])
def test_the_number_of_samples_has_limits(samples: object) -> None:
    with pytest.raises(OptionError, match="samples must be a whole number from 2 to 1000000, not"):
        dagora.bootstrap(DISCRETE, samples=samples)


def test_data_without_rows_are_refused() -> None:
    with pytest.raises(RowsUnavailableError, match="stay where they are"):
        dagora.bootstrap(OnlySums(DISCRETE), "hill-climb")
    scores = dagora.candidates(DISCRETE)
    with pytest.raises(OptionError, match="holds scores and no rows"):
        dagora.bootstrap(scores, "order-search")
    with pytest.raises(OptionError, match="works on rows over sites"):
        dagora.bootstrap(NORMAL, "admm", samples=3)
    with pytest.raises(OptionError, match="no option 'zebra'"):
        dagora.bootstrap(DISCRETE, "tabu", zebra=1)


def test_rows_over_sites_are_refused() -> None:
    from dagora.learners.registry import method_named
    from tests.contracts.test_methods import as_given

    with pytest.raises(OptionError, match="draws rows, and these stay at their sites"):
        dagora.bootstrap(as_given(method_named("admm"), DISCRETE), "hill-climb", samples=3)


def test_json_is_also_a_graph_file(tmp_path: Path) -> None:
    strengths = dagora.bootstrap(DISCRETE, "ges", samples=6)
    again = dagora.Strengths.from_json(strengths.to_json())
    assert np.array_equal(again.marks, strengths.marks)
    assert again.to_json() == strengths.to_json()
    file = tmp_path / "strengths.json"
    file.write_text(strengths.to_json(), encoding="utf-8")
    assert dagora.read_graph(file) == strengths.consensus()
    listed = json.loads(strengths.to_json())["strengths"]
    assert [pair["adjacent"] for pair in listed] == sorted((p["adjacent"] for p in listed), reverse=True)
    with pytest.raises(FormatError, match="not strengths of edges in JSON"):
        dagora.Strengths.from_json("{}")
