"""Secure sums with the clock running: sites as threads, for the CPU of each, and as processes over TLS."""

from __future__ import annotations

import multiprocessing
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from dagora.data.table import Table
from dagora.parties.horizontal.log.site_log import MemoryLog, SiteLog, open_log
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.drafting import draft_trial
from dagora.parties.horizontal.plan.plan import RunPlan
from dagora.parties.horizontal.policy.drafted_policy import trial_policy
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity, Identity, hand_out_keys
from dagora.parties.horizontal.secure_sum.masks import KeyPair
from dagora.parties.horizontal.secure_sum.roster import Roster, SiteMasks
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.transport.certificates import Credentials, temporary_certificates
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import Transport

COORDINATOR = "coordinator"
BOOK = Codebook((ColumnCoding("a", levels=("no", "yes")),))
TABLE = Table.from_numpy([["no"], ["yes"]], names=["a"])
# Sums that warm up, and are left out.
FIRST = 4


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds of a client's set-up and of each sum, at a client and at the coordinator."""

    values: int
    client: float
    set_up: float
    coordinator: float
    kilobytes: float


def plan_of(identities: dict[str, Identity], names: list[str]) -> RunPlan:
    prints = {name: who.fingerprint(who.certificate) for name, who in identities.items()}
    return draft_trial(BOOK, {name: prints[name] for name in names}, "hill-climb", prints[COORDINATOR])


def cost_of_sums(sites: int, values: int, rounds: int) -> Cost:
    """Mask and add vectors of some length; the clock is that of the CPU."""
    names = [f"site{k:02d}" for k in range(sites)]
    identities = hand_out_keys([COORDINATOR, *names])
    plan = plan_of(identities, names)
    begun = {name: SiteMasks.begin(identities[name], plan) for name in names}
    entries = {name: entry for name, (_, entry) in begun.items()}
    roster = Roster.of(plan, entries, KeyPair.make().public)
    message = roster.encode(identities[COORDINATOR].sign(roster.statement()))
    certificate = identities[COORDINATOR].certificate
    start = time.process_time()
    masks = [begun[name][0].check_roster(message, certificate, COORDINATOR) for name in names]
    set_up = (time.process_time() - start) / sites
    vector = np.arange(values, dtype=np.uint64)
    client, adding = [], []
    for k in range(rounds):
        start = time.process_time()
        answers = [site.mask(f"sum/{k}", vector) for site in masks]
        client.append((time.process_time() - start) / sites)
        start = time.process_time()
        total = np.zeros_like(vector)
        for answer in answers:
            total += answer
        adding.append(time.process_time() - start)
        assert (total == np.uint64(sites) * vector).all()
    return Cost(values, 1e3 * median(client), 1e3 * set_up, 1e3 * median(adding), vector.nbytes / 1e3)


def client(folder: str, port: int, plan: bytes) -> None:
    credentials = Credentials.load(folder)
    line = connect(credentials, "127.0.0.1", port, peer=COORDINATOR)
    with open_log(Path(folder, "log.jsonl")) as log:
        serve(line, CertifiedIdentity(credentials), RunPlan.decode(plan), log)


def serve(line: Transport, identity: Identity, plan: RunPlan, log: SiteLog) -> None:
    serve_site(line, Site(identity.name, TABLE), trial_policy(plan), identity, log, {})


def seconds_per_sum_over_tls(sites: int, rounds: int) -> list[float]:
    """Wall seconds of each sum over processes, with logs on disk, the first few left out."""
    names = [f"site{k:02d}" for k in range(sites)]
    spawn = multiprocessing.get_context("spawn")
    with (
        temporary_certificates([COORDINATOR, *names]) as credentials,
        Listener(credentials[COORDINATOR], names) as listener,
    ):
        identities: dict[str, Identity] = {n: CertifiedIdentity(held) for n, held in credentials.items()}
        plan = plan_of(identities, names)
        others = [
            spawn.Process(
                target=client, args=(str(credentials[name].key.parent), listener.port, plan.encode())
            )
            for name in names
        ]
        for other in others:
            other.start()
        times = ask(listener.accept(300.0), plan, identities[COORDINATOR], rounds)
        for other in others:
            other.join()
    return times


def seconds_per_sum_in_memory(sites: int, rounds: int) -> list[float]:
    """The same with threads, and logs in memory."""
    names = [f"site{k:02d}" for k in range(sites)]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR)
    identities: dict[str, Identity] = dict(hand_out_keys([COORDINATOR, *names]))
    plan = plan_of(identities, names)
    threads = [
        threading.Thread(target=serve, args=(network[n], identities[n], plan, MemoryLog())) for n in names
    ]
    for thread in threads:
        thread.start()
    times = ask(network[COORDINATOR], plan, identities[COORDINATOR], rounds)
    for thread in threads:
        thread.join()
    return times


def ask(line: Transport, plan: RunPlan, identity: Identity, rounds: int) -> list[float]:
    times = []
    with CoordinatorSession(line, plan, identity) as session:
        for _ in range(rounds):
            begun = time.perf_counter()
            assert session.counts([()])[0] == 2 * len(plan.sites)
            times.append(time.perf_counter() - begun)
    return times[FIRST:]
