"""Moments with noise: right on average, usable however noisy, and methods that know their noise."""

import numpy as np
import pytest

import dagora
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.parties.privacy.moment_features import GRID, feature_count
from dagora.parties.privacy.noisy_moments import NoisyMoments, raise_eigenvalues
from dagora.parties.privacy.release import features, noisy_statistics, release, site_noise
from dagora.parties.privacy.terms import agree_on_terms
from dagora.stats.fixed_point import quantise
from dagora.stats.moments import table_moments

ROWS = 40_000


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.fixture(scope="module")
def simulation() -> dagora.Simulation:
    truth = dagora.DAG("abcde", [("a", "b"), ("b", "c"), ("a", "d"), ("d", "e")])
    return dagora.simulate(truth, "gaussian", ROWS, seed=4)


def ranges(table: Table, width: float = 3.0) -> dict[str, tuple[float, float]]:
    return {n: (-width * c.std(), width * c.std()) for n, c in zip(table.names, table.columns, strict=True)}


def test_little_noise_gives_the_moments(simulation: dagora.Simulation) -> None:
    table = simulation.table
    wide = ranges(table, 8.0)
    noisy = release(table, key(1), ranges=wide, epsilon=100.0, row_bound=1.0)
    exact = table_moments(table)
    found = noisy.moments()
    assert noisy.n_rows == pytest.approx(ROWS, abs=2)
    assert found.covariance == pytest.approx(exact.covariance, abs=0.02 * exact.covariance.max())
    assert found.mean == pytest.approx(exact.mean, abs=0.02)


def test_the_noise_of_a_covariance_has_its_variance(simulation: dagora.Simulation) -> None:
    """In units of the range: s for two columns, √2 s for one; over 60 releases of the same rows."""
    table = simulation.table
    terms = agree_on_terms(table.schema, 1, epsilon=0.2)
    listed = list(ranges(table).values())
    exact = features(
        terms, table.schema, [quantise(c, *r, 20) for c, r in zip(table.columns, listed, strict=True)]
    )
    scale = np.outer(*[np.array(listed)[:, 1]] * 2)
    plain = noisy_statistics(terms, table.schema, listed, exact).moments().covariance / scale
    found = []
    for k in range(60):
        summed = exact + site_noise(key(k), terms, len(exact))
        found.append(
            noisy_statistics(terms, table.schema, listed, summed).moments().covariance / scale - plain
        )
    s = np.sqrt(terms.sum_variance / 2) / GRID / ROWS
    spread = np.sqrt((np.array(found) ** 2).mean(axis=0))
    off = ~np.eye(len(table.schema), dtype=bool)
    assert spread[off].mean() == pytest.approx(s, rel=0.1)
    assert np.diag(spread).mean() == pytest.approx(np.sqrt(2) * s, rel=0.15)
    penalty = noisy_statistics(terms, table.schema, listed, exact).defaults("notears")["lambda1"]
    assert penalty == pytest.approx(2 * s * np.array(listed)[:, 1].mean() ** 2, rel=0.01)  # twice the noise


def test_sites_together_are_the_pooled_rows(simulation: dagora.Simulation) -> None:
    """Parts with noise of three sites: the sum is that of all rows and of all noise."""
    table = simulation.table
    terms = agree_on_terms(table.schema, 3, epsilon=2.0)
    listed = list(ranges(table).values())
    z = [quantise(column, *limits, 20) for column, limits in zip(table.columns, listed, strict=True)]
    noise = [site_noise(key(site), terms, feature_count(5)) for site in range(3)]
    parts = [features(terms, table.schema, [c[k::3] for c in z]) + noise[k] for k in range(3)]
    assert (sum(parts) == features(terms, table.schema, z) + sum(noise)).all()
    statistics = noisy_statistics(terms, table.schema, listed, sum(parts))
    found = dagora.learn(statistics, "notears")
    assert dagora.compare(found.graph, simulation.graph).shd == 0


def test_the_result_says_what_was_done(simulation: dagora.Simulation) -> None:
    statistics = release(simulation.table, key(2), ranges=ranges(simulation.table))
    result = dagora.learn(statistics, "notears")
    assert result.settings["privacy"]["release"] == "moments"
    assert result.settings["lambda1"] == statistics.defaults("notears")["lambda1"] >= 0.01
    for words in (
        "ε = 1, δ = 1e-06",
        "the sums and the products of 5 columns",
        "expect each correlation to be off",
    ):
        assert words in result.message
    assert result.warnings == () or "sort" in " ".join(result.warnings)
    assert dagora.learn(statistics, "notears", lambda1=0.2).settings["lambda1"] == 0.2
    assert statistics.defaults("ges") == {}


def test_noise_means_fewer_rows_to_scores_and_tests(simulation: dagora.Simulation) -> None:
    table = simulation.table
    effective = [
        release(table, key(3), ranges=ranges(table), epsilon=epsilon).effective_rows
        for epsilon in (0.1, 0.5, 2.0, 100.0)
    ]
    assert effective == sorted(effective)
    assert effective[0] < 0.01 * ROWS
    assert effective[-1] > 0.9 * ROWS
    statistics = release(table, key(3), ranges=ranges(table), epsilon=2.0)
    for method in ("ges", "hill-climb", "dual-pc"):
        found = dagora.learn(statistics, method)
        assert dagora.compare(found.graph, simulation.graph).skeleton.shd <= 1, method
    assert dagora.learn(statistics, "ges", score="bge").score is not None


def test_much_noise_still_gives_a_covariance() -> None:
    table = dagora.simulate(dagora.DAG("abcdef"), "gaussian", 300, seed=1).table
    for seed in range(5):
        statistics = release(table, key(seed), ranges=ranges(table), epsilon=0.5)
        assert np.linalg.eigvalsh(statistics.moments().covariance).min() > 0
        with pytest.warns(dagora.DagoraWarning, match="the noise for ε = 0.5 is large for"):
            dagora.learn(statistics, "ges")


def test_small_eigenvalues_are_raised() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(6, 6))
    matrix = matrix + matrix.T
    values = np.linalg.eigvalsh(matrix)
    assert np.linalg.eigvalsh(raise_eigenvalues(matrix, 0.3)) == pytest.approx(np.maximum(values, 0.3))


SCHEMA = Schema([Variable(name, Kind.CONTINUOUS) for name in "ab"])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda t, r: release(t, key(1)), r"5 continuous columns need a range \(low, high\) each"),
        (lambda t, r: release(t, key(1), ranges={**r, "a": (1.0, 1.0)}), "the range of 'a' must rise"),
        (lambda t, r: release(t, key(1), ranges={**r, "a": (0.0, np.inf)}), "the range of 'a' must rise"),
        (lambda t, r: release(t, key(1), ranges=r, epsilom=1.0), "privacy has no option 'epsilom'"),
        (lambda t, r: release(t, b"x", ranges=r), "a noise key is 32 bytes"),
        (lambda t, r: release(t, key(1), ranges=r).rows(), "no rows: use notears"),
        (lambda t, r: release(t, key(1), ranges=r).contingency([0]), "'a' is continuous"),
        (lambda t, r: dagora.learn(release(t, key(1), ranges=r), "notears-mlp"), "no rows: use notears"),
        (lambda t, r: dagora.learn(release(t, key(1), ranges=r), score="bic"), "needs discrete columns"),
        (lambda t, r: NoisyMoments(agree_on_terms(SCHEMA, 1), SCHEMA, [(0, 1)] * 2, np.zeros(6, np.int64)),
         "the noise is larger than the number of rows"),
        (lambda t, r: NoisyMoments(agree_on_terms(SCHEMA, 1), SCHEMA, [(0, 1)] * 2, np.zeros(5, np.int64)),
         "the moments of 2 columns are 6 numbers, not 5"),
        (lambda t, r: features(agree_on_terms(SCHEMA, 1), t.schema, t.columns), "for 2 columns, not for 5"),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_line(simulation: dagora.Simulation, ask, words: str) -> None:
    with pytest.raises(dagora.DagoraError, match=words) as refusal:
        ask(simulation.table, ranges(simulation.table))
    assert "\n" not in str(refusal.value)
