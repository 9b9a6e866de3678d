"""`admm published=true` against an independent algorithm 1, and equation (5) against its own definition."""

from types import SimpleNamespace

import numpy as np
import pytest

from dagora.base.budget import Budget
from dagora.base.errors import DataError, OptionError
from dagora.base.wording import render
from dagora.data.table import Table
from dagora.graph.knowledge import Knowledge
from dagora.learners.run import Run
from dagora.parties.horizontal.learners import consensus as module
from dagora.parties.horizontal.learners.acyclic_prox import ProxPenalties, acyclic_prox, solve_by_lbfgs
from dagora.parties.horizontal.learners.admm import admm
from dagora.parties.horizontal.learners.admm_mlp import admm_mlp
from tests.parties.horizontal.federations import open_federation
from tests.parties.horizontal.learners.algorithm1 import algorithm1, errors, linear_problem

EVERYWHERE = np.ones((3, 3), dtype=bool)


def learned(rows, sites):
    table = Table.from_numpy(rows, names=[f"x{i}" for i in range(rows.shape[1])])
    return admm(open_federation(table, sites), Run(), published=True)


def compare_with_oracle(d, n, sites, seed):
    """The largest difference of the weights that are kept, whether the graphs are the same, SHD and TPR."""
    truth, rows = linear_problem(d, n, seed)
    outcome = learned(rows, sites)
    weights = algorithm1(np.split(rows, sites))
    edges = outcome.graph.to_numpy()
    same = np.array_equal(edges, np.abs(weights) >= 0.3)
    return np.abs(outcome.weights - weights)[edges].max(), same, *errors(edges, truth != 0)


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_the_same_graph_as_an_independent_algorithm_1(seed):
    """Line searches at kinks end a little apart, so that a weight at the threshold may go either way."""
    difference, same, *_ = compare_with_oracle(5, 80, 8, seed)
    assert same
    assert difference < 0.02


@pytest.mark.slow
def test_the_same_graph_at_the_papers_size_with_8_sites():
    found = [compare_with_oracle(20, 256, 8, seed) for seed in range(10)]
    assert np.mean([same for _, same, *_ in found]) >= 0.9


@pytest.mark.slow
def test_the_tpr_that_the_paper_prints():
    """Section 6.2: TPR 0.78 at d = 20, K = 64, over 30 runs."""
    rates = []
    for seed in range(30):
        truth, rows = linear_problem(20, 256, seed)
        rates.append(errors(learned(rows, 64).graph.to_numpy(), truth != 0)[1])
    assert abs(np.mean(rates) - 0.78) <= 0.03


@pytest.mark.parametrize(("alpha", "rho1"), [(0.0, 0.0), (0.5, 2.0), (50.0, 1e3)])
def test_equation_5_is_solved(alpha, rho1):
    """As low as the exact solver goes, where the diagonal is held at zero, and lower where it is free."""
    rng = np.random.default_rng(1)
    target, penalties = rng.normal(size=(1, 3, 3)), ProxPenalties(0.05, alpha=alpha, rho1=rho1)
    off = ~np.eye(3, dtype=bool)

    def value(weights):
        exponential = np.linalg.matrix_power(np.eye(3) + weights[0] ** 2 / 2**20, 2**20)
        h = np.trace(exponential) - 3
        far = 0.5 * 0.7 * np.square(weights - target).sum()
        return 0.05 * np.abs(weights).sum() + alpha * h + rho1 / 2 * h**2 + far

    exact = acyclic_prox(0 * target, target, 0.7, penalties, off).weights
    bound = solve_by_lbfgs(0 * target, target, 0.7, penalties, off).weights
    free = solve_by_lbfgs(0 * target, target, 0.7, penalties, EVERYWHERE).weights
    assert not bound[0].diagonal().any()
    assert value(bound) <= value(exact) + 0.02
    assert value(free) < value(bound)
    if rho1 == 0:
        assert np.allclose(free, np.sign(target) * np.maximum(np.abs(target) - 0.05 / 0.7, 0), atol=1e-3)


def test_both_penalties_grow_to_their_limit_and_no_further(monkeypatch):
    seen = []
    consensus = SimpleNamespace(is_over=False, rho=0.001, weights=None, tell=lambda *_: None)
    monkeypatch.setattr(module, "move", lambda at, _, penalties, __: seen.append((penalties.rho1, at.rho)))
    server = SimpleNamespace(cycles=lambda _: 0.0)
    module.follow_published_schedule(consensus, server, ProxPenalties(0.01, rho1=0.001), EVERYWHERE)
    expected = [(min(0.001 * 1.75**t, 1e16), 0.001 * 1.25**t) for t in range(197)]
    assert np.allclose(seen, expected, rtol=1e-12)
    assert consensus.rho == 1e16


def test_another_centre_than_the_papers_is_refused():
    _, rows = linear_problem(4, 40, 0)
    table = Table.from_numpy(rows, names="abcd")
    with pytest.raises(OptionError, match=r"^published=True has .*local.*: leave centre out$"):
        admm(open_federation(table, 2), Run(), published=True, centre="global")


def test_a_tolerance_has_no_part_in_it_and_is_refused():
    _, rows = linear_problem(4, 40, 0)
    sites = open_federation(Table.from_numpy(rows, names="abcd"), 2)
    for method in (admm, admm_mlp):
        with pytest.raises(OptionError, match=r"^published=True has no tolerance, .*: leave tolerance out$"):
            method(sites, Run(), published=True, tolerance=0.001)


@pytest.mark.full
def test_a_run_that_is_cut_short_says_so():
    _, rows = linear_problem(4, 40, 0)
    sites = open_federation(Table.from_numpy(rows, names="abcd"), 2)
    short = admm(sites, Run(), published=True, max_rounds=20)
    assert short.status == "step-limit"
    assert short.message.startswith("algorithm 1 of Ng & Zhang (2022) as published, 20 rounds")
    assert "not as in the paper: edges that" in short.message
    assert render(short.message).endswith("max_rounds=20 ends it before the penalties do")
    exact = admm(sites, Run(), published=True, max_rounds=197)
    assert (exact.status, "max_rounds" in exact.message) == ("finished", False)
    late = admm(sites, Run(budget=Budget(1e-9)), published=True)
    assert late.status == "time-limit"
    assert "as published, stopped after 0 rounds: " in late.message


@pytest.mark.parametrize("rule", ["forbidden", "required"])
def test_knowledge_is_obeyed_and_said(rule):
    _, rows = linear_problem(4, 40, 0)
    sites = open_federation(Table.from_numpy(rows, names="abcd"), 2)
    knowing = Run(knowledge=Knowledge(**{rule: [("a", "b")]}))
    assert "and edges are forbidden or required" in admm(sites, knowing, published=True, max_rounds=2).message
    assert "forbidden" not in admm(sites, Run(), published=True, max_rounds=2).message


def test_constant_columns_come_with_advice_that_works():
    """Constant everywhere, or only within every site: what is advised is tried."""
    _, rows = linear_problem(4, 40, 0)
    rows[:, 2] = 1.5
    with pytest.raises(DataError, match=r"column 'c', it is constant: leave it out$"):
        admm(open_federation(Table.from_numpy(rows, names="abcd"), 2), Run(), published=True)
    rows[20:, 2] = 2.5
    sites = open_federation(Table.from_numpy(rows, names="abcd", continuous="c"), 2)
    constant = r"column 'c', it is constant within every site: leave it out, or learn "
    with pytest.raises(DataError, match=constant + r"without published=True$"):
        admm(sites, Run(), published=True)
    with pytest.raises(DataError, match=constant + r'with centre="global"$'):
        admm(sites, Run(), centre="local")
    assert admm(sites, Run(), max_rounds=1).graph.nodes == tuple("abcd")
    without = Table.from_numpy(rows[:, [0, 1, 3]], names="abd")
    assert admm(open_federation(without, 2), Run(), published=True, max_rounds=1).stats["rounds"] == 1


@pytest.mark.full
def test_the_result_says_what_it_is():
    _, rows = linear_problem(4, 40, 0)
    message = learned(rows, 2).message
    assert message.startswith("algorithm 1 of Ng & Zhang (2022) as published, 197 rounds")
    assert "not as in the paper: edges that close a cycle" in message
