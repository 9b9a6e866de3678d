"""Certificates: whole or not at all, private keys private, TLS 1.3 only."""

import os
import shutil
import ssl
import stat
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from dagora.base.errors import ProtocolError
from dagora.parties.transport import authority
from dagora.parties.transport.certificates import (
    Credentials,
    client_context,
    fingerprint,
    make_certificates,
    server_context,
    temporary_certificates,
)


def test_each_party_gets_what_it_needs_and_no_more(tmp_path):
    made = make_certificates(tmp_path / "keys", ["host", "clinic-2"], days=10)
    files = {
        str(path.relative_to(tmp_path / "keys")) for path in (tmp_path / "keys").rglob("*") if path.is_file()
    }
    assert files == {
        "ca.pem", "ca.key",
        "host/ca.pem", "host/party.pem", "host/party.key",
        "clinic-2/ca.pem", "clinic-2/party.pem", "clinic-2/party.key",
    }  # fmt: skip
    for path in (tmp_path / "keys").rglob("*.key"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made["host"] == Credentials.load(tmp_path / "keys" / "host")
    assert made["clinic-2"].name == "clinic-2"
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


def test_the_certificates_say_what_they_should(tmp_path):
    made = make_certificates(tmp_path / "keys", ["a", "b"], days=10)
    ca = x509.load_pem_x509_certificate((tmp_path / "keys" / "ca.pem").read_bytes())
    keys = set()
    for credentials in made.values():
        certificate = x509.load_pem_x509_certificate(credentials.certificate.read_bytes())
        certificate.verify_directly_issued_by(ca)
        assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        assert certificate.not_valid_before_utc < datetime.now(UTC)
        assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == timedelta(days=10)
        keys.add(credentials.key.read_bytes())
    assert len(keys) == 2


def test_a_party_cannot_act_as_a_ca(tmp_path):
    """The CA's extensions forbid what a curious party could try with its own key."""
    make_certificates(tmp_path / "keys", ["a"])
    ca = x509.load_pem_x509_certificate((tmp_path / "keys" / "ca.pem").read_bytes())
    constraints = ca.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert (constraints.ca, constraints.path_length) == (True, 0)


def test_contexts_are_tls_1_3_with_certificates_on_both_sides(credentials):
    for context in (server_context(credentials["b"]), client_context(credentials["b"])):
        assert context.minimum_version == ssl.TLSVersion.TLSv1_3
        assert context.verify_mode == ssl.CERT_REQUIRED
    assert server_context(credentials["b"]).num_tickets == 0


def test_nothing_is_written_when_something_fails(tmp_path, monkeypatch):
    real = os.fsync
    calls = []

    def failing(descriptor):
        calls.append(descriptor)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(ProtocolError, match=r"cannot write .*keys: no space left on device"):
        make_certificates(tmp_path / "keys", ["a", "b"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [[], ["a", "a"], ["a/b"], [".."], ["x" * 65], ["a\n"]])
def test_odd_names_are_refused(tmp_path, names):
    with pytest.raises(ProtocolError):
        make_certificates(tmp_path / "keys", names)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_left_alone(tmp_path):
    (tmp_path / "keys").mkdir()
    make_certificates(tmp_path / "keys", ["a"])
    before = (tmp_path / "keys" / "ca.pem").read_bytes()
    with pytest.raises(ProtocolError, match="exists already"):
        make_certificates(tmp_path / "keys", ["a"])
    assert (tmp_path / "keys" / "ca.pem").read_bytes() == before
    with pytest.raises(ProtocolError, match=r"cannot write .*: no such file or directory"):
        make_certificates(tmp_path / "no" / "such" / "folder", ["a"])


def test_credentials_that_cannot_be_used(tmp_path, credentials):
    with pytest.raises(ProtocolError, match=r"ca\.pem: no such file"):
        Credentials.load(tmp_path)
    for name in ("ca.pem", "party.pem", "party.key"):
        shutil.copy(credentials["b"].ca.parent / name, tmp_path)
    assert Credentials.load(tmp_path).name == "b"
    (tmp_path / "party.key").write_bytes(credentials["c"].key.read_bytes())
    with pytest.raises(ProtocolError, match="these certificates cannot be used: key_values_mismatch"):
        client_context(Credentials.load(tmp_path))
    (tmp_path / "party.pem").write_bytes(b"nonsense")
    with pytest.raises(ProtocolError, match=r"party\.pem: is not a party's certificate"):
        Credentials.load(tmp_path)


def test_the_ca_itself_is_not_a_party(tmp_path):
    make_certificates(tmp_path / "keys", ["a"])
    assert authority.name_in((tmp_path / "keys" / "ca.pem").read_bytes()) == "dagora CA"
    for old, new in (("ca.pem", "party.pem"), ("ca.key", "party.key")):
        (tmp_path / "keys" / old).replace(tmp_path / "keys" / "a" / new)
    with pytest.raises(ProtocolError, match="cannot name a party"):
        Credentials.load(tmp_path / "keys" / "a")


def test_temporary_certificates_go_away():
    with temporary_certificates(["a", "b"]) as made:
        folder = made["a"].key.parent
        assert folder.is_dir()
        assert stat.S_IMODE(folder.parent.parent.stat().st_mode) == 0o700
    assert not folder.exists()


def test_a_fingerprint_is_the_hash_of_the_certificate(credentials):
    pem = credentials["b"].certificate.read_bytes()
    known = x509.load_pem_x509_certificate(pem).fingerprint(hashes.SHA256()).hex()
    assert fingerprint(pem) == f"sha256:{known}"
    for wrong in (b"", b"nonsense", b"\xff", credentials["b"].key.read_bytes()):
        with pytest.raises(ProtocolError, match="not a certificate"):
            fingerprint(wrong)


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o666])
def test_a_key_that_others_may_read_is_refused(tmp_path, credentials, mode):
    home = tmp_path / "a b"
    shutil.copytree(credentials["b"].ca.parent, home)
    (home / "party.key").chmod(mode)
    with pytest.raises(ProtocolError) as caught:
        Credentials.load(home)
    line = str(caught.value)
    assert line.startswith(f"{home / 'party.key'}: other users")
    subprocess.run(line[line.index("chmod") :], shell=True, check=True)  # the way out works as it stands
    assert Credentials.load(home).name == "b"
