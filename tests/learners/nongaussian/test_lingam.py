"""LiNGAM, direct and by independent components: against a plain reference, simulated truths, and bad data."""

import numpy as np
import pytest
from scipy.stats import normaltest

import dagora
from dagora.base.errors import DagoraWarning, DataError, RowsUnavailableError
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.nongaussian import direct_lingam
from dagora.learners.nongaussian.causal_fit import normality_warnings, prune_parents, read_columns
from dagora.learners.nongaussian.direct_lingam import direct_order, first_column
from dagora.learners.nongaussian.ica_lingam import independent_components
from dagora.learners.run import Run
from dagora.stats.table import TableStatistics

BOTH = ("lingam", "ica-lingam")


def simulated(
    seed: int, sem: str = "exponential", rows: int = 1000, nodes: int = 10
) -> tuple[Table, dagora.DAG]:
    graph = dagora.random_dag("er", nodes, 2, seed=seed)
    return dagora.simulate(graph, sem, rows, seed=seed).table, graph


def entropy(u: np.ndarray) -> float:
    curve, bend = np.mean(np.log(np.cosh(u))), np.mean(u * np.exp(-(u**2) / 2))
    return (1 + np.log(2 * np.pi)) / 2 - 79.047 * (curve - 0.37457) ** 2 - 7.4129 * bend**2


def residual(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x - np.cov(x, y, bias=True)[0, 1] / y.var() * y


def plain_order(table: Table) -> list[int]:
    """The published algorithm, each entropy wherever it is asked for."""
    data = np.stack(table.columns).astype(float)
    left, order = list(range(len(data))), []
    while left:
        losses = []
        for i in left:
            loss = 0.0
            for j in left:
                if i == j:
                    continue
                xi, xj = ((data[k] - data[k].mean()) / data[k].std() for k in (i, j))
                ri, rj = residual(xi, xj), residual(xj, xi)
                gap = entropy(xj) + entropy(ri / ri.std()) - entropy(xi) - entropy(rj / rj.std())
                loss += min(0.0, gap) ** 2
            losses.append(loss)
        first = left[int(np.argmin(losses))]
        order.append(first)
        left.remove(first)
        for j in left:
            data[j] = residual(data[j], data[first])
    return order


@pytest.mark.parametrize(
    ("sem", "seed"), [("exponential", 0), ("exponential", 1), ("gumbel", 2), ("gaussian", 3)]
)
def test_the_order_is_that_of_the_plain_algorithm(sem: str, seed: int) -> None:
    table, _ = simulated(seed, sem, rows=300, nodes=7)
    columns = read_columns(TableStatistics(table), Knowledge(), "lingam")
    assert direct_order(columns, Run()) == plain_order(table)


@pytest.mark.parametrize("seed", range(6))
def test_finds_nearly_the_true_graph(seed: int) -> None:
    table, graph = simulated(seed)
    assert dagora.compare(dagora.learn(table, "lingam").graph, graph).dag.shd <= 2


def test_components_find_most_true_graphs() -> None:
    distances = [
        dagora.compare(dagora.learn(table, "ica-lingam").graph, graph).dag.shd
        for table, graph in (simulated(seed) for seed in range(6))
    ]
    assert np.median(distances) <= 2


def test_components_are_independent_sources() -> None:
    random = np.random.default_rng(0)
    sources = random.uniform(-1, 1, (4, 5000))
    mixing = random.normal(size=(4, 4))
    values = mixing @ sources
    values = (values - values.mean(axis=1)[:, None]) / values.std(axis=1)[:, None]
    found, converged = independent_components(values, Run(), 1000)
    likeness = np.abs(np.corrcoef(found @ values, sources)[:4, 4:])
    assert converged
    assert np.allclose(likeness.max(axis=0), 1, atol=0.01)
    assert np.allclose(np.sort(likeness, axis=0)[:-1], 0, atol=0.1)


@pytest.mark.parametrize("method", BOTH)
def test_units_do_not_matter(method: str) -> None:
    table, _ = simulated(1, rows=500, nodes=6)
    scales = np.array([1, 1e-3, 50, 1e4, 0.1, 7])
    changed = Table.from_numpy(
        np.stack(table.columns, axis=1) * scales + 3, names=table.names, continuous=["all"]
    )
    one, other = (dagora.learn(data, method) for data in (table, changed))
    assert one.graph == other.graph
    assert np.allclose(one.weights / scales[:, None] * scales[None, :], other.weights)


def test_weights_are_regressions_that_bic_would_not_shorten() -> None:
    table, _ = simulated(0, rows=200, nodes=6)
    columns = read_columns(TableStatistics(table), Knowledge(), "lingam")
    data, n = columns.values, 200

    def bic(parents: list[int]) -> float:
        left = data[5] - data[parents].T @ np.linalg.lstsq(data[parents].T, data[5], rcond=None)[0]
        return -n / 2 * np.log(left @ left) - len(parents) / 2 * np.log(n)

    kept, weights = prune_parents(columns, 5, [0, 1, 2, 3, 4])
    assert 0 < len(kept) < 5
    assert np.allclose(weights, np.linalg.lstsq(data[kept].T, data[5], rcond=None)[0])
    assert all(bic(kept) > bic([i for i in kept if i != parent]) for parent in kept)
    assert bic(kept) > bic([0, 1, 2, 3, 4])


@pytest.mark.parametrize("method", BOTH)
def test_warns_where_the_noise_may_be_normal(method: str) -> None:
    table, _ = simulated(3, "gaussian", nodes=5)
    with pytest.warns(DagoraWarning, match=r"may be normal in \d of 5 columns"):
        dagora.learn(table, method)
    assert not dagora.learn(simulated(3, nodes=5)[0], method).warnings


def test_residuals_that_a_test_does_not_reject_may_be_normal() -> None:
    """Two residuals with p-values from 0.02 to 0.2 may be normal, and are named; a single one is no doubt."""
    random = np.random.default_rng(0)
    drawn = random.standard_t(8, size=(400, 200))
    p_values = normaltest(drawn, axis=1).pvalue
    doubted, sure = drawn[(p_values > 0.02) & (p_values < 0.2)], drawn[p_values < 0.005]
    assert (
        "may be normal in 2 of 3 columns ('a', 'b')"
        in normality_warnings(("a", "b", "c"), np.stack([*doubted[:2], sure[0]]))[0]
    )
    assert normality_warnings(("a", "b", "c"), np.stack([doubted[0], *sure[:2]])) == ()


RANDOM = np.random.default_rng(1).exponential(size=(60, 3))
BAD = {
    "is a linear function of others": np.column_stack([RANDOM, RANDOM[:, 0] + RANDOM[:, 1]]),
    "equal up to scale and shift": np.column_stack([RANDOM, 2 * RANDOM[:, 0] + 1]),
    "needs more rows than": np.random.default_rng(2).exponential(size=(6, 6)),
}


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("said", BAD)
def test_refuses_what_cannot_be_regressed(method: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        dagora.learn(Table.from_numpy(BAD[said], continuous=["all"]), method)


@pytest.mark.parametrize("method", BOTH)
def test_refuses_other_kinds_of_data(method: str) -> None:
    constant = Table.from_numpy(np.column_stack([RANDOM, np.ones(60)]), continuous=["all"])
    with pytest.raises(DataError, match="'x3' is constant"):
        dagora.learn(TableStatistics(constant), method)
    with pytest.raises(DataError, match="needs continuous columns, but 'a' is discrete"):
        dagora.learn(Table.from_numpy([[0, 1.5], [1, 2.5]] * 20, names=["a", "x"], discrete=["a"]), method)
    with pytest.raises(RowsUnavailableError, match="needs rows, which the sites keep"):
        dagora.learn_federated([Table.from_numpy(RANDOM), Table.from_numpy(RANDOM)], method)


@pytest.mark.parametrize("method", BOTH)
def test_a_required_edge_without_any_weight_is_kept(method: str) -> None:
    # All eight corners of a cube: every two columns are exactly uncorrelated.
    corners = np.array([[-1.0, 1.0][k >> bit & 1] for k in range(8) for bit in range(3)]).reshape(8, 3)
    table = Table.from_numpy(np.tile(corners, (5, 1)), names=["a", "b", "c"], continuous=["all"])
    result = dagora.learn(table, method, knowledge={"required": [["a", "b"]]})
    assert result.graph.edges == (("a", "b"),)
    assert result.weights[0, 1] == pytest.approx(0, abs=1e-12)


def test_few_steps_are_told() -> None:
    table, _ = simulated(0, rows=200, nodes=5)
    with pytest.warns(DagoraWarning, match="still changing after the last step"):
        assert dagora.learn(table, "ica-lingam", max_steps=1).status == "step-limit"


@pytest.mark.parametrize("method", BOTH)
def test_time_that_is_up_leaves_a_graph(method: str) -> None:
    table, _ = simulated(0, rows=200, nodes=5)
    result = dagora.learn(table, method, time_limit=1e-9)
    assert result.status == "time-limit"
    assert "columns that were not reached have no edges into them but required ones" in result.message


def test_once_time_is_up_nothing_more_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel leaves at once, and it is not asked again; the order still obeys knowledge."""
    table, _ = simulated(0, rows=50, nodes=5)
    knowledge = Knowledge(required=[(table.names[4], table.names[0])])
    columns = read_columns(TableStatistics(table), knowledge, "lingam")
    untouched, left = np.full((5, 5), 7.0), np.arange(5)
    everything, up = np.ones(5, dtype=np.bool_), np.ones(1, dtype=np.bool_)
    assert first_column(columns.values, left, everything, np.zeros(5), untouched, up) == -1
    assert (untouched == 7).all()
    asked = []

    def stopping(*given: np.ndarray) -> int:
        asked.append(len(given[1]))
        given[-1][0] = True
        return -1

    monkeypatch.setattr(direct_lingam, "first_column", stopping)
    order = direct_order(columns, Run(knowledge=knowledge))
    assert asked == [5]
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert order.index(4) < order.index(0)
