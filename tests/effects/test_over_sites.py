"""Effects over sites are those of the pooled rows: the estimates, the intervals and what is said about them."""

import numpy as np
import pytest

import dagora
from dagora.api.effect_federated import effect_federated
from dagora.base.errors import DataError, OptionError, RowsUnavailableError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.graph.cpdag import CPDAG
from dagora.graph.dag import DAG
from tests.api.test_learn_federated import as_coded


def sites(table, parties=3):
    return {f"site{k}": part for k, part in enumerate(split_rows(table, parties, seed=1))}


def patients(rows=900, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 3, rows)
    severe = rng.random(rows) < 0.3 + 0.1 * age
    drug = rng.random(rows) < np.where(severe, 0.3, 0.7)
    death = rng.random(rows) < 0.15 + 0.5 * severe - 0.1 * drug + 0.05 * age
    columns = {"age": age, "severity": severe, "drug": drug, "death": death}
    return Table.from_numpy(np.column_stack(list(columns.values())).astype(int), names=list(columns))


PATIENTS = DAG(
    ["age", "severity", "drug", "death"],
    [("age", "severity"), ("severity", "drug"), ("age", "death"), ("severity", "death"), ("drug", "death")],
)


def measured(rows=400, seed=0):
    """Noise that is larger where x is larger, so that the usual standard errors are wrong."""
    rng = np.random.default_rng(seed)
    z, w = rng.standard_normal((2, rows))
    x = 0.7 * z + rng.standard_normal(rows)
    y = 2 * x - z + 0.5 * w + rng.standard_normal(rows) * (0.3 + np.abs(x))
    return Table.from_numpy(np.column_stack([z, w, x, y]), names=["z", "w", "x", "y"])


MEASURED = DAG(["z", "w", "x", "y"], [("z", "x"), ("z", "y"), ("x", "y"), ("w", "y")])


def same(over_sites, pooled, rel=1e-9):
    """All that is told is the same."""
    found, known = over_sites.to_dict(), pooled.to_dict()
    compare(found, known, rel)


def compare(found, known, rel):
    if isinstance(known, dict):
        assert found.keys() == known.keys()
        for key, value in known.items():
            compare(found[key], value, rel)
    elif isinstance(known, list):
        assert len(found) == len(known)
        for one, other in zip(found, known, strict=True):
            compare(one, other, rel)
    elif isinstance(known, float):
        assert found == pytest.approx(known, rel=rel, abs=1e-12)
    else:
        assert found == known


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize("graph", [PATIENTS, CPDAG.from_dag(PATIENTS)])
def test_counts_give_the_effects_of_pooled_rows(graph, secure):
    table = patients()
    pooled = dagora.effect(table, "drug", "death", graph=graph)
    same(effect_federated(sites(table), "drug", "death", graph=graph, secure=secure), pooled)
    assert pooled.interval or pooled.range


@pytest.mark.parametrize(
    "asked",
    [
        {"x": "severity", "y": "death", "levels": [0, 1]},
        {"x": "drug", "y": "death", "given": {"severity": "1"}},
        {"x": "age", "y": "death", "levels": ["2", "0"], "event": "0"},
        {"x": ["drug", "severity"], "y": "death"},
        {"x": "drug", "y": "death", "seed": 3},
    ],
)
def test_other_questions_about_counts(asked):
    table = patients()
    question = {"graph": PATIENTS, **asked}
    same(effect_federated(sites(table), **question, secure=False), dagora.effect(table, **question))


def test_thin_strata_are_regressed_as_pooled_rows_are():
    rng = np.random.default_rng(3)
    columns = {f"z{k}": rng.integers(0, 2, 300) for k in range(6)}
    total = sum(columns.values())
    columns["x"] = (rng.random(300) < 0.2 + 0.1 * total).astype(int)
    columns["y"] = (rng.random(300) < 0.1 + 0.1 * total + 0.1 * columns["x"]).astype(int)
    table = Table.from_numpy(np.column_stack(list(columns.values())), names=list(columns))
    edges = [(f"z{k}", name) for k in range(6) for name in "xy"]
    graph = DAG(columns, [*edges, ("x", "y")])
    pooled = dagora.effect(table, "x", "y", graph=graph)
    assert pooled.how == "standardised logistic regression"
    # Newton's steps end within rounding of the optimum, which is another on each kind of processor.
    same(effect_federated(sites(table), "x", "y", graph=graph, secure=False), pooled, rel=1e-7)


def with_mean_leverage(monkeypatch):
    """Let the regressions of rows give each row the mean leverage, as sums over sites do."""

    def einsum(spec, *arrays, own=np.einsum):
        found = own(spec, *arrays)
        return np.full_like(found, found.mean()) if spec == "ij,ij->i" else found

    monkeypatch.setattr("dagora.effects.least_squares.np.einsum", einsum)


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize("rows", [60, 4000])
@pytest.mark.parametrize(
    "graph", [MEASURED, CPDAG(MEASURED, [("x", "y")], [("z", "x"), ("z", "y"), ("w", "y")])]
)
def test_moments_give_the_estimates_and_robust_intervals_of_pooled_rows(graph, rows, secure, monkeypatch):
    table = measured(rows)
    found = effect_federated(sites(table), "x", "y", graph=graph, secure=secure)
    pooled = dagora.effect(table, "x", "y", graph=graph)
    ends, known = (one.interval or one.range for one in (found, pooled))
    width = known[1] - known[0]
    assert ends == pytest.approx(known, abs=width * 4 / rows + 1e-6)  # the leverage of each row: about k/n
    with_mean_leverage(monkeypatch)
    same(found, dagora.effect(as_coded(table), "x", "y", graph=graph))


@pytest.mark.full
def test_intervals_from_moments_hold_the_truth():
    """With noise that grows with x, for which the usual standard errors are too small."""
    held = 0
    for seed in range(600):
        found = effect_federated({"all": measured(150, seed)}, "x", "y", graph=MEASURED, secure=False)
        held += found.interval[0] <= 2 <= found.interval[1]
    assert 0.92 < held / 600 < 0.98


def test_several_continuous_causes_and_levels(monkeypatch):
    table = measured()
    with_mean_leverage(monkeypatch)
    question = {"x": ["x", "w"], "y": "y", "graph": MEASURED, "levels": {"x": [2, 1], "w": [0, 1]}}
    same(effect_federated(sites(table), **question, secure=False), dagora.effect(as_coded(table), **question))
    far = effect_federated(sites(table), "x", "y", graph=MEASURED, levels=[99, 0], secure=False)
    low, high = (f"{end(table.values(2)):.6g}" for end in (min, max))
    assert far.support.notes == (f"extrapolation: x=99 is outside the codebook's range, {low} to {high}",)


def test_a_column_that_others_determine():
    table = measured()
    z, w, x, y = table.columns
    twice = Table.from_numpy(np.column_stack([z, 2 * z, x, y]), names=["z", "w", "x", "y"])
    question = {"x": "x", "y": "y", "graph": MEASURED}
    found = effect_federated(sites(twice), **question, secure=False)
    assert found.estimate == pytest.approx(dagora.effect(twice, **question).estimate, rel=1e-5)
    same_as_z = Table.from_numpy(np.column_stack([z, w, 2 * z, y]), names=["z", "w", "x", "y"])
    with pytest.raises(DataError, match="determine"):
        effect_federated(sites(same_as_z), **question, secure=False)


def test_an_interval_allows_for_the_rounding_of_sums_where_columns_nearly_determine_each_other():
    """Correlations of 0.9999999998: the pooled rows still tell the slope, but sums of products do not."""
    z, w, x, y = measured().columns
    near = Table.from_numpy(np.column_stack([2 * x + 1e-4 * z, w, x, y]), names=["z", "w", "x", "y"])
    found = effect_federated(sites(near), "x", "y", graph=MEASURED, secure=False)
    pooled = dagora.effect(near, "x", "y", graph=MEASURED)
    assert found.interval[0] < pooled.interval[0] < pooled.interval[1] < found.interval[1]
    assert "the interval is wider, as sums are rounded" in found.to_text()


def test_a_row_with_all_the_leverage_is_told():
    """Its own leverage makes the interval of the rows far wider."""
    z, w, x, y = measured().columns
    far = Table.from_numpy(np.column_stack([z, w, np.r_[1e4, x[1:]], y]), names=["z", "w", "x", "y"])
    found = effect_federated(sites(far), "x", "y", graph=MEASURED, secure=False)
    widths = [
        one.interval[1] - one.interval[0] for one in (found, dagora.effect(far, "x", "y", graph=MEASURED))
    ]
    assert widths[1] > 10 * widths[0]
    (note,) = found.support.notes
    assert note.startswith("single rows may have a leverage of up to 1: ")
    plain = effect_federated(sites(measured()), "x", "y", graph=MEASURED, secure=False)
    assert plain.support.notes == ()


def test_both_kinds_are_refused_with_a_way_out():
    table = measured(90)
    columns = {**dict(zip(table.names, table.columns, strict=True)), "g": ["a", "b", "c"] * 30}
    held = dict.fromkeys(("north", "south", "west"), columns)
    graph = DAG(columns, [("g", "x"), ("g", "y"), ("x", "y")])
    with pytest.raises(RowsUnavailableError, match="cut 'x' into levels in the codebook"):
        effect_federated(held, "x", "y", graph=graph)
    with pytest.raises(RowsUnavailableError, match=r"P\(g=a\) .* needs a logistic regression of rows"):
        effect_federated(held, "x", "g=a", graph=DAG(columns, [("x", "g")]), levels=[1, 0])


def test_without_an_effect_nobody_is_asked():
    found = effect_federated(sites(patients(90)), "death", "drug", graph=PATIENTS)
    assert (found.verdict, found.rows) == ("zero", 0)


def test_bad_questions_are_refused():
    held = sites(patients(90))
    with pytest.raises(OptionError, match="cannot be both set and the outcome"):
        effect_federated(held, "drug", "drug", graph=PATIENTS)
    with pytest.raises(DataError, match="no column named 'dose'"):
        effect_federated(held, "dose", "death", graph=PATIENTS)
    with pytest.raises(OptionError, match="at least 3 are needed"):
        effect_federated({"north": patients(90)}, "drug", "death", graph=PATIENTS)
