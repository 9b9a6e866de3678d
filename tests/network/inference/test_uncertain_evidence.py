"""Ranges, contrasts, likelihood and soft evidence, against sums over the joint distribution and quadrature."""

import numpy as np
import pytest
from scipy import stats

from dagora.base.errors import QueryError
from dagora.graph.dag import DAG
from dagora.network.inference.chance import RangeChance
from dagora.network.inference.contrast import AnswerContrast
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, Lines, MixedNetwork, Softmax
from tests.network.inference.random_networks import (
    given,
    joint_array,
    marginal,
    random_discrete,
    random_gaussian,
    random_mixed,
)
from tests.network.network_oracles import implied_normal

FEVER = MixedNetwork(
    DAG(["ill", "fever", "rest"], [("ill", "fever"), ("ill", "rest")]),
    levels={"ill": ("no", "yes"), "rest": ("no", "yes")},
    tables={"ill": np.array([0.9, 0.1]), "rest": np.array([[0.8, 0.2], [0.1, 0.9]])},
    lines={"fever": Lines([36.8, 38.9], np.zeros((2, 0)), [0.3, 0.6])},
)


def weighted(network, joint, weights):
    """The joint distribution times weights by level of some nodes."""
    for node, numbers in weights.items():
        axis = network.graph.nodes.index(node)
        joint = joint * np.reshape(numbers, [-1 if k == axis else 1 for k in range(joint.ndim)])
    return joint


@pytest.mark.parametrize("seed", range(30))
def test_likelihoods_are_factors_of_the_joint_distribution(seed):
    network = random_discrete(6, seed)
    rng = np.random.default_rng(seed)
    asked, one, other, seen = rng.permutation(network.graph.nodes)[:4]
    weights = {node: rng.uniform(0.1, 2, size=len(network.levels[node])) for node in (one, other)}
    code = int(rng.integers(len(network.levels[seen])))
    joint = weighted(network, given(network, joint_array(network), {seen: code}), weights)
    if joint.sum() == 0:
        return
    answer = network.query(
        of=asked,
        given={seen: network.levels[seen][code]},
        likelihood={
            node: dict(zip(network.levels[node], numbers, strict=True)) for node, numbers in weights.items()
        },
    )
    np.testing.assert_allclose(answer.table, marginal(network, joint, [asked]) / joint.sum(), atol=1e-12)
    assert answer.method == "exact"
    assert f"likelihood({one}, " in str(answer.question)


@pytest.mark.parametrize("seed", range(20))
def test_soft_evidence_is_what_levels_get_and_jeffreys_rule_what_others_get(seed):
    network = random_discrete(6, seed)
    rng = np.random.default_rng(seed)
    asked, one, other = rng.permutation(network.graph.nodes)[:3]
    joint = joint_array(network)
    before = marginal(network, joint, [one])
    wanted = before * rng.uniform(0.2, 1, size=before.shape)
    wanted /= wanted.sum()
    soft = {one: dict(zip(network.levels[one], wanted, strict=True))}
    assert network.query(of=one, soft=soft).table == pytest.approx(wanted, abs=1e-10)
    # Jeffrey's rule: the sum over the levels of P(asked | level) times their new chances.
    table = marginal(network, joint, [asked, one])
    expected = (table / np.where(before > 0, before, 1)) @ wanted
    assert network.query(of=asked, soft=soft).table == pytest.approx(expected, abs=1e-10)
    both = {**soft, other: dict(zip(network.levels[other], marginal(network, joint, [other]), strict=True))}
    found = [network.query(of=name, soft={**both}).table for name in (one, other)]
    for name, table in zip((one, other), found, strict=True):
        assert table == pytest.approx([both[name][level] for level in network.levels[name]], abs=1e-9)


def test_soft_evidence_beside_what_was_seen_is_the_last_word():
    network = FEVER
    one, seen = "ill", "rest"
    level = network.levels[seen][int(np.argmax(network.query(of=seen).table))]
    soft = {one: dict(zip(network.levels[one], (0.35, 0.65), strict=True))}
    assert network.query(of=one, given={seen: level}, soft=soft).table == pytest.approx([0.35, 0.65])


@pytest.mark.parametrize("seed", range(15))
def test_a_measurement_is_a_noisy_child(seed):
    network = random_gaussian(5, seed)
    nodes = network.graph.nodes
    wider = GaussianNetwork(
        DAG([*nodes, "reading"], [*network.graph.edges, (nodes[2], "reading")]),
        {**network.intercepts, "reading": 0.0},
        {**network.coefficients, "reading": np.ones(1)},
        {**network.sds, "reading": 0.7},
    )
    expected = wider.query(of=nodes[0], given={"reading": 1.3})
    found = network.query(of=nodes[0], likelihood={nodes[2]: {"value": 1.3, "sd": 0.7}})
    assert found.mean == pytest.approx(expected.mean)
    assert found.sd == pytest.approx(expected.sd)


@pytest.mark.parametrize("seed", range(20))
def test_a_range_of_a_normal_variable_is_a_difference_of_its_distribution(seed):
    network = random_gaussian(5, seed)
    rng = np.random.default_rng(seed)
    asked, seen = rng.permutation(network.graph.nodes)[:2]
    density = network.query(of=asked, given={seen: 0.4})
    mean, sd = density.mean[asked], density.sd[asked]
    low, high = sorted(rng.normal(mean, sd, size=2))
    answer = network.query(f"P({low} < {asked} <= {high} | {seen}=0.4)")
    assert isinstance(answer, RangeChance)
    assert answer.method == "exact"
    assert answer.probability == pytest.approx(
        stats.norm.cdf(high, mean, sd) - stats.norm.cdf(low, mean, sd), abs=1e-12
    )
    above = network.query(f"P({asked} > {high} | {seen}=0.4)").probability
    assert above == pytest.approx(stats.norm.sf(high, mean, sd), rel=1e-9)


def test_far_tails_keep_their_digits():
    network = GaussianNetwork(DAG("x"), {"x": 0.0}, {"x": np.zeros(0)}, {"x": 1.0})
    assert network.query("P(x > 20)").probability == pytest.approx(stats.norm.sf(20), rel=1e-9, abs=0)
    assert network.query("P(20 < x < 21)").probability == pytest.approx(
        stats.norm.sf(20) - stats.norm.sf(21), rel=1e-9, abs=0
    )


def test_ranges_of_both_kinds_by_hand():
    above = stats.norm.sf(38, [36.8, 38.9], [0.3, 0.6])
    p = np.array([0.9, 0.1])
    assert FEVER.query("P(fever > 38)").probability == pytest.approx(p @ above)
    assert FEVER.query("P(fever > 38, ill=yes)").probability == pytest.approx(0.1 * above[1])
    assert FEVER.query("P(ill | fever > 38)").table == pytest.approx(p * above / (p @ above))
    rest = np.array([0.2, 0.9])
    assert FEVER.query("P(rest=yes | fever > 38)").probabilities["yes"] == pytest.approx(
        rest @ (p * above) / (p @ above)
    )
    assert FEVER.query("P(fever > 38 | do(ill=yes))").probability == pytest.approx(above[1])
    none = FEVER.query("P(fever > 38 | ill=yes, rest=no)")
    assert none.probability == pytest.approx(above[1])


@pytest.mark.parametrize("seed", range(8))
def test_exact_ranges_agree_with_samples(seed):
    network = random_mixed(7, seed)
    numbers = [node for node in network.graph if node in network.lines]
    levels = [node for node in network.graph if node in network.levels]
    if not numbers or not levels:
        return
    text = f"P({levels[0]} | {numbers[0]} > 0.3)"
    try:
        exact = network.query(text, method="exact")
    except QueryError:
        return
    drawn = network.query(text, method="sampling", samples=40_000, seed=1)
    for level, share in exact.probabilities.items():
        assert drawn.probabilities[level] == pytest.approx(share, abs=5 * drawn.errors[level])
    event = f"P({numbers[0]} > 0.3, {levels[0]}={network.levels[levels[0]][0]})"
    drawn = network.query(event, method="sampling", samples=40_000, seed=1)
    assert drawn.probability == pytest.approx(network.query(event).probability, abs=5 * drawn.standard_error)


@pytest.mark.parametrize("seed", range(6))
def test_two_ranges_that_depend_on_each_other_are_estimated_and_say_so(seed):
    network = random_gaussian(4, seed)
    mean, covariance = implied_normal(network)
    nodes = network.graph.nodes
    a, b = 0, 1
    part = covariance[np.ix_([a, b], [a, b])]
    answer = network.query(f"P({nodes[a]} > {mean[a]}, {nodes[b]} > {mean[b]})")
    rho = part[0, 1] / np.sqrt(part[0, 0] * part[1, 1])
    expected = 0.25 + np.arcsin(rho) / (2 * np.pi)  # Sheppard 1899
    if abs(rho) < 1e-12:
        assert answer.method == "exact"
        assert answer.probability == pytest.approx(0.25)
    else:
        assert "estimated from" in repr(answer)
        assert answer.probability == pytest.approx(expected, abs=5 * answer.standard_error)


def test_levels_that_are_numbers_or_intervals_have_ranges():
    network = DiscreteNetwork(
        DAG(["age", "dose", "ill"], [("age", "ill"), ("dose", "ill")]),
        {"age": ("(-inf, 40]", "(40, 60]", "(60, inf)"), "dose": ("0", "5", "10"), "ill": ("no", "yes")},
        {
            "age": np.array([0.5, 0.3, 0.2]),
            "dose": np.array([0.2, 0.3, 0.5]),
            "ill": np.random.default_rng(1).dirichlet(np.ones(2), size=(3, 3)),
        },
    )
    assert network.query("P(age > 40)").probability == pytest.approx(0.5)
    assert network.query("P(dose >= 5)").probability == pytest.approx(0.8)
    assert network.query("P(dose > 5)").probability == pytest.approx(0.5)
    table = network.tables["ill"][..., 1]
    expected = np.einsum("a,d,ad->", [0.5, 0.3, 0.0], [0.0, 0.3, 0.5], table) / (0.8 * 0.8)
    assert network.query("P(ill=yes | age <= 60, dose > 0)").probabilities["yes"] == pytest.approx(expected)
    with pytest.raises(
        QueryError, match=r"'age' was cut into intervals, and \(40, 60\] lies partly in age > 50"
    ):
        network.query("P(age > 50)")
    with pytest.raises(QueryError, match="'ill' has the level 'no', which is no number"):
        network.query("P(ill > 1)")
    with pytest.raises(QueryError, match="no level of 'dose' lies in dose > 10"):
        network.query("P(dose > 10)")


def test_contrasts_are_differences_and_ratios():
    network = random_discrete(6, 5)
    a, b = [node for node in network.graph if len(network.levels[node]) > 1][:2]
    one, other = network.levels[b][:2]
    level = network.levels[a][0]
    x, y = (network.query(f"P({a}={level} | do({b}={value}))").probabilities[level] for value in (one, other))
    difference = network.query(f"P({a}={level} | do({b}={one})) - P({a}={level} | do({b}={other}))")
    assert isinstance(difference, AnswerContrast)
    assert difference.values.tolist() == pytest.approx([x - y])
    if y > 0:
        ratio = network.query(f"P({a}={level} | do({b}={one}))/P({a}={level} | do({b}={other}))")
        assert ratio.values.tolist() == pytest.approx([x / y])
    each = network.query(f"P({a} | do({b}={one})) - P({a} | do({b}={other}))")
    assert each.labels == network.levels[a]
    assert each.values.sum() == pytest.approx(0, abs=1e-12)
    content = each.to_dict()
    assert content["contrast"] == "difference"
    assert len(content["answers"]) == 2


def test_means_are_compared_too():
    found = FEVER.query("P(fever | ill=yes) - P(fever | ill=no)")
    assert found.labels == ("mean of fever",)
    assert found.values.tolist() == pytest.approx([2.1])


def test_estimates_name_their_error():
    network = MixedNetwork(
        DAG(["x", "a"], [("x", "a")]),
        levels={"a": ("n", "y")},
        choices={"a": Softmax([0.0, 0.0], [[0.0], [1.0]])},
        lines={"x": Lines(0.0, np.zeros(0), 1.0)},
    )
    found = network.query("P(x > 0 | a=y)", samples=20_000, seed=1)
    grid = np.linspace(-12, 12, 20001)
    weight = stats.norm.pdf(grid) / (1 + np.exp(-grid))
    expected = weight[grid > 0].sum() / weight.sum()
    assert found.probability == pytest.approx(expected, abs=5 * found.standard_error)
    both = network.query("P(x > 0 | a=y) - P(x > 0 | a=n)", samples=20_000, seed=1)
    assert both.standard_errors is not None
    assert both.values[0] == pytest.approx(2 * expected - 1, abs=6 * both.standard_errors[0])
    given_range = network.query("P(a | x > 1)", samples=20_000, seed=1)
    upper = grid > 1
    assert given_range.probabilities["y"] == pytest.approx(
        weight[upper].sum() / stats.norm.pdf(grid)[upper].sum(), abs=5 * given_range.errors["y"]
    )


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("P(fever > 38 | fever > 37)", "'fever' is asked for and given"),
        ("P(ill | fever > 38, fever < 39)", "'fever' is given twice"),
        ("P(ill | fever > 38, fever=39)", "'fever' is given twice"),
        ("P(ill | fever > 60, fever > 61)", "'fever' is given twice"),
        ("P(ill | 38 < fever < 37)", "has a range without a number in it"),
        ("P(ill | fever > high)", "has a range that is not understood"),
        ("P(ill | fever >)", "has a range without an end"),
        ("P(ill | 1 > fever < 3)", "has a range whose two ends are on one side"),
        ("P(ill | fever > 1e9)", "the evidence has probability zero, so there is no answer: fever > 1000000000"),
        ("P(fever=38)", "ask P(fever | ...), or for a range such as P(fever > 38)"),
        ("MAP(ill | fever > 38)", "MAP needs values as evidence"),
        ("P(ill > 1)", "'ill' has the level 'no', which is no number"),
        ("P(fever > 38, rest)", "either all variables asked for have a level"),
        ("P(ill) - MAP(ill)", "compares a MAP, which has no number"),
        ("P(ill=yes) / P(ill=yes | soft(ill, yes=0, no=1))", "is 0, which divides nothing: take the difference"),
        ("P(ill) - P(fever)", "have different numbers"),
        ("P(rest=yes) / P(rest=yes | soft(ill, no=0.5, yes=0.6))", "soft evidence of 'ill' sums to 1.1, not to 1"),
        ("P(rest | soft(ill, no=0.5))", "soft evidence of 'ill' says nothing of 'yes'"),
        ("P(rest | soft(ill, no=0.5, maybe=0.5))", "'ill' has no level 'maybe'"),
        ("P(rest | soft(fever, value=37, sd=1))", "'fever' is continuous, and soft evidence is about levels"),
        ("P(rest | likelihood(fever, yes=1))", "its likelihood is a measurement"),
        ("P(rest | likelihood(fever, value=37, sd=0))", "must be above 0"),
        ("P(rest | likelihood(ill, no=0, yes=0))", "is zero for all levels"),
        ("P(rest | likelihood(ill, no=-1, yes=1))", "it must be 0 or more"),
        ("P(rest | likelihood(ill, no=x, yes=1))", "where likelihood( needs a number"),
        ("P(rest | likelihood(ill))", "has a likelihood( that does not end"),
        ("P(rest | soft(ill, no=0.5, yes=0.5), fever > 38)", "soft evidence does not go with a range of 'fever'"),
    ],
)  # fmt: skip
def test_mistakes_get_one_line(text, line):
    with pytest.raises(QueryError) as caught:
        FEVER.query(text)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_soft_evidence_that_only_a_limit_has_is_not_called_a_contradiction():
    """P(a=n, b=n) is 0, so that a=n half of the time and b=n half of the time leave no room for a=y, b=y."""
    tables = {"a": np.array([0.3, 0.7]), "b": np.array([[0.0, 1.0], [0.5, 0.5]])}
    network = DiscreteNetwork(DAG("ab", ["ab"]), dict.fromkeys("ab", ("n", "y")), tables)
    half, more = {"n": 0.5, "y": 0.5}, {"n": 0.6, "y": 0.4}
    for other in (half, more):
        with pytest.raises(
            QueryError, match=r"no distribution was found .*a, b contradict each other, or leave"
        ):
            network.query("P(a)", soft={"a": half, "b": other})
