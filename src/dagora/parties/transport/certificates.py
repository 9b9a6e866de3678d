"""The certificates of a run: a CA made for it, and one certificate per party (X.509, ECDSA on P-256).

`make_certificates` writes

    folder/ca.pem, ca.key                        the CA; whoever has ca.key can make parties
    folder/NAME/ca.pem, party.pem, party.key     what party NAME needs: hand this folder to it alone

Only TLS 1.3 is spoken, both sides must show a certificate of that CA, and tickets are off (a run is one
connection). Host names are not checked, since an address may change or be the end of a tunnel. The
name of the party in the certificate is checked instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

from dagora.base.errors import ProtocolError
from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.base.files import PathLike
from dagora.parties.private_file import check_private
from dagora.parties.transport.transport import check_name, one_line


@dataclass(frozen=True, slots=True)
class Credentials:
    """A party's name and the files that prove it."""

    name: str
    ca: Path
    certificate: Path
    key: Path

    @classmethod
    def load(cls, folder: PathLike, *, made_by: str = "dagora federate keys") -> Credentials:
        """Find the credentials in a party's folder; an error suggests the command `made_by`."""
        files = [Path(folder, name) for name in ("ca.pem", "party.pem", "party.key")]
        for file in files:
            if not file.is_file():
                raise ProtocolError(f"{file}: no such file; make certificates with `{made_by}`")
        check_private(files[2], "private key", ProtocolError)
        return cls(_name_in(files[1]), *files)


def _name_in(file: Path) -> str:
    authority = _authority()
    try:
        name = authority.name_in(file.read_bytes())
    except (OSError, ValueError) as error:
        raise ProtocolError(f"{file}: is not a party's certificate: {one_line(str(error))[:80]}") from None
    return check_name(name)


def fingerprint(pem: bytes) -> str:
    """The SHA-256 of a certificate, by which an owner can recognise it.

    `openssl x509 -in party.pem -noout -fingerprint -sha256` prints the same digits.
    """
    try:
        return fingerprint_of(_authority().der_of(pem))
    except ValueError:
        raise ProtocolError("this is not a certificate in PEM: it has no fingerprint") from None


def fingerprint_of(der: bytes) -> str:
    """The fingerprint of a certificate as it comes over the wire, in DER.

    >>> fingerprint_of(b"")[:20]
    'sha256:e3b0c44298fc1'
    """
    return f"sha256:{hashlib.sha256(der).hexdigest()}"


def validity(certificate: Path) -> str:
    """Describe the period in which a certificate of ours is valid, and the time by the clock here."""
    try:
        first, last = _authority().validity(certificate.read_bytes())
    except (OSError, ValueError):
        return f"the clock here says {moment(datetime.now(UTC))}"
    return f"valid {moment(first)} to {moment(last)}; the clock here says {moment(datetime.now(UTC))}"


def moment(time: datetime) -> str:
    """A time in words, to the minute.

    >>> moment(datetime(2026, 11, 16, 2, 50, tzinfo=UTC))
    '2026-11-16 02:50 UTC'
    """
    return f"{time:%Y-%m-%d %H:%M} UTC"


def server_context(credentials: Credentials) -> ssl.SSLContext:
    """TLS for a listener: 1.3 only, and the client must show a certificate of our CA."""
    context = _context(credentials, ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0
    return context


def client_context(credentials: Credentials) -> ssl.SSLContext:
    """TLS for a connector: 1.3 only, and the server must show a certificate of our CA."""
    return _context(credentials, ssl.PROTOCOL_TLS_CLIENT)


def _context(credentials: Credentials, protocol: int) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.check_hostname = False  # the party's name is checked instead, see above
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_verify_locations(cafile=credentials.ca)
        # An empty password, so that an encrypted key fails instead of asking the terminal.
        context.load_cert_chain(credentials.certificate, credentials.key, password="")
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        folder = credentials.certificate.parent
        raise ProtocolError(
            f"{folder}: these certificates cannot be used: {one_line(reason).lower()}"
        ) from None
    return context


def make_certificates(
    folder: PathLike, names: Sequence[str], *, days: int = 30, starts: datetime | None = None
) -> dict[str, Credentials]:
    """Make a CA and a certificate for each party in a new folder, which is written completely or not at all.

    They are valid for `days` days from an hour ago (clocks differ), or from `starts`.
    """
    if not names or len(set(names)) != len(names):
        raise ProtocolError("certificates need party names, each once")
    for name in names:
        check_name(name)
    target = Path(folder)
    if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise ProtocolError(f"{target}: exists already; name a new folder for the certificates")
    first = starts or datetime.now(UTC) - timedelta(hours=1)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        temporary.mkdir(mode=0o700)
        try:
            _write_all(temporary, names, first, first + timedelta(days=days))
            temporary.replace(target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise ProtocolError(
            f"cannot write {target}: {one_line(error.strerror or str(error)).lower()}"
        ) from None
    return {name: Credentials.load(target / name) for name in names}


@contextlib.contextmanager
def temporary_certificates(names: Sequence[str]) -> Iterator[dict[str, Credentials]]:
    """Certificates for one run on one machine, removed afterwards."""
    from dagora.parties.private_folder import private_folder

    with private_folder() as folder:
        yield make_certificates(folder / "certificates", names, days=1)


def _write_all(folder: Path, names: Sequence[str], first: datetime, last: datetime) -> None:
    ca, parties = _authority().issue(names, first, last)
    _write(folder / "ca.pem", ca.certificate, 0o644)
    _write(folder / "ca.key", ca.key, 0o600)
    for name, pair in parties.items():
        home = folder / name
        home.mkdir(mode=0o700)
        _write(home / "ca.pem", ca.certificate, 0o644)
        _write(home / "party.pem", pair.certificate, 0o644)
        _write(home / "party.key", pair.key, 0o600)


def _write(path: Path, content: bytes, mode: int) -> None:
    # Never readable by others, not even for a moment.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())


def _authority() -> ModuleType:
    CRYPTOGRAPHY_FOR_SITES.require("a certificate")
    from dagora.parties.transport import authority

    return authority
