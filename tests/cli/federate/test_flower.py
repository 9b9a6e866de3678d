"""The commands for Flower: the daemon of a site, the coordinator as an app, and the folder that `flwr run` takes."""

import json
import re
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dagora.base.errors import OptionError, ProtocolError
from dagora.cli.federate.flower_server import RunFailedError, arguments_of, coordinate
from dagora.cli.main import run as run_command
from dagora.parties.horizontal.flower.local_socket import parse_daemon_address, read_token, visit
from dagora.parties.horizontal.session.replies import refusal
from tests.cli.federate.consortium import PATIENCE, SITES
from tests.cli.federate.pooled import edges_of, pooled
from tests.parties.network import start as in_thread


@pytest.fixture(autouse=True)
def tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed app shortens tracebacks, for the rest of its process."""
    monkeypatch.setattr(sys, "tracebacklimit", 1000, raising=False)


@pytest.fixture(scope="module")
def agreed(garden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everyone's folder, with the codebook and the policies."""
    folder = tmp_path_factory.mktemp("agreed") / "keys"
    assert run_command(["federate", "keys", str(folder), "--sites", ",".join(SITES)]) == 0
    assert run_command(["federate", "policy", "init", str(garden / "garden.csv"), "--keys", str(folder)]) == 0
    return folder


def visits_to(places: list[Path]) -> Callable[[Mapping[int, bytes], float], dict[int, bytes]]:
    """An exchange with daemons that listen at these places."""

    def one(node: int, batch: bytes) -> bytes:
        place = places[node]
        try:
            return visit(
                parse_daemon_address(str(place)), read_token(Path(f"{place}.token")), batch, PATIENCE
            )
        except (ProtocolError, OptionError) as error:
            return refusal(str(error))

    def exchange(batches: Mapping[int, bytes], seconds: float) -> dict[int, bytes]:
        answers = {node: in_thread(one, node, batch) for node, batch in batches.items()}
        return {node: answer.result(PATIENCE) for node, answer in answers.items()}

    return exchange


def test_daemons_that_are_processes_serve_two_runs(
    start: Callable,
    agreed: Path,
    files: dict[str, Path],
    garden: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The network of the pooled rows; then a plan that one policy forbids: its owner is told why, nobody else."""
    keys = Path(shutil.copytree(agreed, tmp_path / "keys"))
    policy = keys / "west" / "policy.toml"
    policy.write_text(re.sub(r"(?m)^methods = .*$", 'methods = ["auto"]', policy.read_text()))
    places = [tmp_path / f"{site}.sock" for site in SITES]
    daemons = {
        site: start("federate", "client", files[site], "--keys", keys / site, "--serve", place, "--runs", 2)
        for site, place in zip(SITES, places, strict=True)
    }
    deadline = time.monotonic() + PATIENCE
    while not all(place.is_socket() for place in places):
        assert time.monotonic() < deadline, "a daemon did not start"
        time.sleep(0.05)
    line = ["--keys", str(keys / "coordinator"), "--max-parents", "2"]
    nodes = range(len(SITES))
    coordinate([*line, "--json", "-o", str(tmp_path / "n.json")], visits_to(places), lambda: nodes)
    said = capsys.readouterr()
    assert edges_of(said.out) == pooled(garden / "garden.csv")
    assert json.loads((tmp_path / "n.json").read_text())["edges"] == json.loads(said.out)["edges"]
    assert re.search(r"dagora: \d+ exchanges with the sites through Flower, [\d.]+ s each", said.err)

    with pytest.raises(RunFailedError) as caught:
        coordinate([*line, "--method", "tabu"], visits_to(places), lambda: nodes)
    why = str(caught.value)
    assert why == "site 'west': refused the plan; see its own output"
    assert capsys.readouterr().err.splitlines()[-1] == f"dagora: error: {why}"
    for site, daemon in daemons.items():
        _, err = daemon.communicate(timeout=PATIENCE)
        assert daemon.returncode == (2 if site == "west" else 1)
        lines = err.splitlines()
        assert f"dagora: '{site}' serves runs at {tmp_path / site}.sock, with the token in" in err
        assert "waiting" not in err, "a daemon does not fill its log"
        assert len([line for line in lines if line.startswith("dagora: answered ")]) == 2
        errors = [line for line in lines if line.startswith("dagora: error: ")]
        assert errors == [lines[-1]]
        assert (
            f"{policy}, line " if site == "west" else f"party 'coordinator' ended the run: {why}"
        ) in errors[0]
    assert not any(place.exists() for place in places)


NEEDS_ONE = "a client needs one of --connect HOST:PORT, --serve PLACE (for Flower) and --dry-run PLAN.json"
REFUSED = {
    "neither": ([], NEEDS_ONE),
    "two": (["--connect", "127.0.0.1:1", "--serve", "s"], NEEDS_ONE),
    "two others": (["--dry-run", "plan.json", "--serve", "s"], NEEDS_ONE),
    "no token": (["--serve", "127.0.0.1:0"], "--serve 127.0.0.1:PORT needs --token FILE"),
    "elsewhere": (["--serve", "0.0.0.0:7200", "--token", "t"], "'0.0.0.0:7200' is not on this machine"),
    "no folder": (["--serve", "none/s"], "none/s.token: cannot write the token: No such file or directory"),
    "no time": (["--serve", "s", "--idle", "0"], "--idle"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_daemon_that_cannot_serve(what: str, run: Callable, agreed: Path, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    arguments, complaint = REFUSED[what]
    ran = run("federate", "client", files["north"], "--keys", agreed / "north", *arguments)
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert last.startswith("dagora: error: ")
    assert complaint in last
    assert not list(tmp_path.iterdir())


def test_a_daemon_needs_a_policy(run: Callable, agreed: Path, files: dict[str, Path], tmp_path: Path) -> None:
    keys = Path(shutil.copytree(agreed / "north", tmp_path / "north"))
    (keys / "policy.toml").unlink()
    ran = run("federate", "client", files["north"], "--keys", keys, "--serve", tmp_path / "s")
    assert ran.code == 2
    assert "there is no policy, so nothing may be answered" in ran.err


def test_the_folder_for_flower(run: Callable, agreed: Path, garden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Files are named so that they are found from any folder."""
    monkeypatch.chdir(garden)
    folder, keys = tmp_path / "app", agreed / "coordinator"
    line = [
        "--method",
        "ges",
        "--seed",
        "3",
        "--truth",
        "garden.bif",
        "--table-columns",
        "4",
        "--patience",
        "60",
    ]
    ran = run("federate", "flower-app", folder, "--keys", keys, *line, "-o", tmp_path / "n.json")
    assert (ran.code, ran.out) == (0, f"{folder}\n"), ran.err
    app = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
    arguments = arguments_of(app["config"])
    for flag, value in (("--keys", str(keys)), ("--method", "ges"), ("--seed", "3"), ("--truth", str(garden / "garden.bif")),
                        ("--output", str(tmp_path / "n.json")), ("--minimum", "3"), ("--table-columns", "4")):  # fmt: skip
        assert arguments[arguments.index(flag) + 1] == value
        assert arguments.count(flag) == 1
    assert float(arguments[arguments.index("--patience") + 1]) == 60.0
    for component in app["components"].values():
        module, _, name = component.partition(":")
        source = (folder / f"{module.replace('.', '/')}.py").read_text()
        assert f"{name} = " in source
        compile(source, module, "exec")
    again = run("federate", "flower-app", folder, "--keys", keys)
    assert again.code == 2
    assert "is not empty: name a new folder" in again.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--sites", "east,west"], "--minimum 3"),
        (["--sites", "east,west,moon", "--wait", "0.2"], "waited 0.2 s in vain for 'east', 'moon', 'west'"),
        (["--method", "nonsense"], "nonsense"),
        (["--method", "notears-mlp"], "needs rows"),
        (["--nonsense"], "No such option"),
        (["--codebook", "none.toml"], "none.toml: there is no codebook"),
        (["--keys", "KEYS/north"], "is for 'north': the coordinator needs its own certificate"),
        (["--wait", "0.2"], "waited 0.2 s in vain for 'east', 'north', 'south', 'west'"),
    ],
)
def test_an_app_that_fails_says_so_in_one_line(arguments: list[str], complaint: str, agreed: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    line = ["--keys", str(agreed / "coordinator"), *(part.replace("KEYS", str(agreed)) for part in arguments)]
    with pytest.raises(RunFailedError, match=re.escape(complaint)) as caught:
        coordinate(line if "--wait" in line else [*line, "--wait", "1"], visits_to([]), list)
    assert capsys.readouterr().err == f"dagora: error: {caught.value}\n"
    assert sys.tracebacklimit == 0


def test_an_app_without_keys(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RunFailedError, match="--keys"):
        coordinate([], visits_to([]), list)
    assert capsys.readouterr().err.startswith("dagora: error: ")


def test_settings_that_a_run_does_not_have() -> None:
    with pytest.raises(OptionError, match="a run has no setting 'methods'"):
        arguments_of({"keys": "k", "methods": "ges"})
    with pytest.raises(OptionError, match="the setting 'arguments' cannot be read"):
        arguments_of({"arguments": "'open"})
    assert shlex.join(arguments_of({"wait": 30, "patience": 2.5})) == "--wait 30 --patience 2.5"
