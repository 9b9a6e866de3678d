"""Three and more owners on one machine, each a `dagora private group` command in its own process over TLS."""

from __future__ import annotations

from collections.abc import Sequence

from dagora.base.errors import ProtocolError
from dagora.learners.result import Result
from dagora.parties.processes.party_processes import LineObserver, PartyProcesses
from dagora.parties.transport.certificates import temporary_certificates
from dagora.parties.vertical.simulation import START_SECONDS, common_refusal


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
    """Start one owner for each file, wait for the end, and return what each found.

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
        start += ["--owners", ",".join(names), "--port", "0"]
        processes.start(host, [*start, *host_options, "--json"])
        said = processes.wait_for_line(host, r"listening on (\S+)", timeout=START_SECONDS)
        for name, file in zip(others, files[1:], strict=True):
            join = ["private", "group", "join", "--data", file, "--certificates", folders[name]]
            processes.start(name, [*join, "--connect", said[1], *other_options, "--json"])
        ended = processes.wait(timeout)
    results = {name: Result.from_json(ended[name].out) for name in names}
    if len({result.graph.edges for result in results.values()}) != 1:
        raise ProtocolError("the owners ended with different graphs, which should never happen")
    return results
