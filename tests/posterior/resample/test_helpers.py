"""Samples learned by several processes: the same graphs, ended by time, Ctrl-C and errors as by one."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dagora
from dagora.base.budget import Budget
from dagora.base.errors import DagoraError
from dagora.learners import registry as method_registry
from dagora.learners.method import Method
from dagora.network.greenhouse import greenhouse
from dagora.network.sample import sample_network
from dagora.posterior.resample import helpers

DISCRETE = sample_network(greenhouse(), 300, seed=5)

# Learners that know whether they run in a process of their own.
STRANGE = """
import os, time
from dagora.base.errors import OptionError
from dagora.learners.outcome import Outcome
from dagora.graph.dag import DAG

def learn_there(score, run):
    if os.getpid() == {parent}:
        time.sleep(0.1)
    names = score.schema.names
    return Outcome(DAG(names, [(names[0], names[1])] if os.getpid() != {parent} else []), "finished", "")

def end_there(score, run):
    if os.getpid() != {parent}:
        os._exit(9)
    return learn_there(score, run)

def fail_there(score, run):
    if os.getpid() != {parent}:
        raise ValueError("no such thing")
    return learn_there(score, run)

def refuse_there(score, run):
    if os.getpid() != {parent}:
        raise OptionError("not with me")
    return learn_there(score, run)

def never_end(score, run):
    while not run.budget.exhausted:
        time.sleep(0.01)
    return learn_there(score, run)
"""


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register methods of a module that is only in `sys.path`, and ask for help at once."""
    (tmp_path / "strange.py").write_text(STRANGE.format(parent=os.getpid()))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(helpers, "SHORT", 0.0)
    found = tuple(
        Method(name.replace("_", "-"), "strange", "score", "dag", "none", "here", f"strange:{name}")
        for name in ("learn_there", "end_there", "fail_there", "refuse_there", "never_end")
    )
    monkeypatch.setattr(method_registry, "METHODS", method_registry.METHODS + found)
    yield
    sys.modules.pop("strange", None)


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ask for help at once, and let this process wait for it; the list has an entry for each sample of it."""
    answered = threading.Event()
    own: list[int] = []
    learn, read = helpers.learn_sample, helpers.read

    def heard(*given: object) -> object:
        found = read(*given)
        answered.set()
        return found

    def later(*given: object) -> object:
        own.append(1)
        assert answered.wait(100)
        return learn(*given)

    monkeypatch.setattr(helpers, "SHORT", 0.0)
    monkeypatch.setattr(helpers, "read", heard)
    monkeypatch.setattr(helpers, "learn_sample", later)
    return own


@pytest.mark.usefixtures("strange", "helped")
def test_other_processes_learn_too_and_none_is_left() -> None:
    begun: list[int] = []
    start = helpers.subprocess.Popen

    class Noted(start):
        def __init__(self, *given: object, **more: object) -> None:
            super().__init__(*given, **more)
            begun.append(self.pid)

    helpers.subprocess.Popen = Noted
    try:
        strengths = dagora.bootstrap(DISCRETE, "learn-there", samples=6, jobs=2)
    finally:
        helpers.subprocess.Popen = start
    assert strengths.samples == 6
    assert 0 < strengths.edge_frequency.sum() < 1
    assert len(begun) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)


def test_the_number_of_processes_does_not_matter(helped: list[int], tmp_path: Path) -> None:
    one = dagora.bootstrap(DISCRETE, "hill-climb", samples=12, seed=1)
    file = tmp_path / "samples.npz"
    two = dagora.bootstrap(DISCRETE, "hill-climb", samples=12, seed=1, jobs=2, checkpoint=file)
    assert np.array_equal(one.marks, two.marks)
    assert 0 < len(helped) < 12
    again = dagora.bootstrap(DISCRETE, "hill-climb", samples=12, seed=1, jobs=2, checkpoint=file)
    assert "12 of them from a file" in again.message


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (
            "end-there",
            r"^a process that learned from samples ended without an answer \(out of memory\?\): run",
        ),
        ("fail-there", r"^sample \d+ failed: ValueError: no such thing$"),
        ("refuse-there", r"^not with me$"),
    ],
)
@pytest.mark.usefixtures("strange")
def test_what_goes_wrong_there_is_one_line_here(method: str, words: str) -> None:
    with pytest.raises(DagoraError, match=words):
        dagora.bootstrap(DISCRETE, method, samples=300, jobs=2)


@pytest.mark.skipif(os.name != "posix", reason="closes a file descriptor")
def test_a_process_without_standard_error_has_its_helpers(tmp_path: Path) -> None:
    """It answers, if only that it was asked for nothing that can be learned."""
    answers = tmp_path / "answers"
    asking = f"""
import subprocess, sys
from dagora.posterior.resample.sample_process import SCRIPT, read, write
process = subprocess.Popen([sys.executable, "-c", SCRIPT, *sys.path], stdin=-1, stdout=-1)
write(process.stdin, None)
write(process.stdin, (3, None))
open({str(answers)!r}, "w").write(read(process.stdout).message)
process.stdin.close()
process.wait()
"""
    script = tmp_path / "asking.py"
    script.write_text(f"import sys; sys.path[:] = {sys.path!r}\n{asking}")
    subprocess.run(f'"{sys.executable}" "{script}" 2>&-', shell=True, timeout=60, check=True)
    assert answers.read_text().startswith("sample 3 failed: AttributeError")


@pytest.mark.usefixtures("strange")
def test_interrupted_work_ends_at_once() -> None:
    budget = Budget()
    threading.Timer(2.0, lambda: budget.stop("it was interrupted")).start()
    begun = time.monotonic()
    strengths = dagora.bootstrap(DISCRETE, "never-end", samples=10, jobs=3, budget=budget)
    assert time.monotonic() - begun < 20
    assert (strengths.samples, strengths.status) == (0, "failed")
    assert "it was interrupted before 10 samples" in strengths.message


def test_a_short_job_stays_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "SHORT", 600.0)
    monkeypatch.setattr(helpers.subprocess, "Popen", None)
    assert dagora.bootstrap(DISCRETE, "hill-climb", samples=3, jobs=4).samples == 3


@pytest.mark.parametrize("kind", ["holes", "interventions"])
def test_holes_and_interventions_are_sent(kind: str, helped: list[int]) -> None:
    if kind == "holes":
        data = dagora.punch_holes(DISCRETE.select(DISCRETE.names[:3]), "mcar:0.1", seed=1)
        more = {"em_rounds": 1}
    else:
        lamp = [0, 1] * 40 + [0, 0, 1, 1] * 10
        data = {"switch": [0, 1] * 60, "lamp": lamp, "set": [""] * 80 + ["lamp"] * 40}
        more = {"interventions": "set"}
    one, two = (dagora.bootstrap(data, "hill-climb", samples=6, jobs=jobs, **more).marks for jobs in (1, 2))
    assert np.array_equal(one, two)
    assert 0 < len(helped) < 6
