"""Penalty and threshold from the data: the criterion by hand, the choice over the grid, and from the front door."""

from itertools import product

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import OptionError
from dagora.learners.optimise.path import choosing
from dagora.learners.optimise.path.choosing import choose, extended_bic
from dagora.learners.optimise.path.smooth_path import PathProgram
from dagora.learners.run import Run
from tests.random_tables import continuous_table


def drawn(d=6, n=300, seed=3, degree=2.0):
    graph = dagora.random_dag("er", d, degree, seed=seed)
    return graph, dagora.simulate(graph, "gaussian", n, seed=seed).table


def centred(table):
    rows = np.column_stack(table.columns)
    return rows - rows.mean(axis=0)


def program_of(rows, *, profile=False):
    d = rows.shape[1]
    free = ~np.eye(d, dtype=bool)
    return PathProgram(rows.T @ rows / len(rows), 0.0, free, np.zeros_like(free), profile)


@pytest.mark.parametrize("profile", [False, True])
def test_the_criterion_is_that_of_regressions_on_the_rows(profile):
    graph, table = drawn()
    rows, support = centred(table), graph.to_numpy()
    residuals = []
    for child in range(6):
        parents = rows[:, support[:, child]]
        left = rows[:, child] - parents @ np.linalg.lstsq(parents, rows[:, child], rcond=None)[0]
        residuals.append((left**2).mean())
    fit = np.log(residuals).sum() if profile else 6 * np.log(np.mean(residuals))
    by_hand = 300 * fit + support.sum() * (np.log(300) + 2 * np.log(6))
    assert extended_bic(program_of(rows, profile=profile), support, 300) == pytest.approx(by_hand)


def test_a_column_with_as_many_parents_as_rows_is_never_chosen():
    rows = np.random.default_rng(0).normal(size=(4, 5))
    support = np.triu(np.ones((5, 5), dtype=bool), 1)
    assert extended_bic(program_of(rows), support, 4) == np.inf
    assert np.isfinite(extended_bic(program_of(rows), support & False, 4))


@pytest.mark.full
def test_the_best_of_the_grid_is_chosen():
    _, table = drawn(d=7, n=40, degree=3.0)
    rows = centred(table)
    program = program_of(rows)
    unit = rows.var(axis=0).min()
    pairs = list(product([unit * share for share in choosing.PENALTIES], choosing.THRESHOLDS))

    def value(penalty, threshold):
        found = dagora.learn(table, "notears", lambda1=penalty, threshold=threshold, disturbances=0)
        return extended_bic(program, found.graph.to_numpy(), 40)

    values = [value(*pair) for pair in pairs]
    assert len(set(np.round(values, 6))) > 3, "the pairs make a difference"
    chosen = choose(program, Run(), 40, "auto", "auto", "guarded")
    assert chosen == pytest.approx(pairs[int(np.argmin(values))])


def test_a_number_that_is_given_stays():
    program = program_of(centred(drawn()[1]))
    assert choose(program, Run(), 300, "auto", 0.27, "guarded")[1] == 0.27
    assert choose(program, Run(), 300, 0.013, "auto", "guarded")[0] == 0.013


def test_other_units_choose_the_same_graph():
    _, table = drawn(n=60)
    rows = centred(table)
    given = {"lambda1": "auto", "threshold": "auto"}
    one, other = (dagora.learn(continuous_table(rows * unit), "notears", **given) for unit in (1.0, 1000.0))
    assert one.graph == other.graph
    assert other.stats["lambda1"] == pytest.approx(1e6 * one.stats["lambda1"])


def test_the_result_states_what_was_chosen():
    _, table = drawn()
    result = dagora.learn(table, "notears", lambda1="auto", threshold="auto")
    chosen = {name: result.stats[name] for name in ("lambda1", "threshold")}
    assert f"lambda1 = {chosen['lambda1']:.3g} and threshold = {chosen['threshold']:.3g} by extended BIC" in (
        result.message
    )
    assert result.settings["lambda1"] == result.settings["threshold"] == "auto"
    again = dagora.learn(table, "notears", **chosen)
    assert np.array_equal(again.weights, result.weights)
    assert "by extended BIC" not in again.message


def test_spent_time_gives_the_first_pair():
    budget = Budget()
    budget.stop("enough")
    program = program_of(centred(drawn()[1]))
    unit = np.diag(program.moments).min()
    assert choose(program, Run(budget=budget), 300, "auto", "auto", "guarded") == pytest.approx(
        (0.1 * unit, 0.3)
    )


@pytest.mark.parametrize("given", [{"published": True}, {"loss": "logistic"}, {"loss": "poisson"}])
def test_auto_is_refused_where_it_is_not_known_to_work(given):
    table = continuous_table(np.random.default_rng(0).integers(0, 2, size=(50, 3)).astype(float))
    with pytest.raises(OptionError, match=r"auto needs second moments and our solver; with .* give a number"):
        dagora.learn(table, "notears", lambda1="auto", **given)


def test_no_other_word_is_taken():
    with pytest.raises(OptionError, match="'lambda1' takes a number or auto, not 'best'"):
        dagora.learn(drawn()[1], "notears", lambda1="best")
