"""Both owners on one machine, each a `dagora private` command in a process of its own, on a TLS connection.

This is what two owners would start in two terminals, with certificates that exist only during the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dagora.base.errors import DisagreementError, ProtocolError
from dagora.learners.result import Result
from dagora.parties.processes.party_processes import BAD_INPUT, LineObserver, PartyFailedError, PartyProcesses
from dagora.parties.transport.certificates import temporary_certificates

HOST, GUEST = "host", "guest"
START_SECONDS = 60.0


@dataclass(frozen=True)
class BothResults:
    """The two results; the graphs are equal."""

    host: Result
    guest: Result


def run_both(
    host_data: str,
    guest_data: str,
    host_options: Sequence[str],
    guest_options: Sequence[str],
    *,
    on_line: LineObserver | None = None,
    timeout: float | None = None,
) -> BothResults:
    """Start both on two files, wait for the end, and return what each found.

    Options are those of `dagora private host` and `join`, the key's column among them.
    """
    with (
        common_refusal(),
        temporary_certificates([HOST, GUEST]) as credentials,
        PartyProcesses(on_line=on_line) as processes,
    ):
        keys = {name: ["--certificates", str(credentials[name].ca.parent)] for name in (HOST, GUEST)}
        start = ["private", "host", "--data", host_data, *keys[HOST], "--port", "0"]
        processes.start(HOST, [*start, *host_options, "--json"])
        said = processes.wait_for_line(HOST, r"listening on (\S+)", timeout=START_SECONDS)
        join = ["private", "join", "--data", guest_data, *keys[GUEST], "--connect", said[1]]
        processes.start(GUEST, [*join, *guest_options, "--json"])
        ended = processes.wait(timeout)
    both = BothResults(*(Result.from_json(ended[name].out) for name in (HOST, GUEST)))
    if both.host.graph.edges != both.guest.graph.edges:
        raise ProtocolError("host and guest ended with different graphs, which should never happen")
    return both


@contextmanager
def common_refusal() -> Iterator[None]:
    """Report bad input of a party without its name: once both are connected, it concerns both."""
    try:
        yield
    except PartyFailedError as failure:
        if failure.ended.code != BAD_INPUT:
            raise
        raise DisagreementError(failure.ended.last_words.removeprefix("dagora: error: ")) from None
