"""Effects by Gaussian-process networks: nested integration, regression in closed form, known functions."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

import dagora
from dagora.data.table import Table
from dagora.effects import process_simulation
from dagora.effects.process_simulation import simulated_nodes
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.gaussian_process.regression import Process
from tests.effects.test_averaged import all_graphs
from tests.network.gaussian_process.test_function_draws import dense


def rows_of(**columns):
    return Table.from_numpy(np.column_stack(list(columns.values())), names=list(columns), continuous=["all"])


def standardised(table, names):
    columns = np.column_stack([table.columns[table.names.index(name)] for name in names])
    return (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(process_simulation, "DRAWS", 200)


def draw_many(monkeypatch, number):
    monkeypatch.setattr(process_simulation, "DRAWS", number)


def posterior(process, x, y):
    """Mean and covariance of μ + f at new rows."""
    joint = dense(process, x, x) + process.noise**2 * np.eye(len(x))

    def at(one, other):
        solved = np.linalg.solve(joint, dense(process, x, other))
        return y @ solved, dense(process, one, other) - dense(process, one, x) @ solved

    return at


@pytest.mark.full
def test_three_nodes_by_nested_integration(monkeypatch):
    """x → m → y and x → y, all bent: mean and sd of the effect over functions, by quadrature over m.

    Given functions, the mean of y is ∫ f(m, x) N(m; g(x), σ²) dm. Over g and f, its mean is the integral of
    the mean of f over N(E g, var g + σ²); products of two such means are integrals over both m, which g joins.
    """
    draw_many(monkeypatch, 4000)
    rng = np.random.default_rng(1)
    x = rng.standard_normal(40)
    m = np.sin(1.5 * x) + 0.4 * rng.standard_normal(40)
    y = m**2 + 0.5 * x + 0.4 * rng.standard_normal(40)
    graph, table = dagora.DAG("xmy", ["xm", "my", "xy"]), rows_of(x=x, m=m, y=y)
    processes = {
        "x": Process(np.zeros(0), 1.0),
        "m": Process(np.array([0.9]), 0.5),
        "y": Process(np.array([2.0, 1.2]), 0.3, main=0.8, product=0.5),
    }
    network = GaussianProcessNetwork(graph, table, processes, score="gp2")
    z = standardised(table, "xmy")
    levels = [1.2, -0.4]
    at = (np.array(levels) - x.mean()) / x.std(ddof=1)
    mean_g, cov_g = posterior(processes["m"], z[:, :1], z[:, 1])(at[:, None], at[:, None])
    of_y = posterior(processes["y"], z[:, :2], z[:, 2])
    nodes, weights = hermegauss(16)
    weights = weights / weights.sum()
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij")).reshape(2, -1)
    chance = np.outer(weights, weights).ravel()
    first, second = np.zeros(2), np.zeros((2, 2))
    for a in (0, 1):
        for b in (0, 1):
            joint = np.array([[cov_g[a, a], cov_g[a, b]], [cov_g[a, b], cov_g[b, b]]])
            joint[np.diag_indices(2)] += processes["m"].noise ** 2
            both = mean_g[[a, b]][:, None] + np.linalg.cholesky(joint) @ grid
            one = np.column_stack([np.full(both.shape[1], at[a]), both[0]])
            other = np.column_stack([np.full(both.shape[1], at[b]), both[1]])
            means, (other_means, covariances) = of_y(one, one)[0], of_y(one, other)
            first[a] = chance @ means
            second[a, b] = chance @ (np.diag(covariances) + means * other_means)
    unit = y.std(ddof=1)
    mean = unit * (first[0] - first[1])
    sd = unit * np.sqrt(second[0, 0] + second[1, 1] - 2 * second[0, 1] - (first[0] - first[1]) ** 2)
    found = dagora.effect(table, "x", "y", graph=network, levels=levels)
    assert found.estimate == pytest.approx(mean, abs=4 * sd / np.sqrt(4000))
    low, high = found.interval
    assert (high - low) / (2 * 1.96) == pytest.approx(sd, rel=0.06)


def test_a_nearly_linear_kernel_gives_bayesian_linear_regression(monkeypatch):
    """τ²ρ² exp(−r²/2ρ²) with a long ρ is a flat constant plus τ²xx': slopes have a normal posterior."""
    draw_many(monkeypatch, 1000)
    rng = np.random.default_rng(2)
    z = rng.standard_normal(60)
    x = z + rng.standard_normal(60)
    m = 0.8 * x + rng.standard_normal(60)
    y = 0.5 * m - z + rng.standard_normal(60)
    table = rows_of(z=z, x=x, m=m, y=y)
    graph = dagora.DAG("zxmy", ["zx", "xm", "my", "zy"])
    flat = {"z": Process(np.zeros(0), 1.0)}
    for node in "xmy":
        number = len(graph.parents(node))
        flat[node] = Process(np.full(number, 200.0), noise=0.5, main=4e4)
    found = dagora.effect(table, "x", "y", graph=GaussianProcessNetwork(graph, table, flat), levels=[1, 0])
    scaled = standardised(table, "zxmy")
    moments = []
    for child, parents in ((2, [1]), (3, [0, 2])):
        design = scaled[:, parents] - scaled[:, parents].mean(axis=0)
        precision = design.T @ design / 0.25 + np.eye(len(parents))
        slopes = np.linalg.solve(precision, design.T @ scaled[:, child] / 0.25)
        moments.append((slopes[-1], np.linalg.inv(precision)[-1, -1]))
    (one, var_one), (other, var_other) = moments
    unit = y.std(ddof=1) / x.std(ddof=1)
    sd = unit * np.sqrt(one**2 * var_other + other**2 * var_one + var_one * var_other)
    assert found.estimate == pytest.approx(unit * one * other, abs=4 * sd / np.sqrt(1000))
    assert np.diff(found.interval)[0] / (2 * 1.96) == pytest.approx(sd, rel=0.1)


def test_among_the_rows_as_they_are():
    """With products, the effect of x depends on z: it is averaged over the rows, whatever z's distribution."""
    rng = np.random.default_rng(3)
    z = rng.exponential(size=120)
    x = 0.5 * z + rng.standard_normal(120)
    y = x * np.tanh(z) + 0.2 * rng.standard_normal(120)
    table, graph = rows_of(z=z, x=x, y=y), dagora.DAG("zxy", ["zx", "zy", "xy"])
    processes = {
        "z": Process(np.zeros(0), 1.0),
        "x": Process(np.array([1.0]), 0.5),
        "y": Process(np.array([1.5, 1.5]), 0.2, product=1.0),
    }
    network = GaussianProcessNetwork(graph, table, processes, score="gp2")
    at = [network.predict({"z": z, "x": np.full(120, v)}, nodes=["y"])["y"].mean.mean() for v in (1.5, -0.5)]
    found = dagora.effect(table, "x", "y", graph=network, levels=[1.5, -0.5])
    low, high = found.interval
    assert found.estimate == pytest.approx(at[0] - at[1], abs=(high - low) / np.sqrt(200))
    first = table.take(np.arange(120) < 30)
    expected = network.predict({"z": z[:30], "x": np.full(30, 1.5)}, nodes=["y"])["y"].mean.mean()
    expected -= network.predict({"z": z[:30], "x": np.full(30, -0.5)}, nodes=["y"])["y"].mean.mean()
    found = dagora.effect(first, "x", "y", graph=network, levels=[1.5, -0.5])
    assert found.estimate == pytest.approx(expected, abs=0.1)
    assert found.rows == 30


@pytest.fixture(scope="module")
def bent():
    """y = sin(2m) + z with m = x + noise and z → x: E y = sin(2x) exp(−2·0.2²) where x is set."""
    rng = np.random.default_rng(4)
    z = rng.standard_normal(250)
    x = 0.8 * z + rng.standard_normal(250)
    m = x + 0.2 * rng.standard_normal(250)
    return rows_of(z=z, x=x, m=m, y=np.sin(2 * m) + z + 0.2 * rng.standard_normal(250))


BENT = dagora.DAG("zxmy", ["zx", "zy", "xm", "my"])


def test_a_bent_relation_has_its_curve(bent):
    found = dagora.effect(bent, "x", "y", graph=BENT, model="gp", levels=[0.8, -0.8], curve=True)
    truth = [np.sin(2 * v) * np.exp(-2 * 0.2**2) for v in (0.8, -0.8)]
    assert found.interval[0] < truth[0] - truth[1] < found.interval[1]
    assert np.diff(found.interval)[0] < 0.4
    level = bent.columns[0].mean()
    held = [
        point.y.low < level + np.sin(2 * point.x) * np.exp(-2 * 0.2**2) < point.y.high
        for point in found.curve
    ]
    assert np.mean(held) > 0.8
    assert found.verdict == "functions"
    text = found.to_text()
    for words in ("by the functions along all paths", "adds up", "no common cause is missing", "z is beyond"):
        assert (words in text) == (words != "z is beyond")
    assert len(found.to_dict()["curve"]) == 21
    # A line has nearly no slope there.
    line = dagora.effect(bent, "x", "y", graph=BENT, levels=[0.8, -0.8])
    assert not line.interval[0] < truth[0] - truth[1] < line.interval[1]


def test_a_fitted_network_and_a_model_are_the_same(bent):
    network = dagora.fit(BENT, bent, score="gp")
    found = dagora.effect(bent, "x", "y", graph=network, seed=1)
    again = dagora.effect(bent, "x", "y", graph=BENT, model="gp", seed=1)
    assert found.estimates == again.estimates
    assert found == dagora.effect(bent, "x", "y", graph=network, seed=1)
    quartiles = np.quantile(bent.columns[1], [0.75, 0.25])
    assert [*found.contrast.to, *found.contrast.base] == pytest.approx(quartiles, rel=1e-3)
    assert found.graph == BENT
    assert dagora.adjustment(network, "x", "y").optimal == ("z",)
    assert dagora.effect(bent, "y", "x", graph=network).verdict == "zero"


def test_a_class_that_determines_the_effect(bent):
    """z — x is open in the class; with z first it is not, and any DAG of the class will do."""
    class_ = dagora.CPDAG("zxmy", [("z", "y"), ("m", "y")], [("z", "x"), ("x", "m")])
    known = {"tiers": [["z"], ["x", "m", "y"]]}
    found = dagora.effect(bent, "x", "y", graph=class_, model="gp", knowledge=known)
    assert found.estimates == dagora.effect(bent, "x", "y", graph=BENT, model="gp").estimates


def test_where_it_extrapolates_it_is_said(bent):
    high = bent.columns[1].max()
    found = dagora.effect(bent, "x", "y", graph=BENT, model="gp", levels=[1.2 * high, 0])
    assert f"x={1.2 * high:.6g} was not seen" in found.to_text()
    assert "of the simulated values of m are beyond those of its rows" in found.to_text()
    inside = dagora.effect(bent, "x", "y", graph=BENT, model="gp", levels=[1, 0])
    assert inside.support.notes == ()
    assert np.diff(found.interval)[0] > 3 * np.diff(inside.interval)[0]


def test_several_at_once():
    """What is set does not follow what else is set: x1 → x2 → y and x1 → y."""
    rng = np.random.default_rng(5)
    a = rng.standard_normal(200)
    b = a + rng.standard_normal(200)
    y = np.abs(b) + a + 0.1 * rng.standard_normal(200)
    graph = dagora.DAG("aby", ["ab", "ay", "by"])
    assert simulated_nodes(graph, ["a"], "y") == ["b", "y"]
    assert simulated_nodes(graph, ["a", "b"], "y") == ["y"]
    asked = {"a": [1, 0], "b": [1.5, 0]}
    found = dagora.effect(rows_of(a=a, b=b, y=y), ["a", "b"], "y", graph=graph, model="gp", levels=asked)
    assert found.estimate == pytest.approx(2.5, abs=0.25)


@pytest.mark.full
def test_averaged_over_graphs():
    """The mean over the posterior of graphs is that of the effects by each graph, weighed by exact chances."""
    rng = np.random.default_rng(6)
    a = rng.standard_normal(60)
    b = 0.5 * a + rng.standard_normal(60)
    table = rows_of(a=a, b=b, y=np.abs(b) + 0.4 * a + rng.standard_normal(60))
    chances = all_graphs(table, "gp")
    mean = cause = 0.0
    for place, probability in enumerate(chances.probabilities):
        found = dagora.effect(table, "b", "y", graph=chances.graph(place), model="gp", levels=[1.5, 0])
        mean += probability * found.estimate
        cause += probability * (found.verdict != "zero")
    averaged = dagora.effect(table, "b", "y", model="gp", levels=[1.5, 0], draws=500)
    low, high = averaged.interval
    assert averaged.estimate == pytest.approx(mean, abs=0.04 * (high - low))
    assert averaged.over_graphs.cause_probability == pytest.approx(cause, abs=0.05)
    assert "Gaussian processes, drawn for each graph" in averaged.how
    assert "adds up" in averaged.to_text()
    assert averaged.over_graphs.cause_probability > 0.9
    by_lines = dagora.effect(table, "b", "y", model="gp", levels=[1.5, 0], draws=50, score="bge")
    assert by_lines.over_graphs.cause_probability < 0.5
    assert "the score that chose graphs does not see relations that bend" in by_lines.to_text()


def test_a_learned_graph_overlooks_what_has_no_slope():
    x = np.linspace(-2, 2, 80)
    table = rows_of(x=x, y=np.cos(2 * x) + 0.1 * np.cos(37 * x))
    found = dagora.effect(table, "x", "y", method="tabu", model="gp", levels=[1, 0])
    assert found.verdict == "zero"
    assert "the score that chose graphs does not see relations that bend" in found.to_text()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"model": "rbf"}, "model is one of gp, gp2, not 'rbf'"),
        ({"model": "gp", "graph": None, "curve": True}, "curve goes with a graph"),
        ({"model": "gp", "graph": dagora.CPDAG("xy", [], ["xy"])}, "the graph leaves the effect open"),
        ({"model": "gp", "levels": [90, 0]}, "x=90 is far from what the rows have"),
        (
            {"model": "gp", "given": {"s": "a"}},
            "Gaussian processes give an effect among all rows: take those",
        ),
        ({"model": "gp", "y": "s=a"}, "Gaussian processes are for continuous columns, and 's' is discrete"),
        ({"model": "gp", "x": ["x", "z"], "curve": True}, "a curve runs over the values of one continuous"),
        (
            {"model": "gp", "interventions": [["x"]] + [[]] * 249},
            "Gaussian processes are fitted to rows in wh",
        ),
    ],
)
def test_bad_questions_are_refused_in_one_line(bent, asked, words):
    columns = {name: bent.columns[place] for place, name in enumerate(bent.names)}
    table = {**columns, "s": ["a", "b"] * 125}
    graph = dagora.DAG("zxmys", [*BENT.edges, ("y", "s"), ("z", "s")])
    asked = {"x": "x", "y": "y", "graph": graph, **asked}
    with pytest.raises(dagora.DagoraError, match=f"^{words}") as caught:
        dagora.effect(table, asked.pop("x"), asked.pop("y"), **asked)
    assert "\n" not in str(caught.value)
