"""The path by JAX: the same numbers as on the processor; what is said where there is no GPU, or too little of it."""

import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import dagora
from dagora.base.errors import DagoraWarning, OptionError
from dagora.base.extras import JAX_GPU
from dagora.learners.optimise.path import path_on_gpu, path_solver
from dagora.learners.optimise.path.path_on_gpu import BLOCK, PathOnGpu
from dagora.learners.optimise.path.path_on_processor import PathOnProcessor, solve_columns
from dagora.learners.optimise.path.path_solver import path_on_device, solve_by_path
from dagora.learners.optimise.path.smooth_path import PathProgram, follow_path
from dagora.learners.optimise.path.workers import ALONE, ColumnWorkers
from dagora.learners.run import Run
from dagora.stats.table import TableStatistics
from tests.conftest import ROOT
from tests.learners.optimise.order_oracles import random_program

jax = pytest.importorskip("jax")
CPU = jax.devices("cpu")[0]


def simulated(d, rows=None, seed=1, **changes):
    table = dagora.simulate(dagora.random_dag("er", d, 2, seed), "gaussian", rows or 2 * d, seed).table
    moments = np.ascontiguousarray(TableStatistics(table).moments().covariance)
    if changes.get("profile"):
        spread = np.sqrt(np.diag(moments))
        moments = moments / np.outer(spread, spread)
    none = np.zeros((d, d), dtype=bool)
    return replace(PathProgram(moments, 0.1, ~np.eye(d, dtype=bool), none), **changes)


@pytest.fixture
def seen(monkeypatch):
    """JAX's processor stands in for a GPU."""
    monkeypatch.setattr(path_on_gpu, "find_gpu", lambda: CPU)
    monkeypatch.setattr(path_solver, "find_gpu", lambda: CPU)


@pytest.mark.full
@pytest.mark.parametrize("profile", [False, True])
@pytest.mark.parametrize("d", [BLOCK * 4, 109])
def test_every_step_has_the_numbers_of_the_processor(d, profile):
    program, rng = simulated(d, profile=profile), np.random.default_rng(d)
    allowed, required = program.allowed & (rng.random((d, d)) < 0.9), np.zeros((d, d), dtype=bool)
    required[3, 5] = allowed[3, 5] = True
    program = replace(program, allowed=allowed, required=required)
    ours, theirs = PathOnProcessor(program), PathOnGpu(program, CPU)
    weights, device_weights = ours.start(), theirs.start()
    inverse, h = ours.barrier(weights)
    device_inverse, device_h = theirs.barrier(device_weights)
    assert h == device_h == 0
    for c in (0.1, 1.0):
        target, device_target = (
            ours.solve(weights, inverse, c),
            theirs.solve(device_weights, device_inverse, c),
        )
        np.testing.assert_allclose(theirs.fetch(device_target), target, atol=1e-10)
        weights, device_weights = (
            ours.between(weights, target, 0.25),
            theirs.between(device_weights, device_target, 0.25),
        )
        assert theirs.objective(device_weights) == pytest.approx(ours.objective(weights), rel=1e-12)
        (inverse, h), (device_inverse, device_h) = ours.barrier(weights), theirs.barrier(device_weights)
        assert device_h == pytest.approx(h, rel=1e-9)
        np.testing.assert_allclose(theirs.fetch(device_inverse), inverse, atol=1e-10)
    assert ours.barrier(weights * 100) is None
    assert theirs.barrier(theirs.between(theirs.start(), device_weights, 100.0)) is None
    assert jax.numpy.ones(1).dtype == np.float32 or jax.config.jax_enable_x64, (
        "no setting of JAX was left changed"
    )


@pytest.mark.parametrize("profile", [False, True])
def test_sweeps_in_blocks_are_sweeps(profile):
    """Coordinate by coordinate, written down plainly."""
    d = 130  # a whole block and a bit
    program = simulated(d, profile=profile)
    rng = np.random.default_rng(0)
    start, ridge = 0.1 * rng.normal(size=(d, d)) * (rng.random((d, d)) < 0.3), rng.random((d, d))
    np.fill_diagonal(start, 0.0)
    found = solve_columns(program, start, ridge, ALONE)
    for y in (0, 64, d - 1):
        w = start[:, y].copy()
        residual = np.eye(d)[y] - w
        scale = residual @ program.moments @ residual if profile else 1.0
        for _ in range(path_on_gpu.SWEEPS):
            for i in np.flatnonzero(program.allowed[:, y]):
                aim = program.moments[i, y] - program.moments[i] @ w + program.moments[i, i] * w[i]
                size = max(abs(aim) - 0.1 * scale, 0) / (program.moments[i, i] + ridge[i, y] * scale)
                w[i] = np.sign(aim) * size
        np.testing.assert_allclose(found[:, y], w, atol=1e-10)
    with ColumnWorkers(3) as workers:
        assert np.array_equal(solve_columns(program, start, ridge, workers), found)


@pytest.mark.slow
def test_same_graph_on_both(seen):
    program = simulated(210)
    ours, theirs = (
        solve_by_path(program, Run(jobs=2), 0.3, "guarded", None, device) for device in ("cpu", "gpu")
    )
    np.testing.assert_allclose(theirs.weights, ours.weights, atol=1e-8)
    assert np.array_equal(theirs.weights != 0, ours.weights != 0)
    assert theirs.dropped == ()


@pytest.mark.full
def test_auto_takes_a_gpu_for_wide_tables_alone(seen, monkeypatch):
    used = []
    monkeypatch.setattr(path_solver, "PathOnGpu", lambda *given: used.append("gpu") or PathOnGpu(*given))
    program, small = simulated(110), random_program(np.random.default_rng(0), 8, 0.1)
    path_on_device(program, Run(), ALONE, "auto")
    path_on_device(small, Run(), ALONE, "gpu")
    assert used == [], "few columns stay on the processor"
    monkeypatch.setattr(path_solver, "WORTH_A_GPU", 109)
    path_on_device(program, Run(), ALONE, "auto")
    assert used == ["gpu"]
    path_on_device(program, Run(), ALONE, "cpu")
    assert used == ["gpu"]


@pytest.mark.full
def test_a_gpu_without_memory(seen, monkeypatch):
    table = dagora.simulate(dagora.random_dag("er", 110, 2, 1), "gaussian", 220, 1).table
    plain = dagora.learn(table, "notears", device="cpu", disturbances=0)

    def full(*given):
        raise jax.errors.JaxRuntimeError(
            "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 96800 bytes."
        )

    monkeypatch.setattr(PathOnGpu, "solve", full)
    with pytest.warns(
        DagoraWarning, match="GPU has too little memory for 110 columns.*on the processor instead"
    ):
        result = dagora.learn(table, "notears", device="gpu", disturbances=0)
    assert np.array_equal(result.weights, plain.weights)
    assert any("too little memory" in str(warning) for warning in result.warnings)


def test_other_errors_of_the_gpu_are_not_hidden(seen, monkeypatch):
    def broken(*given):
        raise jax.errors.JaxRuntimeError("INTERNAL: no such kernel")

    monkeypatch.setattr(PathOnGpu, "solve", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="no such kernel"):
        path_on_device(simulated(110), Run(), ALONE, "gpu")


def refusal(**options):
    table = dagora.simulate(dagora.random_dag("er", 5, 1, 1), "gaussian", 50, 1).table
    with pytest.raises(OptionError) as caught:
        dagora.learn(table, "notears", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(path_on_gpu, "find_gpu", lambda: None)
    assert 'device="gpu" needs a GPU, and JAX sees none' in refusal(device="gpu")
    assert 'device="cpu"' in refusal(device="gpu")


def test_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert refusal(device="gpu") == "device=\"gpu\" needs JAX: pip install 'dagora[gpu]'"
    assert path_on_gpu.find_gpu() is None
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(package.startswith(JAX_GPU.module) for package in extras[JAX_GPU.extra])


@pytest.mark.parametrize("other", [{"published": True}, {"loss": "poisson"}])
def test_a_gpu_is_for_second_moments(other, seen):
    assert "second moments" in refusal(device="gpu", **other)


def test_an_unknown_device():
    assert "device" in refusal(device="tpu")


@pytest.mark.full
def test_the_path_ends_where_that_of_the_processor_does():
    program = simulated(120)
    (ours, number), (theirs, device_number) = (
        follow_path(PathOnProcessor(program), Run()),
        follow_path(PathOnGpu(program, CPU), Run()),
    )
    assert number == device_number
    np.testing.assert_allclose(theirs, ours, atol=1e-8)
