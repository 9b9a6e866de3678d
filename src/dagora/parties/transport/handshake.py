"""The TLS handshake, and messages for its failures.

In TLS 1.3 a client finishes before the server has checked its certificate, so a refused client notices only
when it reads. So each side confirms once: the connector sends a hello when it has checked the listener's
name, and the listener sends a welcome to all when everybody is connected.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from dagora.base.errors import ProtocolError
from dagora.parties.transport.certificates import fingerprint_of, moment, validity
from dagora.parties.transport.transport import check_name, one_line

_VERIFY = {
    9: "its certificate is not valid yet by the clock here ({now}): set the clocks right",
    10: "its certificate has expired by the clock here ({now}): make new ones, or set the clocks right",
    18: "its certificate is not signed by our CA",
    19: "its certificate is not signed by our CA",
    20: "its certificate is not signed by our CA",
    21: "its certificate is not signed by our CA",
    7: "its certificate is not signed by our CA",
    26: "its certificate is not a party's",
}
_CLOCKS = ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "SSLV3_ALERT_BAD_CERTIFICATE")
_REASONS = {
    "UNSUPPORTED_PROTOCOL": "it does not speak TLS 1.3",
    "TLSV1_ALERT_PROTOCOL_VERSION": "it does not speak TLS 1.3",
    "NO_SHARED_CIPHER": "it does not speak TLS 1.3",
    "VERSION_TOO_LOW": "it does not speak TLS 1.3",
    "WRONG_VERSION_NUMBER": "it does not speak TLS",
    "HTTP_REQUEST": "it does not speak TLS",
    "HTTPS_PROXY_REQUEST": "it does not speak TLS",
    "RECORD_LAYER_FAILURE": "it does not speak TLS",
    "PACKET_LENGTH_TOO_LONG": "it does not speak TLS",
    "BAD_PACKET_LENGTH": "it does not speak TLS",
    "UNEXPECTED_MESSAGE": "it does not speak TLS",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "it showed no certificate",
    "TLSV1_ALERT_UNKNOWN_CA": "it refused our certificate: its CA is another one",
    "TLSV1_ALERT_DECRYPT_ERROR": "it refused our certificate: its CA is another one",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it refused our certificate as expired by its clock",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it refused our certificate as not valid by its clock",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it refused our certificate",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it asks for a certificate",
}


class HungUpError(ProtocolError):
    """The peer closed the connection, or never answered, and gave no reason."""


def shake_hands(
    raw: socket.socket, context: ssl.SSLContext, *, timeout: float, own: Path | None = None
) -> ssl.SSLSocket:
    """Turn a socket that we have connected into a TLS connection, or close it and raise `ProtocolError`.

    The error's text is made to follow the name of the peer: "its certificate has expired".
    """
    try:
        raw.settimeout(timeout)
        raw.getpeername()  # fails for a caller that has left already, while its socket can still be closed
        tls = context.wrap_socket(raw, do_handshake_on_connect=False)
    except (OSError, ValueError) as error:
        raw.close()
        raise ProtocolError(explain(error)) from None
    try:
        tls.do_handshake()
    except (OSError, ValueError) as error:
        close_after_refusal(tls)
        kind = HungUpError if hung_up(error) or isinstance(error, TimeoutError) else ProtocolError
        raise kind(explain(error, own)) from None
    return tls


def peer_name(tls: ssl.SSLSocket) -> str:
    """The common name of the peer's certificate, which our CA has signed: that is the party's name."""
    certificate = tls.getpeercert() or {}
    subject = cast("Iterable[Iterable[tuple[str, str]]]", certificate.get("subject", ()))
    names = [value for group in subject for key, value in group if key == "commonName"]
    if len(names) != 1:
        raise ProtocolError("its certificate does not name one party")
    return check_name(str(names[0]))


def peer_fingerprint(tls: ssl.SSLSocket) -> str:
    """The fingerprint of the certificate that the peer has shown."""
    return fingerprint_of(tls.getpeercert(binary_form=True) or b"")


def explain(error: BaseException, own: Path | None = None) -> str:
    """Say in words why TLS failed; `own` is our certificate, which the peer may have refused.

    >>> explain(TimeoutError())
    'it did not answer in time'
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        words = _VERIFY.get(
            error.verify_code, f"its certificate is not valid: {one_line(error.verify_message)}"
        )
        return words.replace("{now}", moment(datetime.now(UTC)))
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if hung_up(error):
        return "it closed the connection"
    if isinstance(error, ssl.SSLError):
        words = _REASONS.get(error.reason or "", f"TLS failed: {one_line(error.reason or str(error))}")
        dated = error.reason in _CLOCKS
        return (
            f"{words} ({validity(own)}): make new ones, or set the clocks right" if dated and own else words
        )
    return one_line(getattr(error, "strerror", None) or str(error)).lower()


def hung_up(error: BaseException) -> bool:
    """Return True if an error says that the peer closed the connection."""
    gone = isinstance(error, OSError) and error.errno in (errno.ENOTCONN, errno.EINVAL)
    return isinstance(error, ssl.SSLEOFError | ConnectionError) or gone


def close_after_refusal(tls: ssl.SSLSocket, seconds: float = 0.5) -> None:
    """Close a refused connection in such a way that what was sent last still arrives."""
    with contextlib.suppress(OSError, ValueError):
        # On the socket below TLS: what the peer still sends is discarded unread.
        socket.socket.shutdown(tls, socket.SHUT_WR)
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            tls.settimeout(left)
            if not socket.socket.recv(tls, 1 << 16):
                break
    tls.close()
