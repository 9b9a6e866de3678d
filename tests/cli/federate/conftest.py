"""Sites with keys, policies and files, and a stage on which they and their coordinator run as threads."""

import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import dagora
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.parties.transport.certificates import make_certificates
from tests.cli.federate.consortium import COORDINATOR, SITES, Play, agree_on, client_line, coordinator_line
from tests.conftest import Ran
from tests.parties.unhurried import Attendance, take_time


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates") / "keys"
    make_certificates(folder, [COORDINATOR, *SITES, "stranger"])
    return folder


@pytest.fixture
def keys(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everyone's folder, new for each test: it will hold policies, the codebook and logs."""
    return Path(shutil.copytree(certificates, tmp_path_factory.mktemp("keys") / "keys"))


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows of a linear model with six columns, 400 of them."""
    file = tmp_path_factory.mktemp("numbers") / "numbers.csv"
    write_table(dagora.simulate(dagora.random_dag("er", 6, 1.5, seed=4), "gaussian", 400, seed=4).table, file)
    return file


@pytest.fixture(scope="session")
def files(garden: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file for each site, of unequal sizes."""
    folder = tmp_path_factory.mktemp("sites")
    table = dagora.read_table(garden / "garden.csv")
    parts = split_rows(table, 4, seed=1, sizes=[1500, 1000, 499, 1])
    for site, part in zip(SITES, parts, strict=True):
        write_table(part, folder / f"{site}.csv")
    return {site: folder / f"{site}.csv" for site in SITES}


@pytest.fixture(scope="session")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files on whose 24 columns a climb with restarts keeps asking for new sums."""
    folder = tmp_path_factory.mktemp("long")
    table = dagora.simulate(dagora.random_dag("er", 24, 4, seed=1), "logistic", 300, seed=1).table
    for site, part in zip(SITES, split_rows(table, 4), strict=True):
        write_table(part, folder / f"{site}.csv")
    return {site: folder / f"{site}.csv" for site in SITES}


@pytest.fixture
def play(
    keys: Path, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Ran]]:
    """Let all parties run as threads; `others` replaces or adds clients.

    They have agreed on a codebook that fits `tables`, by default the files of all sites; `changes` are those
    of the policies of some sites, and without `agreed` the test has seen to all that itself.
    """
    take_time(monkeypatch)

    def call(
        *arguments: object,
        helpers: tuple[Callable, ...] = (),
        sites: tuple[str, ...] = SITES,
        others: dict[str, list[str] | None] | None = None,
        tables: Sequence[Path] = (),
        changes: Mapping[str, Mapping[str, object]] | None = None,
        agreed: bool = False,
    ) -> dict[str, Ran]:
        if not agreed:
            agree_on(keys, tables or list(files.values()), sites, changes)
        usual = {site: client_line(keys, site, files[site]) for site in sites}
        clients = {who: line for who, line in {**usual, **(others or {})}.items() if line is not None}
        return Play()(coordinator_line(keys, *arguments, sites=sites), clients, *helpers)

    return call


@pytest.fixture
def attendance(monkeypatch: pytest.MonkeyPatch) -> Attendance:
    """Who has come to the coordinator."""
    return Attendance(monkeypatch)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a fresh process, whatever runs the tests."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
