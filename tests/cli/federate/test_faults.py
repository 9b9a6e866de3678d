"""Who is lost, too slow, interrupted or killed once the run has begun."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.federate.consortium import (
    COORDINATOR,
    ENDLESS,
    PATIENCE,
    SITES,
    Play,
    Troupe,
    agree_on,
    client_line,
    interrupt_when,
    log_of,
    only_line,
    refusals,
)
from tests.cli.federate.fates import Fate, Silence
from tests.parties.network import eventually, vanish
from tests.parties.processes.faults import kill

ALL_OR_NOBODY = "the run ends, since all sites take part in a sum or nobody"


@pytest.mark.parametrize(("moment", "count"), [("plan", 1), ("counts", 1), ("counts", 3)])
def test_a_lost_site_ends_the_run_everywhere_at_any_time(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, count: int
) -> None:
    Fate(monkeypatch, "south", moment, count, vanish)
    ended = play("-o", tmp_path / "out.json", "--picture", tmp_path / "out.svg")
    south = ended.pop("south")
    assert south.code == 1
    only_line(south)
    refusals(ended, "site 'south' was lost", ALL_OR_NOBODY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("moment", "count"), [("plan", 1), ("counts", 3)])
def test_a_site_that_is_too_slow_ends_the_run(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, count: int
) -> None:
    silence = Silence(monkeypatch, "south", moment, count)

    def wake(stage: Play) -> None:
        stage.err.wait_for("MainThread", "site 'south' was lost")
        silence.end()

    ended = play("--patience", 50, "-o", tmp_path / "out.json", helpers=(wake,))
    assert "ended the run" in only_line(ended["south"])
    assert ended.pop("south").code == 1
    refusals(ended, "site 'south' was lost", "within 50 s", ALL_OR_NOBODY)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_at_work_gives_the_best_so_far(
    play: Callable, keys: Path, long_work: dict[str, Path], interruptible: None
) -> None:
    others = {site: client_line(keys, site, file) for site, file in long_work.items()}
    tables = list(long_work.values())
    ended = play(*ENDLESS, "--json", others=others, tables=tables, helpers=(interrupt_when("climbing"),))
    assert {ran.code for ran in ended.values()} == {0}
    learned = json.loads(ended[COORDINATOR].out)
    assert learned["status"] == "time-limit"
    assert "interrupted" in learned["message"]
    assert learned["edges"]


def test_a_client_killed_during_the_sums(keys: Path, long_work: dict[str, Path], tmp_path: Path) -> None:
    files = {site: long_work[site] for site in SITES[:3]}
    agree_on(keys, list(files.values()), SITES[:3])
    with Troupe(keys) as troupe:
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        kill(troupe.processes, "south")
        ended = troupe.end()
    assert ended.pop("south").code == -signal.SIGKILL
    refusals(ended, "connection to party 'south' was lost", ALL_OR_NOBODY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_coordinator_killed_during_the_sums(
    keys: Path, long_work: dict[str, Path], tmp_path: Path
) -> None:
    files = {site: long_work[site] for site in SITES[:3]}
    agree_on(keys, list(files.values()), SITES[:3])
    with Troupe(keys) as troupe:
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        kill(troupe.processes, COORDINATOR)
        ended = troupe.end()
    assert ended.pop(COORDINATOR).code == -signal.SIGKILL
    for site, ran in ended.items():
        assert ran.code == 1
        assert only_line(ran).startswith("the connection to party 'coordinator' was lost")
        answers = [event for event in log_of(keys, site) if event["event"] == "answer"]
        tables = sum(len(event["tables"]) for event in answers)
        assert tables > 20
        assert f"\ndagora: answered {tables} tables of counts\n" in "\n" + ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stopped_client_is_too_slow(keys: Path, long_work: dict[str, Path]) -> None:
    agree_on(keys, list(long_work.values()))
    with Troupe(keys) as troupe:
        troupe.begin(long_work, *ENDLESS, "--patience", 20)  # the others have so long, too
        troupe.hear("climbing")
        troupe.signal("south", signal.SIGSTOP)
        try:
            eventually(lambda: len(troupe.processes.results()) == 4)
        finally:
            troupe.signal("south", signal.SIGCONT)
        ended = troupe.end()
    assert "ended the run" in only_line(ended.pop("south"))
    refusals(ended, "site 'south' was lost", "within 20 s")


@pytest.mark.slow
def test_a_simulation_that_is_stopped_leaves_nothing(
    start: Callable, long_work: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = start("federate", "simulate", long_work["east"], "--parties", 3, *ENDLESS)
    deadline = time.monotonic() + PATIENCE
    while "climbing" not in process.stderr.readline():
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [], "rows or keys were left behind"
