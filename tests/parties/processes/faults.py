"""Faults of party processes, and how to look at them from outside."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from dagora.parties.processes.party_processes import PartyProcesses, ProcessEnd
from tests.parties.network import PATIENCE


def process_ids(parties: PartyProcesses) -> dict[str, int]:
    """The process of each party."""
    return {name: party.process.pid for name, party in parties._parties.items()}


def kill(parties: PartyProcesses, name: str) -> None:
    """Kill one party at once, as a power cut would."""
    parties._parties[name].sweep()
    parties._parties[name].process.wait()


def run_all(commands: Mapping[str, Sequence[str]]) -> dict[str, ProcessEnd]:
    """Run `dagora` commands side by side, one per party, until all have ended well."""
    with PartyProcesses() as parties:
        for name, arguments in commands.items():
            parties.start(name, arguments)
        return parties.wait(PATIENCE)


def alive(process: int) -> bool:
    """Whether a process is there and not just waiting to be reaped."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
