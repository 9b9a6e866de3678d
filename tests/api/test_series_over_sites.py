"""Series at sites: the graph in time of all series together, from one sum; and what is refused."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraError, DataError, OptionError
from dagora.data.partition import split_series
from dagora.data.series import Panel, Timing
from dagora.data.table import Table
from dagora.data.writers import write_table
from dagora.learners.result import Result
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.log.log_text import log_in_words
from dagora.parties.horizontal.plan.coded_rows import code_rows
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session.federation import OpenFederation, Site, in_series
from dagora.parties.horizontal.session.secure_statistics import SecureSeriesStatistics

TIMING = Timing("t", "series")
IN_TIME = {"time": "t", "series": "series", "lags": 2}


@cache
def plant() -> Table:
    truth = dagora.random_dag("er", 4, 1, 3)
    return dagora.simulate_series(truth, 40, 3, lags=2, series=6).table


def dealt(table: Table, sites: int = 3, seed: int = 0) -> dict[str, Table]:
    parts = split_series(table, TIMING, sites, seed=seed)
    return dict(zip(("north", "south", "west", "east"), parts, strict=False))


def open_sites(tables: dict[str, Table], lags: int = 2) -> OpenFederation:
    sites, step = in_series([Site(name, table) for name, table in tables.items()], TIMING)
    book = codebook_of({"all": Panel.of_table(plant(), "t", "series").table})
    return OpenFederation.over(sites, TASKS, book, step, lags)


def learn_over(federation: OpenFederation) -> Result:
    return dagora.learn(SecureSeriesStatistics(federation, 2), "dynotears", lags=2)


def rounded(table: Table) -> Table:
    """The rows as the sites round them."""
    panel = Panel.of_table(table, "t", "series")
    book = codebook_of({"all": panel.table})
    rows = code_rows(panel.table, book, max(1024, table.n_rows))
    unit = np.array([coding.half_width for coding in book]) / 2.0**rows.bits
    values = np.array([coding.centre for coding in book]) + unit * rows.numbers.T
    labels = np.repeat(np.arange(len(panel.labels)), panel.lengths)
    steps = np.concatenate([np.arange(length) for length in panel.lengths])
    names = ["series", "t", *panel.table.names]
    return Table.from_numpy(np.column_stack([labels, steps, values]), names, continuous=names)


def test_however_series_are_dealt_out_the_weights_are_the_same_to_the_last_bit() -> None:
    central = learn_over(open_sites({"all": plant()}))
    for sites, seed in ((3, 0), (4, 1)):
        over = learn_over(open_sites(dealt(plant(), sites, seed)))
        np.testing.assert_array_equal(over.weights, central.weights)
        assert (over.graph, over.score) == (central.graph, central.score)
    pooled = dagora.learn(rounded(plant()), "dynotears", **IN_TIME)
    assert pooled.graph == central.graph
    np.testing.assert_allclose(central.weights, pooled.weights, rtol=0, atol=1e-9)
    assert central.stats["windows"] == pooled.stats["windows"] == 6 * 38


@pytest.mark.parametrize("method", ["dynotears", "admm-dynamic"])
def test_secret_and_open_sums_give_the_same(method: str) -> None:
    secret, clear = (
        dagora.learn_federated(dealt(plant()), method, secure=secure, **IN_TIME) for secure in (True, False)
    )
    np.testing.assert_array_equal(secret.weights, clear.weights)
    assert secret.graph == clear.graph == dagora.learn(plant(), "dynotears", **IN_TIME).graph
    assert secret.stats["bytes_from_north"] > 0


def test_one_sum_is_all_that_is_asked() -> None:
    asked = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            return getattr(sites, name)

    sites = open_sites(dealt(plant()))
    learn_over(Watched())  # type: ignore[arg-type]
    known = {
        "schema",
        "parties",
        "weight_sums",
    }  # rows without weights have no sums of them, which nobody asks
    assert [name for name in asked if name not in known] == ["lagged_moments"]
    assert sites.weight_sums() is None


def test_a_site_whose_series_are_too_short_adds_nothing() -> None:
    long = dealt(plant())
    short = plant().take(np.flatnonzero((plant().codes(0) == 0) & (plant().values(1) < 3)))
    labelled = short.to_pandas().assign(series="short")
    sites = {name: part.to_pandas().assign(series=part.to_pandas()["series"].astype(str)) for name, part in long.items()}  # fmt: skip
    central = dagora.learn_federated(sites, "dynotears", secure=False, **IN_TIME)
    more = dagora.learn_federated({**sites, "clinic": labelled}, "dynotears", secure=False, **IN_TIME)
    assert more.stats["windows"] == central.stats["windows"]
    assert more.graph == central.graph
    with pytest.raises(DataError, match="no site has a series of 61 steps"):
        dagora.learn_federated(sites, "dynotears", time="t", series="series", lags=60)


def shifted(table: Table, factor: float) -> object:
    frame = table.to_pandas()
    return frame.assign(t=frame["t"] * factor)


BAD: dict[str, tuple[Callable[[dict], dict], str]] = {
    "a series at two sites": (
        lambda sites: {**sites, "east": plant().take(np.flatnonzero(plant().codes(0) == 0))},
        "is at .* and at east: a series lives whole at one site",
    ),
    "steps of another length": (
        lambda sites: {**sites, "west": shifted(sites["west"], 2.0)},
        "steps of time are 1 long at north and 2 at west",
    ),
    "a time twice": (
        lambda sites: {**sites, "west": sites["west"].take([*range(sites["west"].n_rows), 3])},
        "west: in the series '.*' the time 4 is there twice",
    ),
    "no column of time": (
        lambda sites: {**sites, "west": sites["west"].select(["series", "x0", "x1", "x2", "x3"])},
        "there is no column 't'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_series_is_refused_by_name(what: str) -> None:
    change, words = BAD[what]
    with pytest.raises(DagoraError, match=words) as caught:
        dagora.learn_federated(change(dealt(plant())), "dynotears", **IN_TIME)
    assert "\n" not in str(caught.value)


def test_a_step_that_is_missing_at_a_site_is_told_and_no_window_reaches_over_it() -> None:
    sites = dealt(plant())
    west = sites["west"].take([k for k in range(sites["west"].n_rows) if k != 3])
    whole, without = (
        dagora.learn_federated({**sites, "west": rows}, "dynotears", **IN_TIME)
        for rows in (sites["west"], west)
    )
    assert any(line.startswith("west: 1 step is missing (4, between 3 and 5 in") for line in without.warnings)
    assert whole.stats["windows"] - without.stats["windows"] == 1 + IN_TIME["lags"]


def test_noise_for_privacy_is_refused_with_the_reason() -> None:
    with pytest.raises(OptionError, match="hides a series of T steps is about T times"):
        dagora.learn_federated(dealt(plant()), "dynotears", privacy={"epsilon": 1}, **IN_TIME)


def learn_windows_over(federation: OpenFederation, method: str, **given: object) -> Result:
    return dagora.learn(SecureSeriesStatistics(federation, 2), method, lags=2, **given)


@pytest.mark.parametrize(
    "method", ["hill-climb", "auto", "ges", "order-search", "dynamic", "pc", "notears", "k2"]
)
def test_methods_for_rows_learn_from_sums_over_windows_as_from_pooled_series(method: str) -> None:
    central = learn_windows_over(open_sites({"all": plant()}), method)
    over = learn_windows_over(open_sites(dealt(plant(), 4, 1)), method)
    assert (over.graph, over.score) == (central.graph, central.score)
    pooled = dagora.learn(rounded(plant()), method, **IN_TIME)
    assert over.graph == pooled.graph
    if pooled.score is not None:
        assert over.score == pytest.approx(pooled.score, rel=1e-9)
    assert over.lagged_graph is not None
    assert over.settings["lags"] == 2
    assert "228 windows of 3 steps" in over.message
    assert set(over.edge_gains) == set(pooled.edge_gains)


def test_secret_and_open_sums_give_the_same_search() -> None:
    secret, clear = (
        dagora.learn_federated(dealt(plant()), "hill-climb", secure=secure, **IN_TIME)
        for secure in (True, False)
    )
    assert secret.graph == clear.graph
    assert secret.score == clear.score
    default = dagora.learn_federated(dealt(plant()), time="t", series="series", secure=False)
    assert default.method == "auto"
    assert default.settings["lags"] == 1


def test_knowledge_of_time_holds_over_sites() -> None:
    known = {"forbidden": [["x0[t-*]", "x0"]], "required": [["x1[t-2]", "x0"]]}
    found = dagora.learn_federated(dealt(plant()), "tabu", secure=False, knowledge=known, **IN_TIME)
    assert ("x0[t-1]", "x0") not in found.graph.edges
    assert ("x1[t-2]", "x0") in found.graph.edges


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("admm", "takes rows as independent of each other"),
        ("notears-sob", "takes rows as independent of each other"),
        ("lingam", "lingam does not learn from series: choose var-lingam|needs rows"),
    ],
)
def test_methods_that_need_more_refuse_time(method: str, said: str) -> None:
    with pytest.raises(DagoraError, match=said):
        dagora.learn_federated(dealt(plant()), method, time="t", series="series")


def test_levels_are_not_summed_over_windows() -> None:
    frame = plant().to_pandas()
    frame["x0"] = np.where(frame["x0"] > 0, "high", "low")
    with pytest.raises(DataError, match="a method on series over sites needs continuous columns, but 'x0'"):
        dagora.learn_federated(
            dealt(Table.from_frame(frame, continuous=["t"])), "tabu", secure=False, **IN_TIME
        )


def test_methods_on_series_need_a_time() -> None:
    with pytest.raises(OptionError, match="time says which column holds the time"):
        dagora.learn_federated(dealt(plant()), "dynotears")


# --- the commands ---------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_table(plant(), tmp_path / "plant.csv")
    return tmp_path / "plant.csv"


@pytest.mark.slow
def test_processes_on_tls_give_the_graph_of_all_series(run: Callable, file: Path) -> None:
    line = ("--time", "t", "--series", "series", "--lags", 2, "--json", "--quiet")
    over = run("federate", "simulate", file, "--parties", 3, "-m", "dynotears", *line)
    assert (over.code, over.err) == (0, "")
    central = run("learn", file, "-m", "dynotears", *line)
    learned, known = json.loads(over.out), json.loads(central.out)
    assert learned["lagged_edges"] == known["lagged_edges"]
    assert learned["stats"]["bytes_from_site3"] > 0


def test_fewer_series_than_sites(run: Callable, file: Path) -> None:
    ran = run(
        "federate", "simulate", file, "--parties", 7, "-m", "dynotears", "--time", "t", "--series", "series"
    )
    assert ran.code == 2
    assert "6 series cannot be split among 7 sites" in ran.err


def test_the_owner_reads_about_windows_before_and_after(run: Callable, file: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    assert run("federate", "keys", keys, "--sites", "north,south,west").code == 0
    ran = run(
        "federate", "policy", "init", file, "--keys", keys, "--time", "t", "--series", "series", "--lags", 2
    )
    assert ran.code == 0
    policy = (keys / "north" / "policy.toml").read_text()
    assert 'questions = ["lagged"]' in policy
    assert "\nlags = 2\n" in policy
    assert "\nstep = 1.0\n" in policy
    for lags, code, words in (
        (2, 0, "policy allows it"),
        (3, 2, "(lags): the plan asks for windows that reach 3"),
    ):
        plan = tmp_path / f"plan{lags}.json"
        coordinator = ("federate", "coordinator", "--keys", keys / "coordinator", "-m", "dynotears")
        assert run(*coordinator, "--option", f"lags={lags}", "--write-plan", plan).code == 0
        client = ("federate", "client", file, "--keys", keys / "north", "--time", "t", "--series", "series")
        ran = run(*client, "--dry-run", plan)
        assert ran.code == code
        assert f"windows of {lags + 1} steps of time (each 1 long)" in ran.out
        assert words in ran.out + ran.err
    (keys / "north" / "policy.toml").write_text(policy.replace("step = 1.0", "step = 2.0"))
    ran = run(*client, "--dry-run", tmp_path / "plan2.json")
    assert ran.code == 2
    assert "steps of time are 1 long here, and 2 by the plan" in ran.err


def test_the_log_says_how_many_windows_were_summed() -> None:
    event = {"event": "answer", "asks": "lagged", "lags": 2, "windows": 76, "numbers": 91}
    assert "sums and products of 76 windows of 3 steps of time, 91 numbers" in next(
        iter(log_in_words([event]))
    )
