"""A real PostgreSQL server on this machine: on a socket in a folder of its own, reached by nobody else."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


class Server:
    """A PostgreSQL server of our own, on a socket in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.bin = folder, PROGRAMS[-1].parent
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        self.run("initdb", "-D", folder / "data", "-U", "ada", "--auth=trust", "--no-sync")
        self.process = None
        self.start()

    def as_owner(self):
        return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}

    def run(self, program, *arguments):
        subprocess.run(
            [self.bin / program, *map(str, arguments)],
            check=True, capture_output=True, cwd=self.folder, **self.as_owner(),
        )  # fmt: skip

    def start(self):
        self.process = subprocess.Popen(
            [str(self.bin / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, **self.as_owner(),
        )  # fmt: skip
        for _ in range(200):
            ready = subprocess.run([self.bin / "pg_isready", "-h", self.folder, "-q"], check=False)
            if ready.returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def stop(self):
        self.process.send_signal(3)  # SIGQUIT: at once, as after a crash
        self.process.wait(timeout=20)

    def sql(self, text, database="postgres"):
        subprocess.run(
            [self.bin / "psql", "-h", self.folder, "-U", "ada", "-d", database, "-q", "-v", "ON_ERROR_STOP=1", "-c", text],
            check=True, capture_output=True,
        )  # fmt: skip

    @property
    def address(self):
        return f"postgresql://ada@/postgres?host={self.folder}"


@contextmanager
def postgres_server() -> Iterator[Server]:
    """A new server; skips the test where PostgreSQL or its driver is not installed."""
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'dagora[engines]'")
    if not PROGRAMS:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    with tempfile.TemporaryDirectory() as name:  # short: a socket's path has at most 107 letters
        os.chmod(name, 0o755)  # noqa: PTH101 (another user owns what is in it)
        folder = Path(name) / "pg"
        folder.mkdir()
        own = Server(folder)
        try:
            yield own
        finally:
            own.stop()
