"""Sensitivity to parameters and evidence, against the question asked again of a changed network."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from dagora.base.errors import OptionError, QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.sensitivity import row_slopes
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Lines, MixedNetwork, Softmax
from dagora.report.tornado_chart import draw_tornado
from tests.network.inference.random_networks import random_discrete, random_gaussian


def with_parameter(network, node, cell, to):
    """The network in which one parameter is set, the others of its row in proportion."""
    table = network.tables[node].copy()
    row = table[cell[:-1]]
    here = row[cell[-1]]
    row *= (1 - to) / (1 - here) if here < 1 else 0.0
    if here >= 1 and len(row) > 1:
        row[:] = (1 - to) / (len(row) - 1)
    row[cell[-1]] = to
    return replace(network, tables={**network.tables, node: table})


def cell_named(network, name):
    """The node and the cell of a parameter such as P(b=u | a=v)."""
    inside = name[2:-1]
    own, _, above = inside.partition(" | ")
    node, level = own.split("=")
    codes = dict(one.split("=") for one in above.split(", ")) if above else {}
    parents = network.graph.parents(node)
    return node, (*(network.levels[p].index(codes[p]) for p in parents), network.levels[node].index(level))


@pytest.mark.parametrize("seed", range(40))
def test_every_parameter_moves_the_answer_as_a_changed_network_says(seed):
    network = random_discrete(6, seed)
    rng = np.random.default_rng(seed)
    asked, seen, likely = rng.permutation(network.graph.nodes)[:3]
    event = f"P({asked}={network.levels[asked][0]} | {seen}={network.levels[seen][0]})"
    likelihood = {likely: dict.fromkeys(network.levels[likely], 0.3) | {network.levels[likely][0]: 0.9}}
    extra = {"likelihood": likelihood} if seed % 2 else {}
    try:
        value = next(iter(network.query(event, **extra).probabilities.values()))
    except QueryError:
        with pytest.raises(QueryError):
            network.sensitivity(event, **extra)
        return
    found = network.sensitivity(event, spread=0.2, **extra)
    assert found.closed_form
    assert found.value == pytest.approx(value)

    def answer(node, cell, to):
        changed = with_parameter(network, node, cell, to)
        return next(iter(changed.query(event, **extra).probabilities.values()))

    listed = {one.name for one in found.parameters}
    for one in found.parameters:
        node, cell = cell_named(network, one.name)
        assert one.value == pytest.approx(network.tables[node][cell])
        for to, told in ((one.low, one.answer_low), (one.high, one.answer_high)):
            if abs(to - 1) > 1e-12 or one.value == 1:
                assert answer(node, cell, to) == pytest.approx(told, abs=1e-9), one
        step = 1e-6 if one.value < 1 else -1e-6
        slope = (answer(node, cell, one.value + step) - value) / step
        assert slope == pytest.approx(one.derivative, rel=1e-3, abs=1e-4), one
    swings = [one.swing(found.value) for one in found.parameters]
    assert swings == sorted(swings, reverse=True)
    # Those left out move nothing.
    for node in network.graph:
        for cell in np.ndindex(network.tables[node].shape):
            here = network.tables[node][cell]
            parents = network.graph.parents(node)
            codes = [f"{p}={network.levels[p][c]}" for p, c in zip(parents, cell, strict=False)]
            name = f"P({node}={network.levels[node][cell[-1]]}{' | ' if codes else ''}{', '.join(codes)})"
            if name not in listed and 0 < here < 1:
                with suppress(QueryError):  # its row may be needed for the evidence to be possible
                    assert answer(node, cell, 0.8 * here) == pytest.approx(value, abs=1e-9)


def test_by_hand():
    """P(a) = θ, P(b=y | a) = 0.9 or 0.2: P(a=y | b=y) = 0.9 θ / (0.2 + 0.7 θ), of slope 0.18 / (0.2 + 0.7 θ)²."""
    network = DiscreteNetwork(
        DAG("ab", ["ab"]),
        dict.fromkeys("ab", ("n", "y")),
        {"a": np.array([0.7, 0.3]), "b": np.array([[0.8, 0.2], [0.1, 0.9]])},
    )
    found = network.sensitivity("P(a=y | b=y)")
    one = next(one for one in found.parameters if one.name == "P(a=y)")
    assert one.derivative == pytest.approx(0.18 / 0.41**2)
    assert one.answer_low == pytest.approx(0.9 * 0.27 / (0.2 + 0.7 * 0.27))
    assert [(e.evidence, e.answer_without) for e in found.evidence] == [("b=y", pytest.approx(0.3))]
    assert "slope 1.071" in repr(found)
    assert found.to_dict()["derivatives"] == "closed form"
    assert draw_tornado(found).startswith("<svg")
    none = network.sensitivity("P(a=y)", spread=0.5)
    assert {one.name for one in none.parameters} == {"P(a=y)", "P(a=n)"}


def test_contrasts_have_a_closed_form_too():
    network = DiscreteNetwork(
        DAG("ab", ["ab"]),
        dict.fromkeys("ab", ("n", "y")),
        {"a": np.array([0.7, 0.3]), "b": np.array([[0.8, 0.2], [0.1, 0.9]])},
    )
    for sign in "-/":
        question = f"P(b=y | a=y) {sign} P(b=y)"
        found = network.sensitivity(question)
        assert found.closed_form
        for one in found.parameters:
            node, cell = cell_named(network, one.name)
            for to, told in ((one.low, one.answer_low), (one.high, one.answer_high)):
                assert with_parameter(network, node, cell, to).query(question).values[0] == pytest.approx(
                    told
                )
            after = with_parameter(network, node, cell, one.value + 1e-6).query(question).values[0]
            assert (after - found.value) / 1e-6 == pytest.approx(one.derivative, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_means_of_normal_networks_are_asked_again(seed):
    network = random_gaussian(4, seed)
    asked, seen = network.graph.order[-1], network.graph.order[0]
    found = network.sensitivity(f"P({asked} | {seen}=1.5)")
    assert not found.closed_form
    for one in found.parameters:
        if one.name == f"intercept of {asked}":
            assert one.derivative == pytest.approx(1.0, abs=1e-6)
            assert one.high - one.value == pytest.approx(0.1 * network.sds[asked])
    assert all(one.swing(found.value) > 0 for one in found.parameters)


def test_logarithms_take_over_where_numbers_underflow(monkeypatch):
    network = random_discrete(5, 7)
    asked = next(node for node in network.graph if len(network.levels[node]) > 1)
    question = f"P({asked}={network.levels[asked][0]})"
    before = network.sensitivity(question)
    monkeypatch.setattr("dagora.network.inference.factors.LEAST_SPAN", np.inf)
    after = network.sensitivity(question)
    assert [one.name for one in after.parameters] == [one.name for one in before.parameters]
    for one, other in zip(after.parameters, before.parameters, strict=True):
        assert one.derivative == pytest.approx(other.derivative)
        assert one.answer_high == pytest.approx(other.answer_high)


def test_where_a_parameter_is_one_the_others_rise_alike():
    assert row_slopes(np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.2, 0.4])).tolist() == pytest.approx(
        [0.2, -0.3, -0.1]
    )


def test_refusals():
    network = random_discrete(4, 1)
    wide = next(node for node in network.graph if len(network.levels[node]) > 1)
    with pytest.raises(QueryError, match="sensitivity is that of one number"):
        network.sensitivity(f"P({wide})")
    with pytest.raises(OptionError, match="spread must be a number between 0 and 1"):
        network.sensitivity(f"P({wide}={network.levels[wide][0]})", spread=1.5)
    mixed = MixedNetwork(
        DAG(["x", "a"], [("x", "a")]),
        levels={"a": ("n", "y")},
        choices={"a": Softmax([0.0, 0.0], [[0.0], [1.0]])},
        lines={"x": Lines(0.0, np.zeros(0), 1.0)},
    )
    with pytest.raises(QueryError, match="sensitivity needs exact answers"):
        mixed.sensitivity("P(a=y)")
    assert (
        GaussianNetwork(DAG("x"), {"x": 0.0}, {"x": np.zeros(0)}, {"x": 1.0})
        .sensitivity("P(x > 1)")
        .parameters
    )


def test_chances_of_one_are_moved_too_where_evidence_is_soft():
    """By hand: with P(b=u | a=v) = 1 moved to 0.9, Jeffrey's rule on b gives the answer again."""
    levels = {"a": ("u", "v"), "b": ("u", "v")}
    tables = {"a": np.array([0.4, 0.6]), "b": np.array([[0.3, 0.7], [1.0, 0.0]])}
    network = DiscreteNetwork(DAG("ab", ["ab"]), levels, tables)
    found = network.sensitivity("P(a=u | soft(b, u=0.5, v=0.5))")
    (one,) = (one for one in found.parameters if one.name == "P(b=u | a=v)")

    def answer(theta):
        joint = np.array([0.4, 0.6])[:, None] * np.array([[0.3, 0.7], [theta, 1 - theta]])
        return (joint[0] / joint.sum(axis=0) * 0.5).sum()

    assert (one.low, one.high, one.answer_high) == (0.9, 1.0, pytest.approx(answer(1.0)))
    assert one.answer_low == pytest.approx(answer(0.9))
    assert one.derivative == pytest.approx((answer(1.0) - answer(1 - 1e-5)) / 1e-5, rel=1e-3)
