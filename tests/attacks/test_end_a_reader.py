"""Whoever sends a file wants the process that reads it to end: the command, or the server of the page."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dagora.base.errors import DagoraError
from dagora.explore.session import Session
from tests.attacks.fuzz import SEED, TRIES
from tests.attacks.hostile_files import hidden_column, honest_files

FILES = min(200, TRIES * 6 // 100)
pytestmark = pytest.mark.full


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "dagora", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


def is_refused(ran: subprocess.CompletedProcess[str], file: Path) -> bool:
    *before, last = ran.stderr.strip().splitlines()
    progress = all(re.fullmatch(r".* \d+ s", line) for line in before)
    return ran.returncode == 2 and progress and last.startswith(f"dagora: error: {file}: ")


@pytest.mark.parametrize("more", [(), ("--scan",), ("--sample", "50")])
def test_a_column_that_arrow_throws_about(tmp_path, more):
    file = tmp_path / "t.parquet"
    file.write_bytes(hidden_column())
    assert file.stat().st_size < 2000
    ran = command("learn", file, *more)
    assert is_refused(ran, file), ran


def damage(content: bytes, draw: random.Random) -> bytes:
    """Change, cut or repeat some bytes, most often near the end, where files describe themselves."""
    raw = bytearray(content)
    for _ in range(draw.randint(1, 6)):
        near = draw.choice([len(raw), len(raw), 2000, 600])
        place = max(0, len(raw) - 1 - draw.randrange(max(1, min(near, len(raw)))))
        match draw.randrange(5):
            case 0:
                raw[place : place + 4] = draw.choice([b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4])
            case 1:
                del raw[place : place + draw.randint(1, 8)]
            case 2:
                raw[place:place] = raw[place : place + draw.randint(1, 30)]
            case _:
                raw[place : place + 1] = bytes([draw.randrange(256)])
    return bytes(raw if draw.random() < 0.9 else raw[: draw.randrange(1, len(raw) + 1)])


# In a process of its own, so that a test fails where Arrow ends it.
FUZZ = """
import sys
from pathlib import Path
import dagora
from dagora.base.errors import DagoraError
for line in sys.stdin:
    file = Path(line.strip())
    print(file.name, flush=True)
    for read in (dagora.inspect, dagora.open_rows, lambda file: dagora.learn(file, "hill-climb", missing="drop")):
        try:
            read(file)
        except DagoraError as error:
            assert len(str(error).splitlines()) == 1, error
"""


@pytest.mark.filterwarnings("ignore")
def test_damaged_files_of_arrow(tmp_path):
    print(f"seed {SEED}, {FILES} files")
    draw = random.Random(SEED)
    (tmp_path / "honest").mkdir()
    honest = honest_files(tmp_path / "honest")
    files = []
    for k in range(FILES):
        whole = draw.choice(honest)
        files.append(tmp_path / f"{k}{whole.suffix}")
        files[-1].write_bytes(damage(whole.read_bytes(), draw))
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FUZZ],
        input="\n".join(map(str, [*honest, *files])),
        capture_output=True,
        text=True,
        timeout=60 + 5 * FILES,
        check=False,
    )
    assert ran.returncode == 0, (ran.returncode, ran.stdout.splitlines()[-1:], ran.stderr[-2000:])


def test_the_server_of_the_page_goes_on(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(hidden_column())
    session = Session()
    try:
        with pytest.raises(DagoraError, match=r"t.parquet: the file cannot be read, it may be damaged"):
            session.open(file)
        session.open(honest_files(tmp_path)[0], {"missing": "drop"})
        assert session.columns[0] == "word"
    finally:
        session.close()
