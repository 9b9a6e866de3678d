"""Thinning, against the same written plainly with coordinate descent."""

import numpy as np
import pytest

import dagora
from dagora.learners.optimise.losses import LeastSquares, ProfileLikelihood, logistic_loss
from dagora.learners.optimise.path.smooth_path import CUTS, PathProgram
from dagora.learners.optimise.path.thresholding import threshold_one_by_one, threshold_program
from tests.learners.optimise.optimise_oracles import violation
from tests.learners.optimise.order_oracles import obeys, random_obeying, random_program, thresholded


def forward_support(rng, program):
    """All allowed edges that lead forward in a random order."""
    place = np.argsort(random_obeying(rng, program))
    support = program.allowed & (place[:, None] < place[None, :])
    assert obeys(np.argsort(place), program.required)
    assert support[program.required].all()
    return support


@pytest.mark.full
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("lambda1", [0.0, 0.2])
def test_equals_plain_thresholding(lambda1, threshold):
    dropped = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 6, lambda1, known=seed != 1)
        support = forward_support(rng, program)
        full = LeastSquares(program.moments).refit(support, lambda1)
        for cut in CUTS:
            weights = threshold_program(program, full, support, threshold, cut)
            np.testing.assert_allclose(weights, thresholded(program, support, threshold, cut), atol=1e-6)
            assert not (weights[~support]).any()
            weak = (weights != 0) & ~program.required & (np.abs(weights) < threshold)
            assert (np.abs(full[weak]) >= threshold).all(), "weak now, but not in the solution that was cut"
            assert cut != "one-by-one" or not weak.any()
        expected = thresholded(program, support, threshold, "one-by-one")
        dropped += np.count_nonzero(full) - np.count_nonzero(weights)
        general, left = threshold_one_by_one(
            lambda some, p=program: LeastSquares(p.moments).refit(some, p.lambda1),
            support,
            program.required,
            threshold,
        )
        np.testing.assert_allclose(general, expected, atol=1e-6)
        assert left[program.required].all()
        assert (left <= support).all()
        assert not general[~left].any()
    assert (dropped > 0) == (threshold > 0)


def test_it_does_not_matter_where_it_starts():
    rng = np.random.default_rng(3)
    program = random_program(rng, 7, 0.1)
    support = forward_support(rng, program)
    from_zero = threshold_program(program, np.zeros((7, 7)), support, 0.3)
    from_noise = threshold_program(program, rng.normal(size=(7, 7)), support, 0.3)
    np.testing.assert_allclose(from_noise, from_zero, atol=1e-9)
    np.testing.assert_allclose(from_zero, thresholded(program, support, 0.3, "guarded"), atol=1e-6)


def test_each_way_is_the_better_one_somewhere():
    at_once, one_by_one = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 7, 0.1)
        support = forward_support(rng, program)
        left = {cut: threshold_program(program, np.zeros((7, 7)), support, 0.4, cut) for cut in CUTS}
        reached = {cut: program.objective(weights) for cut, weights in left.items()}
        assert reached["better"] <= min(reached.values()) + 1e-9
        at_once += reached["at-once"] < reached["one-by-one"] - 1e-6
        one_by_one += reached["one-by-one"] < reached["at-once"] - 1e-6
    assert at_once > 0
    assert one_by_one > 0


@pytest.mark.parametrize("seed", range(4))
def test_profiled_columns_are_stationary_on_what_is_left(seed):
    rng = np.random.default_rng(seed)
    program = random_program(rng, 7, 0.02, profile=True, known=True)
    support = forward_support(rng, program)
    weights = threshold_program(program, np.zeros((7, 7)), support, 0.15)
    _, slopes = ProfileLikelihood(program.moments).value_and_gradient(weights)
    kept = weights != 0
    assert violation(weights[kept], slopes[kept], 0.02).max() < 1e-6
    loss = ProfileLikelihood(program.moments)
    general, left = threshold_one_by_one(lambda some: loss.refit(some, 0.02), support, program.required, 0.15)
    np.testing.assert_allclose(general, weights, atol=1e-5)
    assert np.array_equal(left & (general != 0), kept)


def test_one_at_a_time_keeps_what_a_single_cut_loses():
    """Two copies with noise share one effect: each alone is strong, together both are weak."""
    moments = np.array([[1.0, 0.95, 0.5], [0.95, 1.0, 0.5], [0.5, 0.5, 1.0]])
    program = PathProgram(moments, 0.0, ~np.eye(3, dtype=bool), np.zeros((3, 3), dtype=bool))
    support = np.zeros((3, 3), dtype=bool)
    support[[0, 1], 2] = True
    both = LeastSquares(moments).refit(support, 0.0)
    assert (np.abs(both[:2, 2]) < 0.3).all()
    weights = threshold_program(program, both, support, 0.3)
    assert sorted(weights[:2, 2]) == pytest.approx([0.0, 0.5])


def test_a_required_edge_takes_over_from_a_weak_one():
    """By soft thresholds: 0.5 − 0.3 for the copy that is not required, then 0.45 − 0.3 for the other alone."""
    moments = np.array([[1.0, 0.95, 0.45], [0.95, 1.0, 0.5], [0.45, 0.5, 1.0]])
    required = np.zeros((3, 3), dtype=bool)
    required[0, 2] = True
    program = PathProgram(moments, 0.3, ~np.eye(3, dtype=bool), required)
    support = np.zeros((3, 3), dtype=bool)
    support[[0, 1], 2] = True
    both = LeastSquares(moments).refit(support, 0.3)
    assert both[:2, 2] == pytest.approx([0.0, 0.2])
    for cut in CUTS:
        assert threshold_program(program, both, support, 0.3, cut)[:2, 2] == pytest.approx([0.15, 0.0])


def landslide():
    """Rows where a weight just below the threshold carries much: others fall once it has gone."""
    table = dagora.simulate(dagora.random_dag("sf", 10, 4, seed=7), "gaussian", 1000, seed=7).table
    full = dagora.learn(table, "notears", lambda1=0.5, threshold=0.0).weights
    moments = np.cov(np.array(table.columns), bias=True)
    program = PathProgram(moments, 0.5, ~np.eye(10, dtype=bool), np.zeros((10, 10), dtype=bool))
    return program, full


def test_a_landslide_is_guarded_against():
    program, full = landslide()
    support = full != 0
    left = {cut: threshold_program(program, full, support, 0.3, cut) for cut in CUTS}
    reached = {cut: program.objective(weights) for cut, weights in left.items()}
    assert reached["one-by-one"] > 2 * reached["at-once"]
    assert reached["guarded"] < 1.1 * reached["better"]
    np.testing.assert_allclose(left["guarded"], thresholded(program, support, 0.3, "guarded"), atol=1e-6)


def test_guarded_columns_lose_no_more_than_half_again():
    """The rule itself, column by column; with a profile, half of the variance."""
    differs = 0
    for seed, profile in ((seed, profile) for seed in range(15) for profile in (False, True)):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 6, 0.05, profile=profile)
        support = forward_support(rng, program)
        left = {cut: threshold_program(program, np.zeros((6, 6)), support, 0.6, cut) for cut in CUTS}
        for child in range(6):
            column = {cut: weights[:, child] for cut, weights in left.items()}
            loss = {cut: column_loss(program, child, weights) for cut, weights in column.items()}
            if profile:
                within = loss["one-by-one"] <= loss["at-once"] + 0.25
            else:
                within = loss["one-by-one"] <= 1.5 * loss["at-once"]
            expected = column["one-by-one" if within else "at-once"]
            np.testing.assert_allclose(column["guarded"], expected, atol=1e-9)
            differs += not within
    assert differs > 0


def column_loss(program, child, weights):
    """Loss and penalty of one column, written out."""
    step = np.eye(len(weights))[child] - weights
    variance = step @ program.moments @ step
    return (0.5 * np.log(variance) if program.profile else 0.5 * variance) + program.lambda1 * np.abs(
        weights
    ).sum()


def test_required_edges_stay_however_weak():
    moments = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.01], [0.9, 0.01, 1.0]])
    required = np.zeros((3, 3), dtype=bool)
    required[1, 2] = True
    program = PathProgram(moments, 0.0, ~np.eye(3, dtype=bool), required)
    support = np.zeros((3, 3), dtype=bool)
    support[[0, 1], 2] = True
    weights = threshold_program(program, np.zeros((3, 3)), support, 0.95)
    assert weights[:, 2] == pytest.approx([0.0, 0.01, 0.0])
    weights, left = threshold_one_by_one(
        lambda some: LeastSquares(moments).refit(some, 0.0), support, required, 0.95
    )
    assert weights[:, 2] == pytest.approx([0.0, 0.01, 0.0])
    assert np.array_equal(left, required)


@pytest.mark.parametrize("memory", ["C", "F"])
def test_the_input_stays_as_it_was(memory):
    rng = np.random.default_rng(5)
    program = random_program(rng, 6, 0.1)
    support = forward_support(rng, program)
    weights = np.array(LeastSquares(program.moments).refit(support, 0.1), order=memory)
    before, edges = weights.copy(), support.copy()
    threshold_program(program, weights, support, 0.5)
    threshold_one_by_one(
        lambda some: LeastSquares(program.moments).refit(some, 0.1), support, program.required, 0.5
    )
    assert np.array_equal(weights, before)
    assert np.array_equal(support, edges)


def test_rows_of_zeros_and_ones():
    rng = np.random.default_rng(1)
    cause = rng.random(800) < 0.5
    effect = rng.random(800) < np.where(cause, 0.9, 0.2)
    rows = np.column_stack([cause, effect, rng.random(800) < 0.5]).astype(float)
    support = np.triu(np.ones((3, 3), dtype=bool), 1)
    loss = logistic_loss(rows)
    weights, left = threshold_one_by_one(
        lambda some: loss.refit(some, 0.01), support, np.zeros_like(support), 0.5
    )
    assert left[0, 1]
    assert (np.abs(weights[left]) >= 0.5).all()
    np.testing.assert_allclose(weights, loss.refit(left, 0.01), atol=1e-9)
    _, slopes = loss.value_and_gradient(weights)
    assert violation(weights[left], slopes[left], 0.01).max() < 1e-8
