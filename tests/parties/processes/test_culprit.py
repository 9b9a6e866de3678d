"""Who is blamed when several parties fail: the cause, not who happened to end first."""

import os
import signal
import textwrap
from pathlib import Path

import pytest

import dagora
from dagora.parties.processes import party_processes
from dagora.parties.processes.party_processes import PartyFailedError, PartyProcesses
from tests.parties.network import PATIENCE

# Each party ends as its arguments say, after those that are to end before it.
PARTY = """
import os, pathlib, signal, sys, time
name, words, code, *before = sys.argv[1:]
folder = pathlib.Path(__file__).parent
while not all((folder / other).exists() for other in before):
    time.sleep(0.01)
print(words, file=sys.stderr, flush=True)
(folder / name).touch()
if int(code) < 0:
    os.kill(os.getpid(), -int(code))
sys.exit(int(code))
"""


@pytest.fixture
def parties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PartyProcesses:
    source = str(Path(dagora.__file__).resolve().parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), source]))
    monkeypatch.setattr(party_processes, "GRACE_SECONDS", PATIENCE)
    (tmp_path / "party_of_this_test.py").write_text(textwrap.dedent(PARTY))
    with PartyProcesses(module="party_of_this_test") as made:
        yield made


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        # The second ends before the first, each time.
        ((2, "dagora: error: no such column"), (1, "dagora: error: the other ended the run"), "first"),
        ((1, "dagora: error: the other ended the run"), (2, "dagora: error: no such column"), "second"),
        ((1, "dagora: error: the other was lost"), (-signal.SIGKILL, "at work"), "second"),
        ((1, "dagora: notears failed: no way"), (1, "dagora: error: it failed"), "first"),
        ((0, "done"), (1, "dagora: error: it failed"), "second"),
    ],
)
def test_the_cause_is_raised(
    parties: PartyProcesses, first: tuple[int, str], second: tuple[int, str], cause: str
) -> None:
    parties.start("first", ["first", first[1], str(first[0]), "second"])
    parties.start("second", ["second", second[1], str(second[0])])
    with pytest.raises(PartyFailedError) as caught:
        parties.wait(PATIENCE)
    code, words = first if cause == "first" else second
    ended = caught.value.ended
    assert (caught.value.party, ended.name, ended.code, ended.last_words) == (cause, cause, code, words)


def test_ctrl_c_reaches_one_party_alone(
    tmp_path: Path, parties: PartyProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = """
        import signal, sys, threading
        signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
        print("ready", file=sys.stderr, flush=True)
        signal.pause() if sys.argv[1] == "told" else sys.exit(signal.sigtimedwait([], 0.5) is not None)
    """
    (tmp_path / "party_of_this_test.py").write_text(textwrap.dedent(waiting))
    for name in ("told", "other"):
        parties.start(name, [name])
        parties.wait_for_line(name, "ready", PATIENCE)
    parties.interrupt("told")
    assert {name: ended.code for name, ended in parties.wait(PATIENCE).items()} == {"told": 0, "other": 0}
    parties.interrupt("told")  # which is gone: nothing happens
