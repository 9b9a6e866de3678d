"""Fitted Gaussian-process networks against closed-form regression, written out anew with dense solves."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

import dagora
from dagora.base.errors import DagoraError, DataError, GraphError, OptionError
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.gaussian_process.network import GaussianProcessNetwork
from dagora.network.gaussian_process.regression import Process
from dagora.scores.gp import fitted
from dagora.scores.gp.root import root_density, root_mode
from dagora.scores.gp.score import GaussianProcessScore
from dagora.stats.table import TableStatistics

GRAPH = DAG(["dose", "age", "effect"], [("dose", "effect"), ("age", "effect")])


def rows_of(number: int = 70, seed: int = 0) -> Table:
    """An effect that bends in the dose and rises in the age, in units of their own."""
    rng = np.random.default_rng(seed)
    dose, age = 10 + 3 * rng.standard_normal(number), 50 + 12 * rng.standard_normal(number)
    effect = 200 + 30 * np.sin((dose - 10) / 2) + 0.8 * (age - 50) + 5 * rng.standard_normal(number)
    return Table.from_numpy(np.column_stack([dose, age, effect]), names=GRAPH.nodes)


def scaled(table: Table) -> np.ndarray:
    columns = np.column_stack(table.columns)
    return (columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1)


def dense(process: Process, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The kernel entry by entry."""

    def entry(a: np.ndarray, b: np.ndarray) -> float:
        terms = [np.exp(-((a[i] - b[i]) ** 2) / (2 * scale**2)) for i, scale in enumerate(process.scales)]
        pairs = [terms[i] * terms[j] for i in range(len(terms)) for j in range(i)]
        return process.main * sum(terms) + process.product * sum(pairs)

    return np.array([[entry(a, b) for b in other] for a in one])


@pytest.fixture(scope="module", params=["gp", "gp2", "published"])
def network(request: pytest.FixtureRequest) -> GaussianProcessNetwork:
    more = {"score": "gp2", "published": True} if request.param == "published" else {"score": request.param}
    return dagora.fit(GRAPH, rows_of(), name=request.param, **more)


def test_predictions_are_those_of_the_dense_solve(network: GaussianProcessNetwork) -> None:
    table, new = network.table, rows_of(6, seed=1)
    z = scaled(table)
    columns = np.column_stack(table.columns)
    mean, sd = columns.mean(axis=0), columns.std(axis=0, ddof=1)
    at = ((np.column_stack(new.columns) - mean) / sd)[:, :2]
    process = network.processes["effect"]
    joint = 1 + dense(process, z[:, :2], z[:, :2]) + process.noise**2 * np.eye(len(z))
    shared = 1 + dense(process, at, z[:, :2])
    own = 1 + np.diag(dense(process, at, at))
    expected = shared @ np.linalg.solve(joint, z[:, 2])
    variance = own - np.diag(shared @ np.linalg.solve(joint, shared.T))
    found = network.predict(new)
    assert set(found) == set(GRAPH.nodes)
    assert found["effect"].mean == pytest.approx(mean[2] + sd[2] * expected, rel=1e-9)
    assert found["effect"].mean_sd == pytest.approx(sd[2] * np.sqrt(variance), rel=1e-6)
    assert found["effect"].sd == pytest.approx(sd[2] * np.sqrt(variance + process.noise**2), rel=1e-9)
    # A root has its mean, nearly, and its own sd.
    assert found["dose"].mean == pytest.approx(np.full(6, mean[0]), rel=1e-9)
    assert found["dose"].sd == pytest.approx(np.full(6, sd[0]), rel=0.05)


@pytest.mark.full
def test_hyperparameters_are_at_the_mode_of_likelihood_and_priors(network: GaussianProcessNetwork) -> None:
    """Small steps in any direction make the density of the log parameters smaller."""
    z = scaled(network.table)
    process = network.processes["effect"]

    def log_density(changed: Process, tau: tuple[float, ...]) -> float:
        joint = 1 + dense(changed, z[:, :2], z[:, :2]) + changed.noise**2 * np.eye(len(z))
        prior = sum(-2 * np.log(s) - 2 / s for s in changed.scales)
        prior += sum(-np.log(t) - 1 / t for t in (*tau, changed.noise))
        return float(multivariate_normal(np.zeros(len(z)), joint).logpdf(z[:, 2]) + prior)

    def amplitudes(tau: tuple[float, ...]) -> tuple[float, float]:
        if not tau:
            return 1.0, 0.0
        return (tau[0] ** 2, tau[1] * tau[0] ** 4) if network.name == "published" else (tau[0], tau[1])

    tau: tuple[float, ...] = () if network.score == "gp" else (process.main, process.product)
    if network.name == "published":
        tau = float(np.sqrt(process.main)), process.product / process.main**2
    assert amplitudes(tau) == pytest.approx((process.main, process.product))
    start = np.log([*process.scales, process.noise, *tau])

    def at(point: np.ndarray) -> float:
        values = np.exp(point)
        t = tuple(values[3:])
        return log_density(Process(values[:2], values[2], *amplitudes(t)), t)

    here = at(start)
    for k in range(len(start)):
        for step in (-0.05, 0.05):
            assert at(start + step * np.eye(len(start))[k]) < here


def test_effects_add_up_to_the_prediction() -> None:
    """With the additive kernel: level + Σ effects is the prediction at the rows."""
    network = dagora.fit(GRAPH, rows_of(), score="gp")
    curves = network.functions()
    assert [(curve.parent, curve.child) for curve in curves] == list(GRAPH.edges)
    effect = network.table.columns[2]
    fitted_mean = network.predict(network.table)["effect"].mean
    for curve in curves:
        column = network.table.columns[GRAPH.index(curve.parent)]
        assert (curve.x.min(), curve.x.max()) == (column.min(), column.max())
        assert curve.data_x == pytest.approx(column)
        # A point lies off its curve by what is off the prediction.
        at_rows = np.interp(column, curve.x, curve.mean)
        assert curve.data_y - at_rows == pytest.approx(effect - fitted_mean, abs=0.5)
    centred = sum(np.interp(c.data_x, c.x, c.mean) - fitted_mean.mean() for c in curves)
    assert fitted_mean.mean() + centred == pytest.approx(fitted_mean, abs=0.6)


def test_a_band_holds_the_function() -> None:
    """The truth lies within two standard deviations nearly everywhere, and the band narrows with rows."""
    graph = DAG("xy", [("x", "y")])

    def curve(rows: int):
        rng = np.random.default_rng(rows)
        x = rng.uniform(-3, 3, rows)
        table = Table.from_numpy(
            np.column_stack([x, np.sin(x) + 0.3 * rng.standard_normal(rows)]), names="xy"
        )
        return dagora.fit(graph, table, score="gp").functions()[0]

    few, many = curve(40), curve(400)
    for found in (few, many):
        assert (np.abs(found.mean - np.sin(found.x)) <= 2 * found.sd + 0.05).mean() > 0.9
    assert many.sd.mean() < 0.6 * few.sd.mean()
    # With one parent the points are the data themselves.
    assert np.abs(np.sin(few.data_x) - few.data_y).std() < 0.5


def test_samples_have_the_distribution_of_the_rows() -> None:
    network = dagora.fit(GRAPH, rows_of(150), score="gp")
    drawn = network.sample(3000, seed=4)
    assert drawn.names == GRAPH.nodes
    for column, original in zip(drawn.columns, network.table.columns, strict=True):
        assert column.mean() == pytest.approx(original.mean(), abs=0.3 * original.std())
        assert column.std() == pytest.approx(original.std(), rel=0.2)
    again = network.sample(3000, seed=4)
    assert all((a == b).all() for a, b in zip(drawn.columns, again.columns, strict=True))
    # sin bends twice: the drawn effect follows it.
    dose, effect = drawn.columns[0], drawn.columns[2]
    bend = np.sin((dose - 10) / 2)
    assert np.corrcoef(bend, effect)[0, 1] > 0.8


def test_units_do_not_matter() -> None:
    table = rows_of()
    other = Table.from_numpy(np.column_stack(table.columns) * [1000, 0.01, 7] + [3, -2, 1], names=table.names)
    here, there = (dagora.fit(GRAPH, some, score="gp") for some in (table, other))
    assert there.processes["effect"].scales == pytest.approx(here.processes["effect"].scales, rel=1e-4)
    one, two = (network.predict(network.table)["effect"].mean for network in (here, there))
    assert two == pytest.approx(one * 7 + 1, rel=1e-5)


def test_the_mode_of_a_root() -> None:
    sigma = root_mode(50, 0.0, 49.0)
    around = root_density(50, 0.0, 49.0, np.log(sigma * np.array([0.99, 1.0, 1.01])))
    assert around.argmax() == 1
    total, _ = quad(lambda s: float(np.exp(root_density(50, 0.0, 49.0, np.array([s]))[0])), -3, 3)
    assert total > 0


def test_parents_in_any_order() -> None:
    """Length-scales follow the parents of the graph, whichever order its nodes have."""
    table = rows_of()
    turned = DAG(["effect", "age", "dose"], [("dose", "effect"), ("age", "effect")])
    one, two = (dagora.fit(graph, table, score="gp") for graph in (GRAPH, turned))
    scales = [
        dict(zip(network.graph.parents("effect"), network.processes["effect"].scales, strict=True))
        for network in (one, two)
    ]
    assert scales[0] == pytest.approx(scales[1], rel=1e-4)
    details = GaussianProcessScore(TableStatistics(table), estimator="laplace").details((2, (0, 1)))
    assert [scales[0]["dose"], scales[0]["age"]] == pytest.approx(details.mode[:2], rel=1e-6)


@pytest.fixture(scope="module")
def small() -> GaussianProcessNetwork:
    return dagora.fit(GRAPH, rows_of(20), score="gp")


def test_any_data_can_be_predicted_from(small: GaussianProcessNetwork) -> None:
    """A mapping, a frame or a matrix says the same as the table; other columns do not matter."""
    columns = {"dose": [9, 12], "age": [40, 50]}
    table = Table.from_numpy([[9.0, 40.0], [12.0, 50.0]], names=["dose", "age"])
    expected = small.predict(table)["effect"].mean
    for data in (columns, {**columns, "note": ["x", "y"]}, {"dose": ["9", "12"], "age": np.array([40, 50])},
                 pa.table(columns)):  # fmt: skip
        assert small.predict(data)["effect"].mean == pytest.approx(expected, rel=1e-12)
    gap = {"dose": [9, None, 12], "age": [40, 45, 50]}
    assert small.predict(gap, missing="drop")["effect"].mean == pytest.approx(expected, rel=1e-12)
    assert set(small.predict({"dose": [9.0]}, nodes="age")) == {"age"}
    assert small.predict(columns, nodes=[]) == {}


@pytest.mark.parametrize(
    ("data", "nodes", "words"),
    [
        (
            {"dose": [9.0]},
            ["effect"],
            "^'effect' is predicted from 'age', which is no column of the data: add",
        ),
        ({}, None, "'effect' is predicted from 'dose'"),
        ({"dose": ["much"], "age": [40]}, None, "'dose' is declared continuous, but 'much' in data row 1"),
        (
            {"dose": [float("nan"), 9.0], "age": [40, 41]},
            None,
            "1 cell is missing, the first in column 'dose'",
        ),
        ({"dose": [float("inf")], "age": [40]}, None, "'dose' has infinite values"),
        ({"dose": [], "age": []}, None, "there are no rows"),
        ({"dose": 9.0, "age": 40}, None, "column 'dose' cannot be used: give a list of values"),
        ({"dose": [9.0], "age": [40, 41]}, None, "the columns differ in length"),
        ({"dose": [[9.0, 1.0]], "age": [40]}, None, "column 'dose' holds several values in a cell"),
        (np.zeros((2, 3)), None, "there is no column named 'dose'"),
        (np.zeros(3), None, "a matrix of rows and columns is needed"),
        (None, None, "an object of type NoneType is no data"),
        (rows_of(3), ["harm"], "no node named 'harm'"),
        (rows_of(3), 7, "nodes takes the names of columns, not 7"),
    ],
)
def test_data_that_do_not_fit_are_refused_in_one_line(
    small: GaussianProcessNetwork, data: object, nodes: object, words: str
) -> None:
    with pytest.raises(DagoraError, match=words) as refusal:
        small.predict(data, nodes=nodes)
    assert "\n" not in str(refusal.value)


def test_rows_and_seeds_of_samples_are_whole_numbers(small: GaussianProcessNetwork) -> None:
    for rows in (0, -1, 1.5, "3", None, True):
        with pytest.raises(OptionError, match=r"^rows must be a whole number of at least 1, not "):
            small.sample(rows, seed=0)
    for seed in (-1, 1.5, "3", None):
        with pytest.raises(OptionError, match=r"^seed must be a whole number of at least 0, not "):
            small.sample(3, seed=seed)
    with pytest.raises(OptionError, match=r"^predict has no option 'zeal'$"):
        small.predict(rows_of(3), zeal=1)


@pytest.mark.parametrize(("rows", "there"), [(1, "there is 1"), (2, "there are 2")])
def test_too_few_rows_are_named(rows: int, there: str) -> None:
    with pytest.raises(DataError, match=f"^the score gp needs at least 3 rows, but {there}$"):
        dagora.fit(GRAPH, rows_of(3).take(range(rows)), score="gp")


def test_mistakes_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows_of(20)
    network = dagora.fit(GRAPH, table, score="gp")
    with pytest.raises(DataError, match="'effect' is predicted from 'age'"):
        network.predict(table.select(["dose"]), nodes=["effect"])
    with pytest.raises(OptionError, match="scores gp and gp2"):
        dagora.fit(GRAPH, table, score="bge")
    with pytest.raises(OptionError, match='belongs to score="gp2"'):
        dagora.fit(GRAPH, table, score="gp", published=True)
    with pytest.raises(OptionError, match='belongs to score="gp2"'):
        dagora.fit(GRAPH, table, published=True)
    with pytest.raises(OptionError, match="probability tables"):
        dagora.fit(GRAPH, table, score="gp", ess=1.0)
    with pytest.raises(OptionError, match="no option 'zeal'"):
        dagora.fit(GRAPH, table, score="gp", zeal=1)
    with pytest.raises(DataError, match="'a' is discrete"):
        dagora.fit(DAG("ab"), {"a": ["x", "y", "x"], "b": [0.5, 1.5, 2.5]}, score="gp")
    monkeypatch.setattr(fitted, "MOST_ROWS", 10)
    with pytest.raises(DataError, match="10 of them, not 20: fit it to fewer rows"):
        dagora.fit(GRAPH, table, score="gp")
    with pytest.raises(GraphError, match="'effect' needs one length-scale per parent"):
        GaussianProcessNetwork(GRAPH, table, dict.fromkeys(GRAPH.nodes, Process(np.zeros(0), 1.0)))
