"""A consortium on Flower for tests: a SuperLink, a SuperNode and a daemon per site, all real processes.

TLS everywhere and authenticated nodes, on loopback only, with nothing that would call home. Leaving the block
leaves no process, neither those that were started here nor those that these have started.
"""

import contextlib
import ctypes
import datetime as dt
import ipaddress
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

import dagora
from dagora.cli.main import run as run_command
from dagora.data.partition import split_rows
from dagora.data.writers import write_table
from dagora.parties.transport.certificates import make_certificates
from tests.conftest import ROOT

SITES = ("north", "south", "west")
PATIENCE = 240.0
BIN = Path(sys.executable).parent
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "NO_COLOR": "1",
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1",
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",  # a second by default
    # Whatever wanted to leave the machine would find nobody, at once.
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
    "no_proxy": "127.0.0.1,localhost",
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def die_with_parent() -> None:
    """On Linux: end with the tests, also when they are killed (1 is PR_SET_PDEATHSIG)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def make_tls(folder: Path) -> None:
    """An authority, and a certificate for 127.0.0.1."""
    now = dt.datetime.now(dt.UTC)

    def certificate(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        names = [
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (subject, "authority")
        ]
        builder = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1])
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        day = dt.timedelta(days=1)
        return builder.not_valid_before(now - day).not_valid_after(now + day)

    own, key = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
    ca = certificate("authority", own).add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    server = certificate("superlink", key).add_extension(here, False)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "ca.pem").write_bytes(ca.sign(own, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "server.pem").write_bytes(server.sign(own, hashes.SHA256()).public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(secret)


def make_node_key(file: Path) -> None:
    """The key by which a SuperNode proves who it is."""
    key = ec.generate_private_key(ec.SECP384R1())
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    file.with_suffix(".pub").write_bytes(public)


class FlowerConsortium:
    """The processes; each writes what it says to FOLDER/NAME.log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.port = free_port()

    def __enter__(self) -> "FlowerConsortium":
        home = self.folder / "home"
        home.mkdir(parents=True)
        make_tls(self.folder)
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{self.folder / "ca.pem"}"\n'
        )
        self.start("superlink", *self.superlink_line())
        try:
            self.wait_for("superlink", "Uvicorn running")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        for process in self.processes.values():
            process.terminate()
        deadline = time.monotonic() + 10.0
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
        # Flower starts processes of its own, some in groups of their own: all have our FLWR_HOME.
        while left := self.running():
            for number in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            time.sleep(0.1)
        for process in self.processes.values():
            process.wait()

    def running(self) -> list[int]:
        """The processes of this consortium, whoever started them."""
        ours = f"FLWR_HOME={self.folder / 'home'}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if ours in entry.read_bytes().split(b"\0"):
                    found.append(int(entry.parent.name))
        return found

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            **QUIET,
            "FLWR_HOME": str(self.folder / "home"),
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }

    def start(self, name: str, *line: object) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(part) for part in line], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=self.environment, start_new_session=True, cwd=self.folder, preexec_fn=die_with_parent,  # noqa: PLW1509
            )  # fmt: skip

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def wait_for(self, name: str, pattern: str, seconds: float = PATIENCE) -> re.Match[str]:
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.said(name))):
            assert time.monotonic() < deadline, f"{name} never said {pattern}: {self.said(name)}"
            assert self.processes[name].poll() is None, f"{name} ended: {self.said(name)}"
            time.sleep(0.05)
        return found

    def code(self, name: str, seconds: float = PATIENCE) -> int:
        return self.processes[name].wait(seconds)

    def command(self, *line: object) -> str:
        return subprocess.run(
            [str(part) for part in line], env=self.environment, cwd=self.folder, check=True,
            capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        ).stdout  # fmt: skip

    def add_sites(self, files: Mapping[str, Path], keys: Path) -> None:
        """A registered SuperNode for each site; the daemons are started for each test."""
        self.files, self.keys = files, keys
        for site in files:
            key = self.folder / f"{site}.key"
            make_node_key(key)
            self.command(*self.register_line(site))
            self.start(f"{site}-node", *self.node_line(site))
        for site in files:
            self.wait_for(f"{site}-node", "SuperNode ID")

    def superlink_line(self) -> list[object]:
        return [
            BIN / "flower-superlink",
            "--ssl-certfile", self.folder / "server.pem", "--ssl-keyfile", self.folder / "server.key",
            "--ssl-ca-certfile", self.folder / "ca.pem", "--enable-supernode-auth",
            "--host", "127.0.0.1", "--port", self.port, "--disable-runtime-dependency-installation",
        ]  # fmt: skip

    def register_line(self, site: str) -> list[object]:
        public = self.folder / f"{site}.pub"
        return [BIN / "flwr", "supernode", "register", public, "here", "--name", site]

    def node_line(self, site: str) -> list[object]:
        place = self.folder / f"{site}.sock"
        return [
            BIN / "flower-supernode", "--root-certificates", self.folder / "ca.pem",
            "--superlink", f"127.0.0.1:{self.port}", "--host", "127.0.0.1", "--port", free_port(),
            "--auth-supernode-private-key", self.folder / f"{site}.key",
            "--node-config", f'dagora-address="{place}" dagora-token="{place}.token"', "--max-retries", 5,
        ]  # fmt: skip

    def daemon_line(self, site: str, file: Path) -> list[object]:
        return [
            sys.executable, "-m", "dagora", "federate", "client", file, "--keys", self.keys / site,
            "--serve", self.folder / f"{site}.sock",
        ]  # fmt: skip

    def app_line(self, folder: Path) -> list[object]:
        return [
            sys.executable, "-m", "dagora", "federate", "flower-app", folder,
            "--keys", self.keys / "coordinator", "--wait", 120, "--patience", 120,
        ]  # fmt: skip

    def start_daemons(self, *arguments: object) -> None:
        for site, file in self.files.items():
            self.start(site, *self.daemon_line(site, file), *arguments)
        for site in self.files:
            self.wait_for(site, "serves runs at")

    def start_run(self, app: Path, config: str = "") -> str:
        """`flwr run`; returns the number of the run."""
        line = [
            BIN / "flwr",
            "run",
            app,
            "here",
            "--format",
            "json",
            *(["--run-config", config] if config else []),
        ]
        return json.loads(self.command(*line))["run-id"]

    def state(self, run: str) -> dict[str, str]:
        listed = json.loads(self.command(BIN / "flwr", "list", "here", "--run-id", run, "--format", "json"))
        return listed["runs"][0]

    def finish(self, run: str, seconds: float = PATIENCE) -> dict[str, str]:
        deadline = time.monotonic() + seconds
        while not (state := self.state(run))["status"].startswith("finished"):
            assert time.monotonic() < deadline, f"the run goes on: {self.said('superlink')}"
            time.sleep(1.0)
        return state

    def log_of(self, run: str) -> str:
        """What the coordinator said."""
        return self.command(BIN / "flwr", "log", run, "here", "--show")


def give_rows_to_sites(table: Path, folder: Path) -> dict[str, Path]:
    """Deal out the rows of a file to the sites, with certificates and a policy for all; the files by site."""
    make_certificates(folder / "keys", ["coordinator", *SITES])
    files = {site: folder / f"{site}.csv" for site in SITES}
    for part, file in zip(split_rows(dagora.read_table(table), 3, seed=1), files.values(), strict=True):
        write_table(part, file)
    assert run_command(["federate", "policy", "init", str(table), "--keys", str(folder / "keys")]) == 0
    return files
