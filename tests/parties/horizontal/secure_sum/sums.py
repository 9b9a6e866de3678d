"""Secure sums for tests: sites in threads, some of which may die at a chosen step, and their coordinator."""

import secrets
import time
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from dagora.parties.horizontal.secure_sum.coordinator import SecureSum
from dagora.parties.horizontal.secure_sum.identity import hand_out_keys
from dagora.parties.horizontal.secure_sum.site import SumSite
from dagora.parties.transport.in_memory import memory_network
from tests.parties.network import PATIENCE, start
from tests.parties.wiretap import Death, Wire

SHORT = 5.0


@dataclass
class Sums:
    """Sites that add given vectors, and the coordinator's side of it."""

    coordinator: Wire
    wires: dict[str, Wire]
    sums: SecureSum
    sites: dict[str, SumSite] = field(default_factory=dict)
    working: dict[str, Future] = field(default_factory=dict)
    vectors: dict[str, list[np.ndarray]] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)

    def plain(self, names, round_=0):
        with np.errstate(over="ignore"):
            return np.sum([self.vectors[name][round_] for name in names], axis=0, dtype=np.uint64)

    def errors(self):
        return {n: work.exception(PATIENCE) for n, work in self.working.items() if work.exception(PATIENCE)}

    def end(self, reason=None):
        self.coordinator.close(reason)
        for work in self.working.values():
            work.exception(PATIENCE)


def random_vector(size=7):
    return np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64)


def begin(
    names,
    *,
    die=None,
    change=None,
    vectors=None,
    rounds=1,
    patience=SHORT,
    transports=None,
    identities=None,
    size=7,
    **options,
):
    """Start the sites' threads; `die` maps sites to the moment at which each vanishes."""
    transports = transports or memory_network(["coordinator", *names], hub="coordinator", timeout=patience)
    identities = identities or hand_out_keys(names)
    hub = transports.get("coordinator") or transports["host"]
    wires = {name: Wire(transports[name], (die or {}).get(name, "")) for name in names}
    losses = []
    coordinator = Wire(hub, change=change)
    sums = SecureSum(coordinator, names, patience=patience, on_loss=losses.append, **options)
    vectors = vectors or {name: [random_vector(size) for _ in range(rounds)] for name in names}
    minimum = options.get("minimum", 3)
    party = Sums(coordinator, wires, sums, vectors=vectors, losses=losses)
    for name in names:
        site = SumSite(
            wires[name], identities[name], coordinator=hub.name, patience=patience, minimum=minimum
        )
        party.sites[name] = site
        party.working[name] = start(_serve, site, wires[name], vectors[name])
    return party


def _serve(site, wire, vectors):
    started = time.thread_time()
    try:
        site.set_up()
        set_up, times = time.thread_time() - started, []
        for i, vector in enumerate(vectors):
            started = time.thread_time()
            site.answer(f"task {i}", vector)
            times.append(time.thread_time() - started)
    except Death:
        raise
    except BaseException as error:
        wire.close(str(error))
        raise
    return set_up, times


def names_of(count):
    return [f"s{i}" for i in range(count)]
