"""Weights and counts over sites: what is learned is that of the pooled rows with weights."""

import numpy as np
import pandas as pd
import pytest

import dagora
from dagora.data.columns.row_design import RowDesign
from dagora.data.designed import DesignedTable
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.parties.horizontal.plan.coded_rows import code_rows, code_weights
from dagora.parties.horizontal.plan.drafting import codebook_of
from dagora.parties.horizontal.session.federation import OpenFederation, Site
from dagora.parties.horizontal.session.secure_statistics import SecureStatistics
from dagora.stats.designed import DesignStatistics

ROWS = 300


def designed(kind: str, seed: int = 3) -> DesignedTable:
    """Dependent columns of one kind, or of both, with weights."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(5, ROWS))
    x[2] += x[0] + 0.5 * x[1]
    x[3] += x[2]
    x[4] += 0.5 * x[3]
    frame = pd.DataFrame(x.T, columns=list("abcde"))
    for place, name in enumerate("abcde"):
        if kind == "discrete" or (kind == "mixed" and place % 2):
            frame[name] = np.digitize(frame[name], [-1, 0.5]).astype(str)
    weights = random.gamma(2.0, 1.5, ROWS)
    return DesignedTable(Table.from_frame(frame), RowDesign(weights, by_weight="w"))


def as_sites(rows: DesignedTable) -> dict[str, DesignedTable]:
    return {f"site{k}": part for k, part in enumerate(split_rows(rows, 3, seed=2))}


def as_coded(rows: DesignedTable) -> DesignedTable:
    """The rows and weights as all sites together write them, in fixed point."""
    book = codebook_of({"all": rows.table})
    coded = code_rows(rows.table, book, 1024)
    columns = list(rows.table.columns)
    for number, coding in zip(coded.numbers, book.continuous, strict=True):
        place = rows.schema.index(coding.name)
        columns[place] = coding.centre + coding.half_width * np.ldexp(number, -coded.bits)
    given = rows.design.given_weights
    assert given is not None
    weights = code_weights(given, float(given.max()), coded.bits).astype(float)
    return DesignedTable(Table(rows.schema, tuple(columns)), RowDesign(weights, by_weight="w"))


def over_sites(rows: DesignedTable) -> SecureStatistics:
    sites = [
        Site(name, part.table, weights=part.design.given_weights) for name, part in as_sites(rows).items()
    ]
    return SecureStatistics(OpenFederation.over(sites, {}))


def test_counts_are_sums_of_weights_of_all_sites() -> None:
    rows = designed("discrete")
    sums, pooled = over_sites(rows), DesignStatistics(as_coded(rows))
    sets = [(), (0,), (0, 1), (2, 0, 4), (3, 1)]
    assert sums.n_rows == pooled.n_rows < ROWS
    np.testing.assert_allclose(sums.counts(sets).values, pooled.counts(sets).values, rtol=1e-12)
    for columns in sets[1:]:
        ours, theirs = sums.contingency(columns), pooled.contingency(columns)
        assert ours.cells.tolist() == theirs.cells.tolist()
        np.testing.assert_allclose(ours.counts, theirs.counts, rtol=1e-12)


def test_moments_are_those_of_the_pooled_rows_with_weights() -> None:
    rows = designed("continuous")
    ours, theirs = over_sites(rows).moments(), DesignStatistics(as_coded(rows)).moments()
    assert ours.n == theirs.n
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-12, atol=1e-14)
    scale = np.sqrt(np.outer(np.diag(theirs.scatter), np.diag(theirs.scatter)))
    assert np.abs((ours.scatter - theirs.scatter) / scale).max() < 1e-12
    basis = over_sites(rows).basis_moments(2).moments
    assert basis.n == theirs.n


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("auto", "discrete"),
        ("tabu", "discrete"),
        ("tabu", "continuous"),
        ("tabu", "mixed"),
        ("pc", "continuous"),
        ("pc", "discrete"),
    ],
)
def test_the_graph_is_that_of_the_pooled_rows_with_weights(method: str, kind: str) -> None:
    rows = designed(kind)
    pooled = dagora.learn(rows, method)
    coded = dagora.learn(as_coded(rows), method)
    found = dagora.learn_federated(as_sites(rows), method)
    assert found.graph == pooled.graph == coded.graph
    assert found.stats["effective_rows"] == pooled.stats["effective_rows"]
    assert "with their weights the 300 rows of all sites count as" in found.message
    if method == "tabu":
        assert found.score == pytest.approx(coded.score, rel=1e-8 if kind == "mixed" else 1e-12)
        assert found.score == pytest.approx(pooled.score, rel=1e-6)


def test_a_column_of_counts_stays_at_the_site_to_the_last_bit() -> None:
    rows = designed("discrete").table
    frame = pd.DataFrame({name: rows.codes(k) for k, name in enumerate(rows.names)}).astype(str)
    frame["n"] = np.random.default_rng(1).integers(0, 6, ROWS)
    files = {f"site{k}": frame.iloc[k::3] for k in range(3)}
    pooled = dagora.learn(frame, "tabu", counts="n")
    found = dagora.learn_federated(files, "tabu", counts="n")
    assert found.graph == pooled.graph
    assert found.score == pooled.score
    assert found.stats["rows"] == frame["n"].sum()


def test_weights_are_read_from_the_column_of_each_site() -> None:
    rows = designed("discrete")
    frame = pd.DataFrame({name: rows.table.codes(k) for k, name in enumerate(rows.names)}).astype(str)
    frame["w"] = rows.design.given_weights
    found = dagora.learn_federated({f"s{k}": frame.iloc[k::3] for k in range(3)}, "tabu", weights="w")
    assert found.graph == dagora.learn(frame, "tabu", weights="w").graph


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"method": "vote"}, "vote over sites takes every row for one: leave weights out"),
        ({"method": "tabu", "privacy": {"epsilon": 1}}, "a release with noise takes every row for one"),
    ],
)
def test_what_takes_no_weights_says_so(options: dict, line: str) -> None:
    with pytest.raises(dagora.DagoraError, match=line) as told:
        dagora.learn_federated(as_sites(designed("continuous")), **options)
    assert "\n" not in str(told.value)


def test_series_with_weights_are_refused() -> None:
    rows = designed("continuous")
    with pytest.raises(
        dagora.OptionError, match="rows that follow each other in time are taken as they stand"
    ):
        dagora.learn_federated(as_sites(rows), "dynotears", time="a")


def test_sites_that_do_not_agree_about_weights_are_refused() -> None:
    sites = as_sites(designed("discrete"))
    sites["site1"] = sites["site1"].table
    with pytest.raises(dagora.DataError, match=r"weights says which column of this table has the weights"):
        dagora.learn_federated(sites, "tabu")
    book = codebook_of({name: getattr(part, "table", part) for name, part in sites.items()})
    with pytest.raises(dagora.DataError, match="rows count alike by the codebook, and these have weights"):
        dagora.learn_federated(as_sites(designed("discrete")), "tabu", codebook=book)


def test_groups_over_sites_are_refused() -> None:
    rows = designed("discrete")
    groups = RowDesign(groups=np.arange(ROWS) // 3, by_group="g")
    with pytest.raises(dagora.OptionError, match="leave group out, or learn at one site"):
        dagora.learn_federated(as_sites(DesignedTable(rows.table, groups)), "tabu")


def test_effects_over_sites_take_no_weights() -> None:
    with pytest.raises(dagora.OptionError, match="an effect over sites takes every row for one"):
        dagora.effect_federated(
            as_sites(designed("continuous")), "a", "c", graph=dagora.DAG("abcde", [("a", "c")])
        )
