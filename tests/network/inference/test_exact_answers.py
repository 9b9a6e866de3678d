"""Exact answers against the whole joint distribution: enumerated, dense normal, or enumerated mixtures."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.exact import log_evidence
from dagora.network.inference.factors import MemoryLimit
from dagora.network.inference.problem import NodeEvidence
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Lines, MixedNetwork
from tests.network.inference.random_networks import (
    given,
    joint_array,
    marginal,
    naive_bayes,
    random_discrete,
    random_gaussian,
    random_mixed,
)
from tests.network.network_oracles import implied_normal


@pytest.fixture(params=["numbers", "logarithms"])
def arithmetic(request, monkeypatch):
    """With a span of zero, every product is too wide for plain numbers."""
    if request.param == "logarithms":
        monkeypatch.setattr("dagora.network.inference.factors.LEAST_SPAN", np.inf)


def split(network, seed, *, targets):
    """Some targets, some evidence, and interventions now and then: names, codes and codes."""
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(network.graph.nodes))
    asked, rest = names[:targets], names[targets:]
    seen = {name: int(rng.integers(len(network.levels[name]))) for name in rest[: rng.integers(0, 4)]}
    do = {}
    if seed % 3 == 0 and rest[4:]:
        do = {rest[4]: int(rng.integers(len(network.levels[rest[4]])))}
    return asked, seen, do


def in_levels(network, codes):
    return {name: network.levels[name][code] for name, code in codes.items()}


def after_surgery(network, do):
    """The network in which the tables of some nodes are certain of one level, whatever their parents."""
    tables = dict(network.tables)
    for name, code in do.items():
        tables[name] = np.zeros_like(tables[name])
        tables[name][..., code] = 1.0
    return DiscreteNetwork(network.graph, network.levels, tables)


@pytest.mark.parametrize("seed", range(120))
def test_discrete_answers_are_those_of_the_joint_distribution(seed, arithmetic):
    network = random_discrete(7, seed)
    asked, seen, do = split(network, seed, targets=1 + seed % 3)
    joint = given(network, joint_array(after_surgery(network, do)), seen)
    known = {"given": in_levels(network, seen), "do": in_levels(network, do)}
    if joint.sum() == 0:
        with pytest.raises(QueryError, match=r"^the evidence has probability zero"):
            network.query(of=asked, **known)
        return
    answer = network.query(of=asked, **known)
    expected = marginal(network, joint, asked) / joint.sum()
    np.testing.assert_allclose(answer.table, expected, atol=1e-12)
    assert answer.method == "exact"
    cell = tuple(int(np.random.default_rng(seed).integers(size)) for size in expected.shape)
    event = in_levels(network, dict(zip(asked, cell, strict=True)))
    (share,) = network.query(of=event, **known).probabilities.values()
    assert share == pytest.approx(expected[cell], abs=1e-12)
    assert np.exp(log_evidence(network.model, NodeEvidence(seen, do), MemoryLimit())) == pytest.approx(
        joint.sum()
    )


def as_text(network, kind, asked, seen, do):
    known = [f"{name}={level}" for name, level in in_levels(network, seen).items()]
    known += [f"do({name}={level})" for name, level in in_levels(network, do).items()]
    return f"{kind}({', '.join(asked)}{' | ' if known else ''}{', '.join(known)})"


@pytest.mark.parametrize("seed", range(120))
def test_the_most_probable_levels_are_those_of_the_joint_distribution(seed, arithmetic):
    network = random_discrete(7, seed)
    asked, seen, do = split(network, seed, targets=1 + seed % 4)
    joint = given(network, joint_array(after_surgery(network, do)), seen)
    if joint.sum() == 0:
        return
    if seed % 5 == 0:
        asked = ["*"]
    answer = network.query(as_text(network, "MAP", asked, seen, do))
    asked = (
        [name for name in network.graph if name not in seen and name not in do] if seed % 5 == 0 else asked
    )
    table = marginal(network, joint, asked) / joint.sum()
    codes = tuple(network.levels[name].index(answer.most_probable[name]) for name in asked)
    assert list(answer.most_probable) == asked
    assert table[codes] == pytest.approx(table.max())
    assert answer.probability == pytest.approx(table.max())


def test_evidence_that_does_not_bear_on_the_answer_must_be_possible_too(clinic):
    with pytest.raises(QueryError, match="probability zero, so there is no answer: scan=unread, tumour=no"):
        clinic.query("P(season | scan=unread, tumour=no)")


def test_hundreds_of_contradicting_observations_do_not_underflow():
    network = naive_bayes(300)
    evidence = {name: "yes" for name in network.graph if name != "class"}
    assert network.query(of="class", given=evidence).table == pytest.approx([0.4, 0.6], rel=1e-9)
    del evidence["x1"]  # then the odds of the classes are 0.4 · 0.999 to 0.6 · 0.001
    share = (0.4 * 0.999 * 0.001 + 0.6 * 0.001 * 0.999) / (0.4 * 0.999 + 0.6 * 0.001)
    assert network.query(of="x1", given=evidence).table[1] == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_gaussian_answers_are_those_of_the_joint_normal(seed):
    network = random_gaussian(7, seed)
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(network.graph.nodes))
    asked, seen = names[: 1 + seed % 3], {name: rng.normal() for name in names[3 : 3 + seed % 5]}
    do = {names[3 + seed % 5]: rng.normal()} if seed % 2 and len(names) > 3 + seed % 5 else {}
    changed = GaussianNetwork(
        network.graph,
        {**network.intercepts, **do},
        {**network.coefficients, **{name: 0 * network.coefficients[name] for name in do}},
        {**network.sds, **dict.fromkeys(do, 0.0)},
    )
    mean, covariance = implied_normal(changed)
    at = [network.graph.index(name) for name in asked]
    by = [network.graph.index(name) for name in seen]
    gain = covariance[np.ix_(at, by)] @ np.linalg.inv(covariance[np.ix_(by, by)])
    answer = network.query(of=asked, given=seen, do=do)
    expected = mean[at] + gain @ (np.array(list(seen.values())) - mean[by])
    np.testing.assert_allclose([answer.mean[name] for name in asked], expected, atol=1e-9)
    left = covariance[np.ix_(at, at)] - gain @ covariance[np.ix_(by, at)]
    np.testing.assert_allclose(answer.covariance, left, atol=1e-9)
    np.testing.assert_allclose([answer.sd[name] for name in asked], np.sqrt(np.diag(left)), atol=1e-9)
    if seen:
        density = stats.multivariate_normal(mean[by], covariance[np.ix_(by, by)]).logpdf(list(seen.values()))
        assert log_evidence(network.model, NodeEvidence(seen, do), MemoryLimit()) == pytest.approx(density)
    if seen and not do:
        known = ", ".join(f"{name}={value!r}" for name, value in seen.items())
        best = network.query(f"MAP({', '.join(asked)} | {known})")
        np.testing.assert_allclose(list(best.most_probable.values()), expected, atol=1e-9)


def enumerated(network, seen):
    """Every configuration of the discrete nodes: its weight with what was seen, and its normal distribution."""
    discrete = [node for node in network.graph if node in network.levels]
    continuous = [node for node in network.graph if node not in network.levels]
    for codes in product(*(range(len(network.levels[node])) for node in discrete)):
        value = dict(zip(discrete, codes, strict=True))
        if any(value[name] != code for name, code in seen.items() if name in value):
            continue
        weight = np.prod(
            [network.tables[n][tuple(value[p] for p in (*network.graph.parents(n), n))] for n in discrete]
        )
        slopes = np.zeros((len(continuous),) * 2)
        intercepts, variances = np.zeros(len(continuous)), np.zeros(len(continuous))
        for i, node in enumerate(continuous):
            at = tuple(value[p] for p in network.graph.parents(node) if p in value)
            parents = [continuous.index(p) for p in network.graph.parents(node) if p not in value]
            slopes[i, parents] = network.lines[node].slopes[at]
            intercepts[i], variances[i] = network.lines[node].intercepts[at], network.lines[node].sds[at] ** 2
        inverse = np.linalg.inv(np.eye(len(continuous)) - slopes)
        mean, covariance = inverse @ intercepts, inverse @ np.diag(variances) @ inverse.T
        by = [i for i, node in enumerate(continuous) if node in seen]
        if by:
            numbers = np.array([seen[continuous[i]] for i in by])
            weight *= stats.multivariate_normal(mean[by], covariance[np.ix_(by, by)]).pdf(numbers)
            gain = covariance[:, by] @ np.linalg.inv(covariance[np.ix_(by, by)])
            mean, covariance = mean + gain @ (numbers - mean[by]), covariance - gain @ covariance[by]
        yield value, weight, dict(zip(continuous, mean, strict=True)), covariance, continuous


def mixed_case(seed):
    network = random_mixed(7, seed)
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(network.graph.nodes))
    seen = {
        name: int(rng.integers(len(network.levels[name]))) if name in network.levels else float(rng.normal())
        for name in names[: seed % 5]
    }
    return network, names[seed % 5 :], seen


def known_as_words(network, seen):
    return {n: network.levels[n][v] if n in network.levels else v for n, v in seen.items()}


@pytest.mark.parametrize("seed", range(80))
def test_mixed_answers_are_those_of_all_configurations(seed):
    network, rest, seen = mixed_case(seed)
    cases = list(enumerated(network, seen))
    total = sum(weight for _, weight, *_ in cases)
    words = known_as_words(network, seen)
    if total == 0:
        with pytest.raises(QueryError, match="probability zero"):
            network.query(of=rest[0], given=words)
        return
    assert log_evidence(network.model, NodeEvidence(seen), MemoryLimit()) == pytest.approx(np.log(total))
    for name in rest:
        answer = network.query(of=name, given=words)
        if name in network.levels:
            shares = [
                sum(w for v, w, *_ in cases if v[name] == code) for code in range(len(network.levels[name]))
            ]
            np.testing.assert_allclose(answer.table, np.array(shares) / total, atol=1e-10)
            continue
        mean = sum(w * m[name] for _, w, m, *_ in cases) / total
        spread = sum(w * (c[k.index(name), k.index(name)] + m[name] ** 2) for _, w, m, c, k in cases) / total
        assert answer.mean[name] == pytest.approx(mean, abs=1e-9)
        assert answer.sd[name] == pytest.approx(np.sqrt(max(spread - mean**2, 0)), abs=1e-6)
        assert answer.weights.sum() == pytest.approx(1)
        at = answer.mean[name] + 0.3
        density = sum(
            w * stats.norm.pdf(at, m[name], np.sqrt(c[k.index(name), k.index(name)]))
            for _, w, m, c, k in cases
        )
        found = answer.weights @ stats.norm.pdf(at, answer.means[:, 0], np.sqrt(answer.covariances[:, 0, 0]))
        assert found == pytest.approx(density / total)
    pair = [name for name in rest if name not in network.levels][:2]
    if len(pair) == 2:
        answer = network.query(of=pair, given=words)
        second = sum(
            w * (c[k.index(pair[0]), k.index(pair[1])] + m[pair[0]] * m[pair[1]]) for _, w, m, c, k in cases
        )
        covariance = second / total - answer.mean[pair[0]] * answer.mean[pair[1]]
        assert answer.covariance[0, 1] == pytest.approx(covariance, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_mixed_intervention_is_evidence_on_a_node_without_parents(seed):
    network, rest, seen = mixed_case(seed)
    words = known_as_words(network, {name: value for name, value in seen.items() if name in network.levels})
    node = rest[-1]
    others = [name for name in rest if name != node]
    cut = MixedNetwork(
        DAG(network.graph.nodes, [edge for edge in network.graph.edges if edge[1] != node]),
        network.levels,
        {**network.tables, **({node: uniform(network, node)} if node in network.levels else {})},
        lines={**network.lines, **({} if node in network.levels else {node: Lines(0.0, np.zeros(0), 1.0)})},
    )
    value = network.levels[node][0] if node in network.levels else 0.7
    if sum(weight for _, weight, *_ in enumerated(cut, {n: v for n, v in seen.items() if n in words})) == 0:
        return
    for name in others:
        one = network.query(of=name, given=words, do={node: value})
        other = cut.query(of=name, given={**words, node: value})
        if name in network.levels:
            np.testing.assert_allclose(one.table, other.table, atol=1e-12)
        else:
            assert one.mean == pytest.approx(other.mean)
            assert one.sd == pytest.approx(other.sd)


def uniform(network, node):
    return np.full(len(network.levels[node]), 1 / len(network.levels[node]))


def test_a_mixed_network_without_noise_is_certain():
    network = MixedNetwork(
        DAG("axy", ["ax", "xy"]),
        {"a": ("n", "y")},
        {"a": np.array([0.5, 0.5])},
        lines={"x": Lines([0.0, 1.0], np.zeros((2, 0)), [0.5, 0.5]), "y": Lines(1.0, [2.0], 0.0)},
    )
    assert network.query("P(x | y=4)").mean["x"] == pytest.approx(1.5)
    assert network.query("P(x | y=4)").sd["x"] == pytest.approx(0, abs=1e-6)
    assert network.query("P(y | x=4)").mean["y"] == 9
    np.testing.assert_allclose(network.query("P(a | x=1, y=3)").table, network.query("P(a | x=1)").table)
    with pytest.raises(QueryError, match="probability zero"):
        network.query("P(a | x=1, y=4)")


def test_numbers_without_a_variance() -> None:
    """Before, a standard deviation of 1e308 answered with infinity and a warning of NumPy."""
    graph = DAG(["a", "b"], [("a", "b")])
    wide = GaussianNetwork(graph, {"a": 0.0, "b": 0.0}, {"a": [], "b": [1.0]}, {"a": 1e308, "b": 1.0})
    with pytest.raises(QueryError, match="'a' are so large that no float holds its variance"):
        wide.query("P(b)")
    far = GaussianNetwork(graph, {"a": 1e200, "b": 0.0}, {"a": [], "b": [1e200]}, {"a": 1, "b": 1.0})
    with pytest.raises(QueryError, match="'b' are so large"):
        far.query("P(b)")
