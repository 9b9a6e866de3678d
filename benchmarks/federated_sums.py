"""Secure sums with the clock running: sites as threads, for the CPU of each, and as processes over TLS."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

import numpy as np

from dagora.data.table import Table
from dagora.parties.horizontal.secure_sum.coordinator import SecureSum
from dagora.parties.horizontal.secure_sum.identity import CertifiedIdentity, hand_out_keys
from dagora.parties.horizontal.secure_sum.site import SumSite, epoch_rounds
from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession
from dagora.parties.horizontal.session.federation import Site
from dagora.parties.horizontal.session.serving import serve_site
from dagora.parties.transport.certificates import Credentials, temporary_certificates
from dagora.parties.transport.in_memory import memory_network
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from dagora.parties.transport.transport import Transport

COORDINATOR = "coordinator"


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds; `client` is of a sum that needs no new shares, `sharing` what an epoch adds."""

    values: int
    client: float
    set_up: float
    sharing: float
    coordinator: float
    kilobytes: float


def cost_of_sums(sites: int, values: int, rounds: int) -> Cost:
    """Add vectors of some length over threads; the CPU clock is each thread's own."""
    names = [f"site{k:02d}" for k in range(sites)]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR, timeout=600.0)
    identities = hand_out_keys(names)

    def serve(name: str) -> tuple[float, list[float], int]:
        site = SumSite(network[name], identities[name])
        vector = np.arange(values, dtype=np.uint64)
        begun = time.thread_time()
        site.set_up()
        set_up, times = time.thread_time() - begun, []
        for k in range(rounds):
            sent, begun = network[name].ledger.books().total.wire_sent, time.thread_time()
            site.answer(f"sum/{k}", vector)
            times.append(time.thread_time() - begun)
        return set_up, times, network[name].ledger.books().total.wire_sent - sent

    with ThreadPoolExecutor(sites) as pool:
        working = [pool.submit(serve, name) for name in names]
        sums = SecureSum(network[COORDINATOR], names)
        sums.set_up()
        adding = []
        for k in range(rounds):
            begun = time.thread_time()
            opened = sums.sum(f"sum/{k}")
            adding.append(time.thread_time() - begun)
            assert (opened.values == sites * np.arange(values, dtype=np.uint64)).all()
        measured = [work.result() for work in working]
    firsts = first_rounds(rounds)
    usual = [t for _, times, _ in measured for k, t in enumerate(times) if k not in firsts]
    sharing = [t for _, times, _ in measured for k, t in enumerate(times) if k in firsts and k > 0]
    client = 1e3 * median(usual)
    return Cost(
        values,
        client,
        1e3 * median(set_up for set_up, _, _ in measured),
        1e3 * median(sharing) - client if sharing else 0.0,
        1e3 * median(adding),
        measured[0][2] / 1e3,
    )


def first_rounds(rounds: int) -> set[int]:
    """The sums before which new seeds are shared."""
    firsts, start, epoch = set(), 0, 0
    while start < rounds:
        firsts.add(start)
        start += epoch_rounds(epoch)
        epoch += 1
    return firsts


def one_number(site: Site, question: object) -> np.ndarray:  # noqa: ARG001
    return np.array([site.table.n_rows])


TASKS = {"rows": one_number}


def small_site(name: str) -> Site:
    return Site(name, Table.from_numpy([[0.5], [1.5]]))


def client(folder: str, port: int) -> None:
    credentials = Credentials.load(folder)
    line = connect(credentials, "127.0.0.1", port, peer=COORDINATOR)
    serve_site(line, small_site(credentials.name), TASKS, CertifiedIdentity(credentials))


def seconds_per_sum_over_tls(sites: int, rounds: int) -> list[float]:
    """Wall seconds of each sum over processes, the first few and those with new seeds left out."""
    names = [f"site{k:02d}" for k in range(sites)]
    spawn = multiprocessing.get_context("spawn")
    with (
        temporary_certificates([COORDINATOR, *names]) as credentials,
        Listener(credentials[COORDINATOR], names) as listener,
    ):
        others = [
            spawn.Process(target=client, args=(str(credentials[name].key.parent), listener.port))
            for name in names
        ]
        for other in others:
            other.start()
        times = ask(listener.accept(300.0), names, rounds)
        for other in others:
            other.join()
    return times


def seconds_per_sum_in_memory(sites: int, rounds: int) -> list[float]:
    """The same with threads."""
    names = [f"site{k:02d}" for k in range(sites)]
    network = memory_network([COORDINATOR, *names], hub=COORDINATOR)
    identities = hand_out_keys(names)
    threads = [
        threading.Thread(target=serve_site, args=(network[n], small_site(n), TASKS, identities[n]))
        for n in names
    ]
    for thread in threads:
        thread.start()
    times = ask(network[COORDINATOR], names, rounds)
    for thread in threads:
        thread.join()
    return times


def ask(line: Transport, names: list[str], rounds: int) -> list[float]:
    times = []
    with CoordinatorSession(line, names) as session:
        for _ in range(rounds):
            begun = time.perf_counter()
            assert session.count("rows", {})[0] == 2 * len(names)
            times.append(time.perf_counter() - begun)
    return [seconds for k, seconds in enumerate(times) if k not in first_rounds(rounds)]
