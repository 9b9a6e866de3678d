"""What TLS on loopback costs two parties: the time of a round trip and the rate of large messages.

    python benchmarks/transport.py [--repeats 10] [--output FILE.md]

Two processes with certificates of their own, as `simulate` starts them. A round trip is 100 bytes there and
back; the rate is of messages of 50 MB, from the call of `send` to the receiver's answer that it has them all.
CPU seconds of each side are given too: on a busy machine they say more than the clock.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path
from statistics import median

from dagora.parties.transport.certificates import Credentials, temporary_certificates
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from report import deliver, digits, machine, promises, verdict

TRIPS = 1000
SIZE = 50_000_000
SMALL = 10_000


def guest(folder: str, port: int, repeats: int) -> None:
    with connect(Credentials.load(folder), "127.0.0.1", port, peer="host") as line:
        for _ in range(TRIPS):
            line.send("host", "pong", line.receive("host", "ping"))
        for _ in range(repeats):
            begun = time.process_time()
            line.receive("host", "large", 600.0)
            line.send("host", "cpu", str(time.process_time() - begun).encode())
        for _ in range(SMALL):
            line.receive("host", "small")
        line.send("host", "done", b"")


def measure(repeats: int) -> dict[str, float]:
    with (
        temporary_certificates(["host", "guest"]) as credentials,
        Listener(credentials["host"], 1) as listener,
    ):
        folder = str(credentials["guest"].key.parent)
        other = multiprocessing.get_context("spawn").Process(
            target=guest, args=(folder, listener.port, repeats)
        )
        other.start()
        with listener.accept() as line:
            trips = []
            for _ in range(TRIPS):
                begun = time.perf_counter()
                line.send("guest", "ping", bytes(100))
                line.receive("guest", "pong")
                trips.append(time.perf_counter() - begun)
            content = os.urandom(SIZE)
            times, sending, receiving = [], [], []
            for _ in range(repeats):
                begun, used = time.perf_counter(), time.process_time()
                line.send("guest", "large", content)
                sending.append(time.process_time() - used)
                receiving.append(float(line.receive("guest", "cpu", 600.0)))
                times.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            for _ in range(SMALL):
                line.send("guest", "small", bytes(100))
            line.receive("guest", "done")
            small = time.perf_counter() - begun
        other.join()
    return {
        "trip": 1e3 * median(trips),
        "late": 1e3 * sorted(trips)[TRIPS * 99 // 100],
        "rate": SIZE / min(times) / 1e6,
        "usual": SIZE / median(times) / 1e6,
        "sender": SIZE / median(sending) / 1e6,
        "receiver": SIZE / median(receiving) / 1e6,
        "small": SMALL / small,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    about = machine("cryptography")
    got = measure(arguments.repeats)
    rate = f"{got['rate']:.0f} MB/s (median {got['usual']:.0f})"
    trip = f"{digits(got['trip'])} ms (99 %: {digits(got['late'])})"
    rows = [
        ("round trip, 100 bytes", "≤ 5 ms", trip, verdict(got["trip"] <= 5)),
        ("messages of 50 MB", "≥ 300 MB/s", rate, verdict(got["rate"] >= 300)),
        ("the same, sender", "", f"{got['sender']:.0f} MB per CPU s", ""),
        ("the same, receiver", "", f"{got['receiver']:.0f} MB per CPU s", ""),
        ("messages of 100 bytes", "", f"{got['small']:.0f} per s", ""),
    ]
    deliver(f"{about}\n\n{promises(rows)}", arguments.output)


if __name__ == "__main__":
    main()
