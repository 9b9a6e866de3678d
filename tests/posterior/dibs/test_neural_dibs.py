"""DiBS+ with neural networks: its density, gradients and steps against plain definitions; what it finds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

import dagora
from dagora.base.errors import DataError, OptionError
from dagora.data.table import Table
from dagora.kernels.jax import prepare_jax
from dagora.posterior.dibs.networks import (
    NetWeights,
    NeuralModel,
    Particles,
    StepPlan,
    embedding_objective,
    joint_of,
    kernel,
    log_joint,
    take_step,
    weight_objective,
)

prepare_jax()

NODES, HIDDEN, ROWS = 3, 2, 7
RNG = np.random.default_rng(1)
CELLS = RNG.normal(size=(ROWS, NODES))
FREE = ~np.eye(NODES, dtype=bool)
TERMS = NeuralModel(
    jnp.asarray(CELLS),
    jnp.asarray(FREE),
    jnp.zeros((3, 3), bool),
    *map(jnp.asarray, (0.3, 0.7, 0.5, 1.6, 1.0)),
)
WEIGHT_SD = 1.6
PACE = StepPlan(jnp.asarray(1.3), jnp.asarray(2.0), 0.01, 5.0, 500.0)


def some_weights(number: int = 1) -> NetWeights:
    drawn = NetWeights.from_prior(np.random.default_rng(2), number, NODES, HIDDEN)
    return NetWeights(*(each.astype(jnp.float64) for each in drawn))


def one(weights: NetWeights, place: int = 0) -> NetWeights:
    return NetWeights(*(each[place] for each in weights))


def plain_joint(graph: np.ndarray, weights: NetWeights) -> float:
    """The density, cell by cell and weight by weight."""
    inner, inner_bias, outer, outer_bias = (np.asarray(each) for each in weights)
    total = -0.7 * graph.sum()
    for j in range(NODES):
        for row in CELLS:
            hidden = [
                max(0.0, sum(graph[i, j] * inner[j, h, i] * row[i] for i in range(NODES)) + inner_bias[j, h])
                for h in range(HIDDEN)
            ]
            mean = sum(outer[j, h] * hidden[h] for h in range(HIDDEN)) + outer_bias[j]
            total += norm.logpdf(row[j], mean, np.sqrt(0.3))
        total += sum(weight_prior(each[j]).sum() for each in (inner_bias, outer, outer_bias))
        total += sum(graph[i, j] * weight_prior(inner[j, h, i]) for i in range(NODES) for h in range(HIDDEN))
    return float(total)


def weight_prior(weight: np.ndarray) -> np.ndarray:
    return np.asarray(norm.logpdf(weight, scale=WEIGHT_SD))


def plain_scale_free(graph: np.ndarray) -> float:
    return sum(-3 * np.log(1 + sum(graph[i, j] for i in range(NODES))) for j in range(NODES))


@pytest.mark.parametrize("soft", [False, True])
def test_the_density_by_its_definition(soft: bool) -> None:
    graph = np.random.default_rng(3).random((NODES, NODES)) * FREE
    graph = graph if soft else (graph > 0.5).astype(float)
    weights = one(some_weights())
    assert float(log_joint(jnp.asarray(graph), weights, TERMS)) == pytest.approx(plain_joint(graph, weights))


def test_what_is_climbed_by_its_definition() -> None:
    rng = np.random.default_rng(4)
    latents, weights = rng.normal(size=(2, NODES, NODES)), one(some_weights())
    noise, cycles = rng.logistic(size=(4, NODES, NODES)), rng.logistic(size=(5, NODES, NODES))
    logits = 1.3 * latents[0] @ latents[1].T
    values = [plain_joint(expit(logits + each) * FREE, weights) for each in noise]
    walks = [np.linalg.matrix_power(np.eye(3) + expit(logits + each) * FREE / 3, 3) for each in cycles]
    penalty = 2.0 * np.mean([np.trace(each) - 3 for each in walks])
    expected = -0.5 * (latents**2).sum() / 0.25 + logsumexp(values) - penalty
    expected += plain_scale_free(expit(logits) * FREE)
    found = embedding_objective(
        jnp.asarray(latents), weights, jnp.asarray(noise), jnp.asarray(cycles), TERMS, PACE
    )
    assert float(found) == pytest.approx(expected)
    drawn = [plain_joint((logits + each > 0) * FREE, weights) for each in noise]
    assert float(
        weight_objective(weights, jnp.asarray(latents), jnp.asarray(noise), TERMS, PACE)
    ) == pytest.approx(logsumexp(drawn))


def test_a_step_by_its_definition() -> None:
    """Stein's direction under the sum of a kernel of graphs and one of weights, then RMSprop from nothing."""
    rng = np.random.default_rng(5)
    latents = rng.normal(size=(2, 3, NODES, NODES))
    weights = some_weights(3)
    noise, cycles = rng.logistic(size=(3, 4, NODES, NODES)), rng.logistic(size=(3, 5, NODES, NODES))
    start = Particles(
        jnp.asarray(latents), weights, jnp.zeros_like(latents), NetWeights(*map(jnp.zeros_like, weights))
    )
    found = take_step(start, jnp.asarray(noise), jnp.asarray(cycles), TERMS, PACE)
    flat = np.swapaxes(latents, 0, 1).reshape(3, -1)
    flat_weights = np.concatenate([np.asarray(each).reshape(3, -1) for each in weights], axis=1)
    near, alike = (
        np.asarray(kernel(jnp.asarray(flat), 5.0)),
        np.asarray(kernel(jnp.asarray(flat_weights), 500.0)),
    )
    direction, bent = np.zeros_like(latents[:, 0]), np.zeros_like(flat_weights[0])
    by_weights = jax.jit(jax.grad(weight_objective))
    gradient = jax.jit(jax.grad(embedding_objective))
    for q in range(3):
        slope = gradient(
            jnp.asarray(latents[:, q]),
            one(weights, q),
            jnp.asarray(noise[q]),
            jnp.asarray(cycles[q]),
            TERMS,
            PACE,
        )
        apart = latents[:, q] - latents[:, 1]
        direction += (near[q, 1] + alike[q, 1]) * np.asarray(slope) - 2 / 5.0 * apart * near[q, 1]
        own = by_weights(one(weights, q), jnp.asarray(latents[:, q]), jnp.asarray(noise[q]), TERMS, PACE)
        slopes = np.concatenate([np.asarray(each).ravel() for each in own])
        bent += (near[q, 1] + alike[q, 1]) * slopes
        bent -= 2 / 500.0 * (flat_weights[q] - flat_weights[1]) * alike[q, 1]
    direction, bent = direction / 3, bent / 3
    step = 0.01 * direction / np.sqrt(0.1 * direction**2 + 1e-8)
    assert np.asarray(found.latents)[:, 1] == pytest.approx(latents[:, 1] + step)
    assert np.asarray(found.latent_squares)[:, 1] == pytest.approx(0.1 * direction**2)
    moved_weights = np.concatenate([np.asarray(each[1]).ravel() for each in found.weights])
    assert moved_weights == pytest.approx(flat_weights[1] + 0.01 * bent / np.sqrt(0.1 * bent**2 + 1e-8))
    squares = np.concatenate([np.asarray(each[1]).ravel() for each in found.weight_squares])
    assert squares == pytest.approx(0.1 * bent**2)


def test_a_bent_relation_is_found() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 100))
    table = Table.from_numpy(
        np.column_stack([x, x**2 + 0.2 * rng.normal(size=100), z]), names=["x", "y", "z"]
    )
    found = dagora.sample(table, "dibs-neural", draws=4, steps=250, edge_penalty=5.0)
    assert found.edge_probability[0, 1] > 0.9
    assert found.edge_probability[2].max() < 0.1
    assert found.score_name is None
    assert found.diagnostics.verdict == "particles"
    assert sum("nats" in line or "surer" in line for line in found.warnings) == 2


def test_particles_count_by_their_density_or_alike() -> None:
    """Six particles on independent columns: counts of graphs where they count alike."""
    table = Table.from_numpy(CELLS, names=["a", "b", "c"])
    options = {"draws": 6, "steps": 20, "weight_sd": 2.0, "prior": "scale-free", "seed": 3}
    weighted, alike = (
        dagora.sample(table, "dibs-neural", particle_weights=how, **options) for how in ("density", "equal")
    )
    shares = np.array([share for _, share in alike.graphs()])
    counts = shares / shares.min()
    assert counts == pytest.approx(counts.round())
    assert {str(graph) for graph, _ in alike.graphs()} == {str(graph) for graph, _ in weighted.graphs()}
    assert alike.draws.log_scores == pytest.approx(weighted.draws.log_scores)
    assert weighted.draws.log_weights == pytest.approx(weighted.draws.log_scores)
    assert any("count alike" in line for line in alike.warnings)
    assert "standard deviation 2" in alike.draws.prior
    assert "(1 + parents)" in alike.draws.prior


def test_the_scale_free_prior_is_in_the_weight() -> None:
    """Ln p(D, Θ, G) of two particles, by its definition."""
    graphs = np.array([[[0, 1, 1], [0, 0, 1], [0, 0, 0]], np.zeros((3, 3))], dtype=bool)
    weights = some_weights(2)
    found = np.asarray(joint_of(jnp.asarray(graphs), weights, TERMS))
    expected = [
        plain_joint(graph.astype(float), one(weights, k)) + plain_scale_free(graph.astype(float))
        for k, graph in enumerate(graphs)
    ]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"score": "bge"}, "a model of its own and takes no score"), ({"noise": 0.0}, "'noise' must be")],
)
def test_what_it_does_not_take(options: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        dagora.sample(Table.from_numpy(CELLS), "dibs-neural", **options)


def test_interventions_are_refused() -> None:
    table = Table.from_numpy(CELLS, names=["a", "b", "c"])
    with pytest.raises(OptionError, match="knows of no interventions"):
        dagora.sample(table, "dibs-neural", interventions=[["a"], *[[]] * (ROWS - 1)])


def test_levels_are_refused() -> None:
    with pytest.raises(OptionError, match="continuous columns only"):
        dagora.sample({"a": ["x", "y"] * 5, "b": ["u", "u", "v", "v", "u"] * 2}, "dibs-neural")


def test_knowledge_and_the_clock() -> None:
    knowledge = dagora.Knowledge(required=[("a", "b")], forbidden=[("b", "c"), ("c", "b")])
    table = Table.from_numpy(CELLS, names=["a", "b", "c"])
    for graph, _ in dagora.sample(table, "dibs-neural", draws=6, steps=5, knowledge=knowledge).graphs():
        assert not knowledge.violations(graph)
    budget = dagora.Budget()
    steps = []

    def stop(event: dagora.Event) -> None:
        steps.append(event.step)
        if event.step == 3:
            budget.stop("enough")

    found = dagora.sample(table, "dibs-neural", draws=2, steps=50, budget=budget, on_event=stop)
    assert steps == [1, 2, 3]
    assert found.message.startswith("enough: 2 particles became")
    assert found.message.endswith("after 3 of 50 steps")
    assert found.stats["steps"] == 3
    none = dagora.sample(table, "dibs-neural", draws=2, steps=50, budget=dagora.Budget(1e-9))
    assert none.graphs() == []
    assert none.status == "time-limit"


@pytest.mark.parametrize(("cells", "words"), [(1e200, "too large to be squared"), (0.0, "is constant")])
def test_columns_that_cannot_be_standardised(cells: float, words: str) -> None:
    with pytest.raises(DataError, match=words):
        dagora.sample(Table.from_numpy(CELLS * cells, names=["a", "b", "c"]), "dibs-neural")


def test_more_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagora.posterior.dibs.neural_dibs.free_memory", lambda: 1000)
    with pytest.raises(OptionError, match="GiB are free: take fewer draws"):
        dagora.sample(Table.from_numpy(CELLS), "dibs-neural")
