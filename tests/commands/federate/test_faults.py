"""Who is lost, too slow, interrupted or killed once the run has begun."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.federate.consortium import (
    COORDINATOR,
    ENDLESS,
    PATIENCE,
    SITES,
    Play,
    Troupe,
    client_line,
    interrupt_when,
    only_line,
    refusals,
)
from tests.commands.federate.fates import Fate, Silence
from tests.commands.federate.pooled import edges_of, pooled
from tests.parties.network import eventually, vanish
from tests.parties.processes.faults import kill


def test_a_site_lost_before_any_sum_is_left_out_with_a_warning(
    play: Callable, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fate(monkeypatch, "south", "adopt", 1, vanish)
    ended = play("--json")
    south = ended.pop("south")
    assert south.code == 1
    only_line(south)
    assert {ran.code for ran in ended.values()} == {0}
    assert "warning: site 'south' was lost" in ended[COORDINATOR].err
    rest = [files[site].read_text() for site in SITES if site != "south"]
    (tmp_path / "rest.csv").write_text(rest[0] + "".join(text.partition("\n")[2] for text in rest[1:]))
    assert json.loads(ended[COORDINATOR].out)["stats"]["rows"] == 3000 - 499
    assert edges_of(ended[COORDINATOR].out) == pooled(tmp_path / "rest.csv")


def test_a_site_lost_after_sums_ends_the_run_everywhere(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fate(monkeypatch, "south", "cells", 3, vanish)
    ended = play("-o", tmp_path / "out.json", "--picture", tmp_path / "out.svg")
    assert ended.pop("south").code == 1
    refusals(ended, "site 'south' was lost after sums with it were opened", "start again")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("count", "code"), [(1, 0), (3, 1)])
def test_a_site_that_is_too_slow(
    play: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, code: int
) -> None:
    """It is left out of the first sum; later, the run ends."""
    silence = Silence(monkeypatch, "south", "size-and-orders" if count == 1 else "cells", count)

    def wake(stage: Play) -> None:
        stage.err.wait_for("MainThread", "site 'south' was lost")
        silence.end()

    ended = play("--patience", 50, "-o", tmp_path / "out.json", helpers=(wake,))
    south = ended.pop("south")
    assert south.code == 1
    assert ended[COORDINATOR].code == code
    if code:
        refusals(ended, "site 'south' was lost after sums", "within 50 s")
        assert "ended the run" in only_line(south)
        assert not (tmp_path / "out.json").exists()
    else:
        assert {ran.code for ran in ended.values()} == {0}
        # If all is over by the time it wakes, it hears that.
        told = only_line(south)
        assert "went on without this site, which was too slow" in told or "has left the run" in told
        assert json.loads((tmp_path / "out.json").read_text())["stats"]["rows"] == 3000 - 499


def test_ctrl_c_at_work_gives_the_best_so_far(
    play: Callable, keys: Path, long_work: dict[str, Path], interruptible: None
) -> None:
    others = {site: client_line(keys, site, file) for site, file in long_work.items()}
    ended = play(*ENDLESS, "--json", others=others, helpers=(interrupt_when("climbing"),))
    assert {ran.code for ran in ended.values()} == {0}
    learned = json.loads(ended[COORDINATOR].out)
    assert learned["status"] == "time-limit"
    assert "interrupted" in learned["message"]
    assert learned["edges"]


def test_a_client_killed_during_the_sums(keys: Path, long_work: dict[str, Path], tmp_path: Path) -> None:
    with Troupe(keys) as troupe:
        files = {site: long_work[site] for site in SITES[:3]}
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        kill(troupe.processes, "south")
        ended = troupe.end()
    assert ended.pop("south").code == -signal.SIGKILL
    # Which of the two rules is met first depends on the moment of the kill.
    why = only_line(ended[COORDINATOR])
    assert "lost after sums with it were opened" in why or "too few for a secure sum" in why
    refusals(ended, "connection to party 'south' was lost")
    assert list(tmp_path.iterdir()) == []


def test_the_coordinator_killed_during_the_sums(
    keys: Path, long_work: dict[str, Path], tmp_path: Path
) -> None:
    with Troupe(keys) as troupe:
        files = {site: long_work[site] for site in SITES[:3]}
        troupe.begin(files, *ENDLESS, "-o", tmp_path / "out.json")
        troupe.hear("climbing")
        kill(troupe.processes, COORDINATOR)
        ended = troupe.end()
    assert ended.pop(COORDINATOR).code == -signal.SIGKILL
    for ran in ended.values():
        assert ran.code == 1
        assert only_line(ran).startswith("the connection to party 'coordinator' was lost")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_stopped_client_is_too_slow(keys: Path, long_work: dict[str, Path]) -> None:
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
    refusals(ended, "site 'south' was lost after sums", "within 20 s")


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
