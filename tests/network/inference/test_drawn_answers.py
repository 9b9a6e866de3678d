"""Weighted samples beside exact answers, and rows given evidence beside exact distributions; seeds fixed."""

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.networks import DiscreteNetwork, Lines, MixedNetwork, Softmax
from dagora.network.sample import sample_network
from tests.network.inference.random_networks import (
    naive_bayes,
    random_discrete,
    random_gaussian,
    random_mixed,
)


def evidence_for(network, seed, most=2):
    """Levels and values of some nodes, taken from a row so that they are possible."""
    row = sample_network(network, 1, seed)
    names = np.random.default_rng(seed).permutation(network.graph.nodes)[: 1 + seed % most]
    levels = network.model.levels
    return {
        name: levels[name][row.columns[row.schema.index(name)][0]]
        if name in levels
        else float(row.columns[row.schema.index(name)][0])
        for name in names
    }


@pytest.mark.parametrize("make", [random_discrete, random_gaussian, random_mixed])
@pytest.mark.parametrize("seed", range(8))
def test_weighted_samples_agree_with_the_exact_answer(make, seed):
    network = make(6, seed)
    known = evidence_for(network, seed)
    for name in network.graph:
        if name in known:
            continue
        exact = network.query(of=name, given=known)
        drawn = network.query(of=name, given=known, method="sampling", samples=20_000, seed=seed)
        assert drawn.method == "sampling"
        assert 1 <= drawn.estimated.effective <= 20_000 + 1e-6
        if name in network.model.levels:
            off = np.abs(drawn.table - exact.table)
            assert (off <= 5 * drawn.standard_errors + 1e-9).all()
        else:
            assert abs(drawn.mean[name] - exact.mean[name]) <= 5 * drawn.standard_errors[0] + 1e-9
            assert drawn.sd[name] == pytest.approx(exact.sd[name], rel=0.2, abs=0.02)


def test_samples_under_an_intervention_leave_its_causes_alone():
    """Age decides about the drug and about death: who is given it is no older than others."""
    levels = {"age": ("young", "old"), "drug": ("no", "yes"), "death": ("no", "yes")}
    tables = {
        "age": np.array([0.5, 0.5]),
        "drug": np.array([[0.9, 0.1], [0.1, 0.9]]),
        "death": np.array([[[0.9, 0.1], [0.95, 0.05]], [[0.3, 0.7], [0.5, 0.5]]]),
    }
    graph = DAG(["age", "drug", "death"], [("age", "drug"), ("age", "death"), ("drug", "death")])
    network = DiscreteNetwork(graph, levels, tables)
    drawn = network.query("P(death | do(drug=yes))", method="sampling", samples=20_000, seed=1)
    assert abs(drawn.table[1] - 0.5 * 0.05 - 0.5 * 0.5) < 0.02
    seen = network.query("P(death | drug=yes)", method="sampling", samples=20_000, seed=1)
    assert abs(seen.table[1] - 0.1 * 0.05 - 0.9 * 0.5) < 0.02


def test_standard_errors_are_those_of_repeated_estimates():
    network = random_mixed(6, 4)
    known = evidence_for(network, 4)
    name = next(node for node in network.graph if node in network.levels and node not in known)
    many = [
        network.query(of=name, given=known, method="sampling", samples=500, seed=seed) for seed in range(200)
    ]
    spread = np.std([answer.table[0] for answer in many])
    assert np.mean([answer.standard_errors[0] for answer in many]) == pytest.approx(spread, rel=0.2)


def test_a_choice_of_a_hidden_number_is_estimated_and_says_so():
    network = MixedNetwork(
        DAG("xc", ["xc"]),
        {"c": ("no", "yes")},
        choices={"c": Softmax([0.0, 0.0], [[0.0], [1.0]])},
        lines={"x": Lines(0.0, np.zeros(0), 1.0)},
    )
    answer = network.query("P(c)")
    assert answer.table[1] == pytest.approx(0.5, abs=5 * answer.standard_errors[1])
    assert "estimated from 100,000 weighted samples" in repr(answer)
    assert answer.to_dict()["samples"] == 100_000
    assert answer.to_dict()["probabilities"][0]["standard_error"] > 0
    # Given c, x has the density 2 φ(x) σ(x); its mean is ∫ 2 x φ(x) σ(x) dx.
    grid = np.linspace(-8, 8, 20_001)
    mean = np.trapezoid(2 * grid * stats.norm.pdf(grid) / (1 + np.exp(-grid)), grid)
    given = network.query("P(x | c=yes)", samples=50_000, seed=3)
    assert given.mean["x"] == pytest.approx(mean, abs=5 * given.standard_errors[0])
    again = network.query("P(x | c=yes)", samples=50_000, seed=3)
    assert again.mean == given.mean


def test_samples_that_never_meet_the_evidence_say_so():
    network = DiscreteNetwork(DAG("a"), {"a": ("n", "y")}, {"a": np.array([1.0, 0.0])})
    with pytest.raises(QueryError, match="probability zero"):
        MixedNetwork(
            DAG("ab"),
            {"a": ("n", "y"), "b": ("n", "y")},
            {"a": network.tables["a"], "b": network.tables["a"]},
        ).query("P(b | a=y)", method="sampling")


@pytest.mark.parametrize("make", [random_discrete, random_gaussian, random_mixed])
@pytest.mark.parametrize("seed", range(8))
def test_rows_given_evidence_follow_the_exact_answers(make, seed):
    network = make(6, seed)
    known = evidence_for(network, seed)
    rows = 4000
    table = sample_network(network, rows, seed=9, evidence=known)
    levels = network.model.levels
    for i, name in enumerate(network.graph):
        column = table.columns[i]
        if name in known:
            assert (column == (levels[name].index(known[name]) if name in levels else known[name])).all()
            continue
        answer = network.query(of=name, given=known)
        if name in levels:
            shares = np.bincount(column, minlength=len(levels[name])) / rows
            assert (
                np.abs(shares - answer.table) <= 5 * np.sqrt(answer.table * (1 - answer.table) / rows) + 1e-9
            ).all()
        else:
            assert column.mean() == pytest.approx(
                answer.mean[name], abs=5 * answer.sd[name] / rows**0.5 + 1e-9
            )
            assert column.std() == pytest.approx(answer.sd[name], rel=0.15, abs=1e-9)


@pytest.mark.parametrize("make", [random_discrete, random_gaussian, random_mixed])
def test_pairs_of_rows_given_evidence_hang_together(make):
    network = make(6, 12)
    known = evidence_for(network, 12)
    table = sample_network(network, 20_000, seed=2, evidence=known)
    hidden = [name for name in network.graph if name not in known]
    levels = network.model.levels
    for one in hidden:
        for other in hidden:
            if one == other or (one in levels) != (other in levels):
                continue
            answer = network.query(of=[one, other], given=known)
            a, b = (table.columns[network.graph.index(name)] for name in (one, other))
            if one in levels:
                shares = np.zeros(answer.table.shape)
                np.add.at(shares, (a, b), 1 / 20_000)
                np.testing.assert_allclose(shares, answer.table, atol=0.02)
            else:
                spread = answer.sd[one] * answer.sd[other]
                assert np.cov(a, b)[0, 1] == pytest.approx(answer.covariance[0, 1], abs=0.05 * spread)


def test_rows_after_an_intervention_leave_the_causes_alone(clinic):
    table = sample_network(clinic, 20_000, seed=1, do={"tumour": "yes"})
    shares = np.bincount(table.codes(clinic.graph.index("smoker"))) / 20_000
    np.testing.assert_allclose(shares, clinic.tables["smoker"], atol=0.02)
    seen = sample_network(clinic, 20_000, seed=1, evidence={"tumour": "yes"})
    expected = clinic.query("P(smoker | tumour=yes)").table
    np.testing.assert_allclose(np.bincount(seen.codes(1)) / 20_000, expected, atol=0.02)
    assert abs(expected - clinic.tables["smoker"]).max() > 0.05


def test_rows_without_evidence_are_those_of_before(clinic):
    assert sample_network(clinic, 100, seed=5).equals(clinic.sample(100, 5, evidence={}))


def test_contradicting_evidence_is_drawn_from_logarithms():
    network = naive_bayes(300)
    known = {name: "yes" for name in network.graph if name != "class"}
    table = sample_network(network, 5000, seed=0, evidence=known)
    assert table.codes(0).mean() == pytest.approx(0.6, abs=0.04)


def test_impossible_evidence_has_no_rows(clinic):
    with pytest.raises(QueryError, match="probability zero"):
        sample_network(clinic, 5, seed=0, evidence={"scan": "unread", "tumour": "no"})


def test_descendants_of_evidence_may_be_choices():
    network = MixedNetwork(
        DAG("axc", ["ax", "xc"]),
        {"a": ("n", "y"), "c": ("n", "y")},
        {"a": np.array([0.5, 0.5])},
        {"c": Softmax([0.0, 0.0], [[0.0], [5.0]])},
        {"x": Lines([-3.0, 3.0], np.zeros((2, 0)), [0.1, 0.1])},
    )
    table = sample_network(network, 200, seed=0, evidence={"x": 2.9})
    assert (table.codes(0) == 1).all()
    assert (table.codes(2) == 1).mean() > 0.95
    with pytest.raises(QueryError, match="no exact answer; give 'x' too, or draw rows without evidence and"):
        sample_network(network, 200, seed=0, evidence={"c": "y"})
    assert (sample_network(network, 200, seed=0, evidence={"c": "y", "x": 2.9}).codes(2) == 1).all()
    assert (sample_network(network, 200, seed=0).codes(2) == 1).any()


def below_a_softmax(sd: float, level_slope: float = 2.0) -> MixedNetwork:
    """x ~ N(0, 1); c is a softmax of x; y is x with a little noise."""
    graph = DAG(["x", "c", "y"], [("x", "c"), ("x", "y")])
    choices = {"c": Softmax(np.zeros(2), np.array([[0.0], [level_slope]]))}
    lines = {
        "x": Lines(np.array(0.0), np.zeros(0), np.array(1.0)),
        "y": Lines(np.array(0.0), np.array([1.0]), np.array(sd)),
    }
    return MixedNetwork(graph, {"c": ("no", "yes")}, {}, choices, lines)


@pytest.mark.parametrize("sd", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("at", [-1.5, 0.0, 0.7])
def test_sharp_evidence_below_a_softmax(sd: float, at: float) -> None:
    """x is all but known, so P(c | y) is the softmax there; forward samples of x hardly ever come near."""
    answer = below_a_softmax(sd).query(of="c", given={"y": at})
    truth = 1 / (1 + np.exp(-2 * at))
    told = answer.to_dict()
    assert 10_000 < told["effective_samples"] == answer.estimated.effective < told["samples"]
    assert abs(answer.probabilities["yes"] - truth) < 5 * answer.errors["yes"]
    assert 0 < answer.errors["yes"] < 0.01


def test_an_estimate_is_never_printed_as_if_it_were_exact() -> None:
    far = below_a_softmax(1e-3).query(of="c", given={"y": 12.0})
    assert far.probabilities["yes"] > 1 - 1e-9
    assert far.errors["yes"] == pytest.approx(1e-5, rel=0.01)
    assert "± 0\n" not in f"{far!r}\n"


def test_too_few_effective_samples_claim_no_error() -> None:
    few = below_a_softmax(1e-3).query(of="c", given={"y": 0.0}, samples=5)
    assert few.errors == {}
    assert "±" not in repr(few)
    assert "too few to rely on" in repr(few)
