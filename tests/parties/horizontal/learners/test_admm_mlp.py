"""NOTEARS-MLP-ADMM: its local fit, its packing, and what it learns compared with the central method."""

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.data.partition import split_rows
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.acyclic_prox import ProxPenalties
from dagora.parties.horizontal.learners.admm_mlp import NetworkServer, admm_mlp, initial_vector, strengths_of
from dagora.parties.horizontal.learners.admm_mlp_site import (
    PUBLISHED_STEPS,
    PUBLISHED_TOLERANCE,
    NetworkPart,
    NetworkShape,
)
from tests.parties.horizontal.federations import Recording, open_federation, simulated

SHAPE = NetworkShape(hidden=3, d=4)
FREE = ~np.eye(4, dtype=bool)


def some_part(seed=0, rows=12, n=30):
    columns = np.random.default_rng(seed).normal(size=(4, rows))
    return NetworkPart(SHAPE, columns, n, FREE), columns


def test_weights_as_a_vector_and_back():
    vector = np.random.default_rng(1).normal(size=SHAPE.size)
    weights = SHAPE.weights(vector)
    assert np.array_equal(SHAPE.vector(weights), vector)
    # [unit, input, output] here, [unit, output, input] there.
    assert weights.inward[2, 1, 3] == SHAPE.first_layer(vector)[2, 3, 1]
    assert np.array_equal(vector[SHAPE.outward], weights.outward.ravel())


def test_loss_and_gradient_of_a_site():
    part, columns = some_part()
    vector = initial_vector(SHAPE, FREE, 0)
    weights = SHAPE.weights(vector)
    units = 1 / (
        1 + np.exp(-(np.einsum("ujk,kn->ujn", weights.inward, columns) + weights.inward_bias[:, :, None]))
    )
    predicted = np.einsum("uj,ujn->jn", weights.outward, units - 0.5) + weights.outward_bias[:, None]
    value, gradient = part.value_and_gradient(vector)
    assert value == pytest.approx(((columns - predicted) ** 2).sum() / 60)
    rng = np.random.default_rng(2)
    for _ in range(5):
        direction = rng.normal(size=SHAPE.size)
        ahead, behind = (part.loss(vector + step * direction) for step in (1e-5, -1e-5))
        assert gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)


def test_the_local_fit_is_stationary_and_keeps_to_free_edges():
    part, _ = some_part()
    part.steps = 2000
    rng = np.random.default_rng(3)
    weights, beta, rho = initial_vector(SHAPE, FREE, 1), 0.01 * rng.normal(size=SHAPE.size), 0.5
    away = part.proximal(weights, beta, rho)
    _, gradient = part.value_and_gradient(weights + away)
    rest = gradient + beta + rho * away
    first = SHAPE.first_layer(rest)
    assert np.abs(first[:, FREE]).max() < 1e-3
    assert np.abs(rest[SHAPE.inward :]).max() < 1e-3
    assert (SHAPE.first_layer(away)[:, ~FREE] == 0).all()


def test_the_server_shrinks_each_layer_as_it_should():
    target = np.random.default_rng(4).normal(size=SHAPE.size)
    server = NetworkServer(SHAPE, np.zeros(FREE.shape))
    moved = server.update(np.zeros(SHAPE.size), target, 2.0, ProxPenalties(0.3, 0.5), FREE).weights
    first, wanted = SHAPE.first_layer(moved), SHAPE.first_layer(target)
    soft = np.sign(wanted) * np.maximum(2.0 * np.abs(wanted) - 0.3, 0) / 2.5
    assert np.allclose(first, np.where(FREE, soft, 0.0))
    assert np.allclose(moved[SHAPE.outward], target[SHAPE.outward] * 2.0 / 2.5)
    biases = np.ones(SHAPE.size, dtype=bool)
    biases[: SHAPE.inward] = biases[SHAPE.outward] = False
    assert np.array_equal(moved[biases], target[biases])


@pytest.mark.full
def test_it_finds_nonlinear_relations():
    truth, table = simulated(5, 300, 1, "mlp")
    federation = Recording(split_rows(table, 3))
    outcome = admm_mlp(federation, Run(), hidden=5)
    metrics = compare(outcome.graph, truth).dag
    assert metrics.tpr >= 0.8
    assert metrics.shd <= 2
    assert set(federation.gathered) == {"admm-mlp-step", "admm-mlp-loss"}
    assert outcome.status in {"finished", "step-limit"}
    assert outcome.stats["primal_residual"] < 0.05
    assert (outcome.weights[outcome.graph.to_numpy()] > 0).all()
    rows = np.column_stack(table.columns)
    # Networks that learned nothing would lose half the variance.
    assert outcome.score > -0.5 * rows.var(axis=0).sum()


@pytest.mark.full
def test_the_published_schedule():
    _, table = simulated(3, 60, 1, "mlp")
    federation = Recording(split_rows(table, 2))
    outcome = admm_mlp(federation, Run(), published=True, hidden=2)
    rhos = [question["rho"] for task, question in federation.asked if task == "admm-mlp-step"]
    assert outcome.stats["rounds"] == len(rhos) == 176
    assert np.allclose(rhos, 0.1 * 1.25 ** np.arange(176), rtol=1e-12)
    first = next(question for task, question in federation.asked if task == "admm-mlp-step")
    assert (first["centre"], first["published"]) == ("none", 1)
    assert first["free"].all(), "no bounds: a network may use its own variable, until h takes it away"
    assert (federation.sites[0].memory["admm-mlp"].model.steps, outcome.stats["h"] < 1e-6) == (15_000, True)
    loss = sum(
        site.memory["admm-mlp"].model.loss(federation.asked[-1][1]["weights"]) for site in federation.sites
    )
    layer = NetworkShape(2, 3).first_layer(federation.asked[-1][1]["weights"])
    assert outcome.score == pytest.approx(-loss - 0.001 * np.abs(layer).sum())  # λ₁ = 0.001, no λ₂
    assert "as published, 176 rounds" in outcome.message


def test_what_the_paper_does_not_have_is_refused():
    _, table = simulated(3, 30, 1, "mlp")
    with pytest.raises(
        OptionError, match=r"^published=True has no lambda2, as in the paper: leave lambda2 out$"
    ):
        admm_mlp(open_federation(table, 2), Run(), published=True, lambda2=0.01)
    with pytest.raises(
        OptionError, match=r"^published=True has the authors' centre=.none.: leave centre out$"
    ):
        admm_mlp(open_federation(table, 2), Run(), published=True, centre="local")


def test_a_published_fit_goes_on_to_its_end():
    weights, beta, left = initial_vector(SHAPE, FREE, 1), np.zeros(SHAPE.size), {}
    for published in (0, 1):
        part, _ = some_part()
        if published:
            part.steps, part.tolerance = PUBLISHED_STEPS, PUBLISHED_TOLERANCE
        away = part.proximal(weights, beta, 1e-3)
        _, gradient = part.value_and_gradient(weights + away)
        rest = gradient + 1e-3 * away
        left[published] = np.abs(np.append(rest[SHAPE.inward :], SHAPE.first_layer(rest)[:, FREE])).max()
    assert left[1] < 1e-3
    assert left[1] < 0.2 * left[0]


def test_edges_that_become_weak_on_the_fixed_graph_are_removed_and_the_rest_is_settled_again(monkeypatch):
    """Of a → b → c, b → c becomes weak once the graph is fixed; no site is asked."""
    _, table = simulated(3, 30, 1, "mlp")
    supports = []

    def edges(consensus, *weights):
        layer = np.zeros((1, 3, 3))
        layer[0, [0, 1], [1, 2]] = weights
        consensus.weights = np.concatenate([layer.ravel(), consensus.weights[9:]])

    def schedule(consensus, *given):
        edges(consensus, 1.0, 1.0)
        consensus.rounds = 1

    def agree(consensus, server, penalties, support, tolerance):
        supports.append([tuple(edge) for edge in np.argwhere(support).tolist()])
        edges(consensus, 1.0, 0.1)

    module = "dagora.parties.horizontal.learners.admm_mlp"
    monkeypatch.setattr(f"{module}.follow_balanced_schedule", schedule)
    monkeypatch.setattr(f"{module}.agree_on_weights", agree)
    monkeypatch.setattr(f"{module}.final_loss", lambda *given: 0.0)
    outcome = admm_mlp(open_federation(table, 2), Run(), hidden=1)
    assert supports == [[(0, 1), (1, 2)], [(0, 1)]]
    assert outcome.graph.edges == ((table.names[0], table.names[1]),)
    assert np.argwhere(outcome.weights).tolist() == [[0, 1]]


@pytest.mark.full
def test_knowledge_seeds_and_limits():
    truth, table = simulated(4, 60, 2, "mlp")
    tail, head = truth.edges[0]
    spare = next(name for name in truth.nodes if name not in {tail, head})
    knowledge = Knowledge(forbidden=[(tail, head)], required=[(head, spare)])
    one, other = (
        admm_mlp(open_federation(table, 3), Run(knowledge=knowledge, seed=7), hidden=2, max_rounds=6)
        for _ in range(2)
    )
    assert knowledge.violations(one.graph) == []
    assert np.array_equal(one.weights, other.weights)
    assert one.status == "step-limit"
    spent = admm_mlp(open_federation(table, 3), Run(budget=Budget(0.0)))
    assert spent.status == "time-limit"
    assert spent.graph.edges == ()


def test_strengths_are_norms_over_units():
    vector = np.zeros(SHAPE.size)
    SHAPE.first_layer(vector)[:, 0, 1] = [2.0, 1.0, 2.0]
    assert strengths_of(SHAPE, vector)[0, 1] == 3.0
