"""Folders of rows and keys: gone at the end, and after a violent end when the next one is made."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import dagora
from dagora.parties.private_folder import IN_USE, private_folder, remove_abandoned
from tests.parties.network import PATIENCE

MAKER = """
import sys
from dagora.parties.transport.certificates import temporary_certificates
from dagora.parties.private_folder import private_folder
with private_folder() as folder, temporary_certificates(["a", "b"]):
    (folder / "rows.csv").write_text("secret")
    print("made", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of its own, for this process and those it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def maker(temporary: Path) -> subprocess.Popen[str]:
    """A process that has made a folder of rows and one of keys, and holds them."""
    environment = {**os.environ, "PYTHONPATH": str(Path(dagora.__file__).parents[1])}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", MAKER], env=environment, stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout.readline() == "made\n"
        yield process
        process.kill()


def test_a_folder_is_private_and_gone_at_the_end(temporary: Path) -> None:
    with private_folder() as folder:
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "keys").mkdir()
    assert list(temporary.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), private_folder():
        raise KeyboardInterrupt
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_goes_when_the_next_folder_is_made(
    temporary: Path, maker: subprocess.Popen[str]
) -> None:
    left = set(temporary.iterdir())
    assert len(left) == 2
    remove_abandoned()
    assert set(temporary.iterdir()) == left, "their maker lives"
    maker.kill()
    maker.wait(PATIENCE)
    assert any(temporary.rglob("rows.csv"))
    assert any(temporary.rglob("*.key")), "the test can fail: nobody has tidied up yet"
    with private_folder() as folder:
        assert set(temporary.iterdir()) == {folder}


def test_what_is_not_surely_abandoned_is_left_alone(
    temporary: Path, maker: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    maker.kill()
    maker.wait(PATIENCE)
    abandoned = set(temporary.iterdir())
    monkeypatch.setattr(os, "getuid", lambda: temporary.stat().st_uid + 1)
    remove_abandoned()
    assert set(temporary.iterdir()) == abandoned, "another user's"
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (temporary / "dagora-notes").mkdir()
    (temporary / "dagora-file").write_text("")
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / IN_USE).write_text("")
    (temporary / "dagora-link").symlink_to(temporary / "elsewhere")
    (temporary / "dagora-lock").mkdir()
    (temporary / "dagora-lock" / IN_USE).symlink_to(temporary / "elsewhere" / IN_USE)
    remove_abandoned()
    kept = {"dagora-notes", "dagora-file", "elsewhere", "dagora-link", "dagora-lock"}
    assert {path.name for path in temporary.iterdir()} == kept


def test_without_locks_nothing_is_taken_for_abandoned(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError("no locks available")

    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refuse)
        made = private_folder()
        folder = made.__enter__()
    remove_abandoned()
    assert folder.is_dir()
    made.__exit__(None, None, None)
    assert list(temporary.iterdir()) == []
