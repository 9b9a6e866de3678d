"""Owners on one machine, each a `dagora private` command in a process of its own, on TLS connections.

This is what owners would start in terminals of their own, with certificates that exist only during the run.
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
START_SECONDS = 60.0  # larger: a dead process is noticed later; smaller: busy machines fail


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
    """Start two owners on two files, wait for the end, and return both results.

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
        line = processes.wait_for_line(HOST, r"listening on (\S+)", timeout=START_SECONDS)
        join = ["private", "join", "--data", guest_data, *keys[GUEST], "--connect", line[1]]
        processes.start(GUEST, [*join, *guest_options, "--json"])
        ended = processes.wait(timeout)
    both = BothResults(*(Result.from_json(ended[name].out) for name in (HOST, GUEST)))
    if both.host.graph.edges != both.guest.graph.edges:
        raise ProtocolError("host and guest ended with different graphs, which should never happen")
    return both


def owner_names(count: int) -> tuple[str, ...]:
    """Names for owners that have none.

    >>> owner_names(3)
    ('owner-1', 'owner-2', 'owner-3')
    """
    return tuple(f"owner-{number}" for number in range(1, count + 1))


def run_group(
    files: Sequence[str],
    host_options: Sequence[str],
    other_options: Sequence[str],
    *,
    on_line: LineObserver | None = None,
    timeout: float | None = None,
) -> dict[str, Result]:
    """Start one owner for each of three or more files, wait for the end, and return their results.

    Options are those of `dagora private group host` and `join`, the key's column among them.
    """
    names = owner_names(len(files))
    with (
        common_refusal(),
        temporary_certificates(names) as credentials,
        PartyProcesses(on_line=on_line) as processes,
    ):
        folders = {name: str(credentials[name].ca.parent) for name in names}
        host, *others = names
        start = ["private", "group", "host", "--data", files[0], "--certificates", folders[host]]
        listed = ["--owners", ",".join(names)]
        start += [*listed, "--port", "0"]
        processes.start(host, [*start, *host_options, "--json"])
        line = processes.wait_for_line(host, r"listening on (\S+)", timeout=START_SECONDS)
        for name, file in zip(others, files[1:], strict=True):
            join = ["private", "group", "join", "--data", file, "--certificates", folders[name]]
            processes.start(name, [*join, *listed, "--connect", line[1], *other_options, "--json"])
        ended = processes.wait(timeout)
    results = {name: Result.from_json(ended[name].out) for name in names}
    if len({result.graph.edges for result in results.values()}) != 1:
        raise ProtocolError("the owners ended with different graphs, which should never happen")
    return results


@contextmanager
def common_refusal() -> Iterator[None]:
    """Report bad input of a party without its name: once both are connected, it concerns both."""
    try:
        yield
    except PartyFailedError as failure:
        if failure.ended.code != BAD_INPUT:
            raise
        raise DisagreementError(failure.ended.last_words.removeprefix("dagora: error: ")) from None
