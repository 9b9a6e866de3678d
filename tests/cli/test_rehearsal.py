"""The helper that compiles a method's kernels beside the command."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from dagora.api.learn import learn
from dagora.cli import rehearsal
from dagora.kernels import cache as kernel_cache
from dagora.kernels.compilation import Compilation, compilation

# Ends when its standard input is closed, as the helper does; else after a minute.
PATIENT = (
    "import sys, threading, os; threading.Timer(60, os._exit, [3]).start(); sys.stdin.read(); os._exit(7)"
)


def process(script):
    return subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)


def test_a_helper_starts_with_the_first_kernel_and_only_once():
    ours, started = Compilation(), []
    ours.on_begin(lambda: started.append("helper"))
    assert started == []
    for _ in range(2):
        ours.begin()
        ours.end()
    assert started == ["helper"]


def test_no_helper_starts_after_the_command_has_ended():
    ours, started = Compilation(), []
    ours.on_begin(lambda: started.append("helper"))
    ours.end_helper()
    ours.begin()
    ours.end()
    assert started == []


def test_waiting_ends_with_the_helper():
    ours = Compilation()
    ours.on_begin(lambda: process("pass"))
    ours.begin()
    ours.end()
    ours.wait_for_helper()
    assert ours._helper.returncode == 0
    assert not ours.now
    ours.end_helper()


def test_waiting_keeps_to_a_time_limit_and_the_helper_ends_with_the_command():
    helper = process(PATIENT)
    ours = Compilation()
    ours.on_begin(lambda: helper)
    ours.begin()
    ours.end()
    begun = time.monotonic()
    ours.wait_for_helper(0.2)
    assert time.monotonic() - begun < 30
    assert helper.poll() is None
    ours.end_helper()
    assert helper.returncode == 7


def test_the_real_helper_ends_with_its_input():
    helper = rehearsal.start_helper("hill-climb")
    helper.communicate(timeout=60)
    assert helper.returncode == 0


@pytest.mark.parametrize("obstacle", ["no folder", "no interpreter", "no process"])
def test_no_helper_where_it_cannot_help(monkeypatch, obstacle):
    if obstacle == "no folder":
        monkeypatch.setattr(compilation, "kept", False)
    else:
        monkeypatch.setattr(sys, "executable", "" if obstacle == "no interpreter" else "/no/such/python")
    assert rehearsal.start_helper("hill-climb") is None


@pytest.mark.parametrize(
    ("method", "cores", "wanted"),
    [("hill-climb", 2, False), ("order-search", 2, True), ("order-search", 1, False), ("notears", 2, False)],
)
def test_who_gets_a_helper(monkeypatch, method, cores, wanted):
    started = []
    monkeypatch.setattr(rehearsal, "cores", lambda: cores)
    monkeypatch.setattr(rehearsal, "start_helper", started.append)
    with rehearsal.rehearsing(method):
        compilation.begin()
        compilation.end()
    assert started == [method] * wanted


def test_a_helper_starts_at_once_where_no_kernel_of_the_method_is_kept(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(rehearsal, "cores", lambda: 2)
    monkeypatch.setattr(rehearsal, "start_helper", started.append)
    monkeypatch.setattr(kernel_cache, "BUNDLED", tmp_path / "none")
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda file: tmp_path / file.parent.name)
    (tmp_path / "search").mkdir()
    with rehearsal.rehearsing("auto"):
        assert started == ["auto"]
    (tmp_path / "search" / "components.place_all.nbi").touch()
    with rehearsal.rehearsing("auto"):
        assert started == ["auto"]


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "ges", "order-search", "dynamic", "astar"])
def test_methods_learn_the_toy_problem(method):
    assert learn(rehearsal.toy_problem(), method).score == -20.0
