"""NOTEARS-ADMM against its equations written out, generic optimisers, and central NOTEARS on pooled rows."""

import time
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError, ProtocolError
from dagora.data.partition import split_rows
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.graph.metrics import compare
from dagora.learners.optimise.losses import LeastSquares
from dagora.learners.optimise.notears import notears
from dagora.learners.run import Run
from dagora.parties.horizontal.learners.acyclic_prox import acyclic_prox
from dagora.parties.horizontal.learners.admm import admm
from dagora.parties.horizontal.learners.admm_site import LeastSquaresPart, SiteState
from dagora.parties.horizontal.session.federation import OpenFederation
from dagora.stats.moments import table_moments
from dagora.stats.table import TableStatistics
from tests.parties.horizontal.federations import TASKS, Recording, open_federation, simulated, sites_of


def test_closed_form_is_the_minimum_of_the_local_problem():
    rng = np.random.default_rng(1)
    rows, weights, beta, rho, n = rng.normal(size=(3, 4)), *rng.normal(size=(2, 4, 4)), 0.3, 7
    part = LeastSquaresPart.of(rows.T, n, np.ones(4))
    found = weights + part.proximal(weights, beta, rho)
    covariance = rows.T @ rows / n
    direct = np.linalg.solve(covariance + rho * np.eye(4), rho * weights - beta + covariance)
    assert np.allclose(found, direct, atol=1e-12)

    def local(entries):
        b = entries.reshape(4, 4)
        fit = ((rows - rows @ b) ** 2).sum() / (2 * n)
        return fit + (beta * (b - weights)).sum() + 0.5 * rho * ((b - weights) ** 2).sum()

    generic = minimize(local, np.zeros(16), method="BFGS", options={"gtol": 1e-9}).x.reshape(4, 4)
    assert np.allclose(found, generic, atol=1e-5)
    assert part.loss(weights) == pytest.approx(((rows - rows @ weights) ** 2).sum() / (2 * n))


def test_a_site_follows_the_equations_as_published():
    rng = np.random.default_rng(2)
    rows, n = rng.normal(size=(6, 3)), 20
    covariance = rows.T @ rows / n
    local = SiteState.begin(LeastSquaresPart.of(rows.T, n, np.ones(3)), (3, 3))
    beta, b, old = np.zeros((3, 3)), None, 0.0
    for rho in (0.5, 0.5, 2.0, 0.1):
        weights = rng.normal(size=(3, 3))
        if b is not None:
            beta = beta + old * (b - weights)
        b, old = np.linalg.solve(covariance + rho * np.eye(3), rho * weights - beta + covariance), rho
        answer = local.step(weights, rho)
        assert np.allclose(answer["away"], b - weights)
        assert np.allclose(answer["multipliers"], beta)
        # Minus the gradient of the site's loss.
        assert np.allclose(answer["multipliers"] + rho * answer["away"], covariance @ (np.eye(3) - b))


@pytest.mark.parametrize("task", ["admm-step", "admm-loss", "admm-mlp-step", "admm-mlp-loss"])
def test_a_site_refuses_to_continue_what_was_not_begun(task):
    _, table = simulated(3, 20, 1)
    (site,) = sites_of([table])
    question = {"weights": np.zeros((3, 3))}
    if task.endswith("step"):
        question["rho"] = 1.0
    if task == "admm-mlp-step":
        question["free"] = ~np.eye(3, dtype=bool)
    with pytest.raises(ProtocolError, match="before the first question"):
        TASKS[task](site, question)


def stationary(weights, covariance, lambda1, tolerance):
    """Optimality of the lasso on the support of an acyclic solution."""
    slope = covariance @ (np.eye(len(weights)) - weights)
    inside = weights != 0
    return np.abs((slope - lambda1 * np.sign(weights))[inside]).max() < tolerance


@pytest.mark.full
@pytest.mark.parametrize("copies", [1, 3])
def test_one_site_and_copies_of_it_reach_the_central_program(copies):
    truth, table = simulated(8, 200, 5)
    outcome = admm(OpenFederation.over(sites_of([table] * copies), TASKS), Run(), tolerance=1e-6)
    covariance = table_moments(table).covariance
    assert stationary(outcome.weights, covariance, 0.01, 1e-4)
    central = notears(TableStatistics(table), Run(), lambda1=0.01)
    assert outcome.score == pytest.approx(central.score, rel=2e-3)
    assert compare(outcome.graph, truth).shd <= 1
    assert outcome.status == "finished"
    loss = LeastSquares(covariance).value(outcome.weights) + 0.01 * np.abs(outcome.weights).sum()
    assert outcome.score == pytest.approx(-loss)


@pytest.mark.full
def test_sites_of_unequal_size_reach_the_solution_on_pooled_rows():
    _, table = simulated(8, 200, 6)
    federation = open_federation(table, 4, sizes=[3, 7, 60, 130])
    outcome = admm(federation, Run(), tolerance=1e-7)
    covariance = table_moments(table).covariance
    pooled = LeastSquares(covariance).refit(outcome.graph.to_numpy(), 0.01)
    assert np.allclose(outcome.weights, pooled, atol=1e-4)
    for site in federation.sites:  # consensus: B_k = W
        assert np.abs(site.memory["admm"].away).max() < 1e-3
    assert max(outcome.stats["primal_residual"], outcome.stats["dual_residual"]) <= 1e-7


@pytest.mark.full
def test_local_centring_is_another_problem_where_means_differ():
    _, table = simulated(5, 90, 7)
    shifted = [
        Table.from_numpy(np.column_stack(part.columns) + 5.0 * k, part.names)
        for k, part in enumerate(split_rows(table, 3))
    ]
    local = admm(OpenFederation.over(sites_of(shifted), TASKS), Run(), centre="local", tolerance=1e-5)
    own = sum(table_moments(part).scatter for part in shifted) / 90
    assert np.allclose(local.weights, LeastSquares(own).refit(local.graph.to_numpy(), 0.01), atol=1e-3)
    pooled = Table.from_numpy(
        np.concatenate([np.column_stack(part.columns) for part in shifted]), table.names
    )
    both = admm(OpenFederation.over(sites_of(shifted), TASKS), Run(), tolerance=1e-5)
    covariance = table_moments(pooled).covariance
    assert np.allclose(both.weights, LeastSquares(covariance).refit(both.graph.to_numpy(), 0.01), atol=1e-3)
    assert not np.allclose(local.weights, both.weights, atol=0.05)


def test_terms_for_biases_end_where_global_centring_does():
    """The variant of section 5.1, on a fixed graph: a constant column is a regressor that nobody penalises."""
    rng = np.random.default_rng(4)
    rows = [rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3) for n in (20, 35)]
    n, rho, allowed = 55, 0.5, np.vstack([np.triu(np.ones((3, 3)), 1), np.ones(3)])
    columns = [np.vstack([own.T, np.ones(len(own))]) for own in rows]
    states = [SiteState.begin(LeastSquaresPart.of(own, n, np.ones(4)), (4, 3)) for own in columns]
    weights = np.zeros((4, 3))
    for _ in range(3000):
        for state in states:
            state.step(weights, rho)
        weights = allowed * np.mean([s.weights + s.away + s.beta / rho for s in states], axis=0)
    pooled = np.vstack(rows)
    centred = pooled - pooled.mean(axis=0)
    for node in range(1, 3):
        expected = np.linalg.lstsq(centred[:, :node], centred[:, node], rcond=None)[0]
        assert weights[:node, node] == pytest.approx(expected, abs=1e-6)
    assert weights[3] == pytest.approx(pooled.mean(axis=0) @ (np.eye(3) - weights[:3]), abs=1e-6)


@pytest.mark.parametrize("published", [False, True])
def test_every_round_is_shown_and_nothing_but_moments_is_summed(published):
    _, table = simulated(5, 60, 1)
    federation = Recording(split_rows(table, 3))
    outcome = admm(federation, Run(), published=published, max_rounds=30)
    own = ["own-squares"] * published
    assert federation.gathered == [*own, *["admm-step"] * 30, "admm-loss"]
    assert [task for task, _ in federation.asked] == federation.gathered
    assert outcome.stats["parties"] == 3


@pytest.mark.full
def test_the_same_graph_whatever_the_units():
    _, table = simulated(8, 300, 8)
    rows = np.column_stack(table.columns)
    plain = admm(open_federation(table, 5), Run())
    for unit in (1e-6, 1e7):
        scaled = Table.from_numpy(rows * unit, table.names)
        exact = admm(Recording(split_rows(scaled, 5)), Run(), lambda1=0.01 * unit**2)
        assert exact.graph.edges == plain.graph.edges
        assert np.allclose(exact.weights, plain.weights, atol=1e-3)
    mixed = rows * np.array([1e5] + [1.0] * 7)
    assert admm(Recording(split_rows(Table.from_numpy(mixed, table.names), 5)), Run()).status == "finished"


def test_the_loss_of_a_site_is_in_the_units_of_its_columns():
    rng = np.random.default_rng(3)
    rows, unit, weights = rng.normal(size=(9, 3)), np.array([1.0, 20.0, 0.1]), rng.normal(size=(3, 3))
    part = LeastSquaresPart.of(rows.T, 11, unit)
    scaled = weights * unit[:, None] / unit
    assert part.loss(scaled) == pytest.approx(((rows - rows @ weights) ** 2).sum() / 22)


def columns_of_the_objective(weights, covariance, lambda1=0.01):
    residual = np.eye(len(weights)) - weights
    return 0.5 * (residual * (covariance @ residual)).sum(axis=0) + lambda1 * np.abs(weights).sum(axis=0)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 10.0, 1e2, 1e3, 1e4])
def test_a_column_in_another_unit_costs_nothing_against_pooled_rows(scale):
    _, table = simulated(8, 200, 5)
    rows = np.column_stack(table.columns)
    rows[:, 1] *= scale
    scaled = Table.from_numpy(rows, table.names)
    outcome = admm(open_federation(scaled, 4), Run())
    central = notears(TableStatistics(scaled), Run(), lambda1=0.01)
    assert outcome.status == "finished"
    assert outcome.score >= central.score - 2e-3 * abs(central.score)
    assert len(outcome.graph.edges) >= len(central.graph.edges) - 1
    # The large column must not hide what is lost in the others.
    covariance = table_moments(scaled).covariance
    mine, theirs = (columns_of_the_objective(found.weights, covariance) for found in (outcome, central))
    assert np.delete(mine, 1).sum() <= 1.01 * np.delete(theirs, 1).sum()
    assert -outcome.score == pytest.approx(mine.sum(), rel=1e-6)


@pytest.mark.full
def test_all_columns_in_units_of_their_own():
    _, table = simulated(8, 256, 2)
    rows = np.column_stack(table.columns) * 10.0 ** np.random.default_rng(0).permutation(
        np.linspace(-4, 4, 8)
    )
    mixed = Table.from_numpy(rows, table.names)
    outcome = admm(Recording(split_rows(mixed, 4)), Run())
    central = notears(TableStatistics(mixed), Run(), lambda1=0.01)
    assert outcome.score >= central.score - 2e-3 * abs(central.score)


def test_a_coordinator_that_cannot_move_does_not_claim_agreement(monkeypatch):
    _, table = simulated(5, 60, 3)
    monkeypatch.setattr(
        "dagora.parties.horizontal.learners.admm.acyclic_prox", partial(acyclic_prox, steps=0)
    )
    outcome = admm(open_federation(table, 3), Run(), max_rounds=60)
    assert outcome.status == "step-limit"
    assert "60 rounds did not bring the sites to agree" in outcome.message
    assert "away from a solution" in outcome.message


@pytest.mark.full
def test_residuals_are_those_of_the_published_definitions():
    """After any round: of all B_k and β_k that the sites hold, and of the step that W made."""
    _, table = simulated(6, 90, 0)
    federation = Recording(split_rows(table, 3))
    outcome = admm(federation, Run(), published=True, max_rounds=25)
    *_, before = [question["weights"] for task, question in federation.asked if task == "admm-step"]
    states = [site.memory["admm"] for site in federation.sites]
    assert np.array_equal(states[0].weights, before)
    rho = 0.001 * 1.25**24
    target = np.mean([before + state.away + state.beta / rho for state in states], axis=0)
    assert outcome.stats["rho"] == pytest.approx(rho * 1.25)
    # The step to the new W is the dual residual; no threshold cut it, or W would be known exactly.
    forces = np.mean([np.square(state.beta).sum() for state in states])
    pull = np.mean([state.beta + rho * state.away for state in states], axis=0)
    moved = outcome.stats["dual_residual"] * np.sqrt(max(forces, np.square(pull).sum())) / rho
    assert 0 < moved <= np.linalg.norm(target - before)


@pytest.mark.full
def test_the_published_schedule():
    _, table = simulated(5, 60, 3)
    federation = Recording(split_rows(table, 3))
    outcome = admm(federation, Run(), published=True)
    rhos = [question["rho"] for task, question in federation.asked if task == "admm-step"]
    # Both reach 1e16 only after 197 rounds, and nothing else ends it.
    assert outcome.stats["rounds"] == len(rhos) == 197
    assert np.allclose(rhos, 0.001 * 1.25 ** np.arange(197), rtol=1e-12)
    first = next(question for task, question in federation.asked if task == "admm-step")
    assert first["centre"] == "local"
    assert first["n"] == 60
    assert outcome.status == "finished"


@pytest.mark.slow
def test_residuals_fall_and_better_than_the_published_schedule():
    messages = []
    truth, table = simulated(12, 240, 4)
    outcome = admm(open_federation(table, 24), Run(on_event=lambda event: messages.append(event.message)))
    published = admm(open_federation(table, 24), Run(), published=True)
    assert compare(outcome.graph, truth).shd <= compare(published.graph, truth).shd
    assert compare(outcome.graph, truth).dag.tpr >= 0.9
    primal = [float(message.split("residuals ")[1].split(" and ")[0]) for message in messages]
    assert max(primal[-5:]) < 0.02 * max(primal[:5])
    assert outcome.stats["h"] <= 1e-6


@pytest.mark.full
def test_knowledge_is_obeyed():
    truth, table = simulated(6, 200, 9)
    tail, head = truth.edges[0]
    spare = next(
        (a, b)
        for a in truth.nodes
        for b in truth.nodes
        if a != b and (a, b) not in truth.edges and (b, a) not in truth.edges and {a, b} != {tail, head}
    )
    knowledge = Knowledge(required=[spare], forbidden=[(tail, head)])
    for published in (False, True):
        graph = admm(open_federation(table, 4), Run(knowledge=knowledge), published=published).graph
        assert knowledge.violations(graph) == []
    tiers = Knowledge(tiers=[truth.nodes[3:], truth.nodes[:3]])
    assert tiers.violations(admm(open_federation(table, 4), Run(knowledge=tiers)).graph) == []


def test_what_closes_a_cycle_with_required_edges_is_not_learned_and_then_cut():
    """As good as on pooled rows, with edges required against the direction that the data have."""
    table = dagora.simulate(dagora.random_dag("er", 8, 1.5, seed=1), "gaussian", 900, seed=1).table
    knowledge = Knowledge(required=[("x5", "x0"), ("x7", "x4")])
    pooled = dagora.learn(table, "notears", lambda1=0.01, knowledge=knowledge)
    outcome = admm(open_federation(table, 4), Run(knowledge=knowledge))
    assert knowledge.violations(outcome.graph) == []
    assert outcome.stats["dropped_edges"] == 0
    assert outcome.score == pytest.approx(pooled.score, rel=1e-3)


@pytest.mark.full
def test_repeated_runs_agree_to_the_last_bit():
    _, table = simulated(6, 100, 2)
    one, other = (admm(open_federation(table, 5), Run()) for _ in range(2))
    assert np.array_equal(one.weights, other.weights)


def test_time_and_rounds_are_limited():
    _, table = simulated(20, 256, 1)
    spent = Budget(0.0)
    outcome = admm(open_federation(table, 8), Run(budget=spent))
    assert outcome.status == "time-limit"
    assert outcome.graph.edges == ()
    begun = time.monotonic()
    outcome = admm(open_federation(table, 64), Run(budget=Budget(0.05)))
    assert outcome.status == "time-limit"
    assert time.monotonic() - begun < 20
    outcome = admm(open_federation(table, 8), Run(), max_rounds=7)
    assert outcome.status == "step-limit"
    assert outcome.stats["rounds"] == 7


@pytest.mark.full
def test_out_of_rounds_while_weak_parents_are_removed_the_threshold_holds_all_the_same():
    _, table = simulated(8, 200, 5)
    complete = admm(open_federation(table, 3), Run(), threshold=0.6)
    assert complete.stats["rounds"] > complete.stats["path_rounds"] + 2
    for more in (1, 2):
        rounds = int(complete.stats["path_rounds"]) + more
        outcome = admm(open_federation(table, 3), Run(), threshold=0.6, max_rounds=rounds)
        assert outcome.stats["rounds"] == rounds
        assert outcome.status == "step-limit"
        kept = np.abs(outcome.weights[outcome.graph.to_numpy()])
        assert kept.min() >= 0.6


def test_bad_input_is_one_clear_line():
    _, table = simulated(4, 40, 1)
    rows = np.column_stack(table.columns)
    with pytest.raises(OptionError, match="no centre named 'middle'"):
        admm(open_federation(table, 2), Run(), centre="middle")
    rows[:, 2] = 1.5
    with pytest.raises(DataError, match="cannot learn about column 'c', it is constant"):
        admm(open_federation(Table.from_numpy(rows, "abcd"), 2), Run())
    rows[:, 2] = np.arange(40) % 2
    with pytest.raises(DataError, match="needs continuous columns, but 'c' is discrete"):
        admm(open_federation(Table.from_numpy(rows, "abcd", discrete=["c"]), 2), Run())
    with pytest.raises(DataError, match="within every site"):
        admm(open_federation(table, 40), Run(), centre="local")
