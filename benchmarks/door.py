"""How long three sites take to get in while a crowd of unfinished connections stands at the door.

    python benchmarks/door.py [--crowd 500] [--repeats 3] [--output FILE.md]

The crowd is a process of its own (`workers/crowd.py`) that opens each connection again as soon as it is
closed. Crowd, sites and listener share one address and this machine's cores, which is the worst case: no
limit per address tells them apart. The clock runs from the moment all of the crowd have come and the sites
begin to connect until the run has begun for all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dagora.parties.transport.certificates import Credentials, temporary_certificates
from dagora.parties.transport.listener import Listener
from dagora.parties.transport.tcp import connect
from report import deliver, machine, promises, seconds, verdict

CROWD = Path(__file__).parent / "workers" / "crowd.py"
KINDS = {
    "none": "nobody else",
    "silent": "idle",
    "half": "half a TLS hello",
    "greeting": "a TLS hello and no more",
    "drip": "a TLS hello, byte by byte",
    "garbage": "no TLS",
    "proved": "a site's certificate, no hello of ours",
}
SITES = ("east", "north", "west")
MOST_SECONDS = 5.0
CROWD_SECONDS = 60.0  # it ends by itself


def measure(credentials: dict[str, Credentials], kind: str, count: int) -> tuple[float, int]:
    """Seconds until the sites are in, and how many lines the listener said about those it refused."""
    said: list[str] = []
    with (
        Listener(credentials["coordinator"], SITES, on_refusal=said.append) as listener,
        ThreadPoolExecutor(len(SITES) + 1) as pool,
    ):
        accepting = pool.submit(listener.accept, CROWD_SECONDS)
        line = [sys.executable, str(CROWD), str(listener.port), kind, str(count), str(CROWD_SECONDS)]
        line += [str(credentials["stranger"].key.parent)] * (kind == "proved")
        crowd = None
        if kind != "none":
            crowd = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
            assert crowd.stdout is not None
            crowd.stdout.readline()
        begun = time.perf_counter()
        sites = [
            pool.submit(connect, credentials[name], "127.0.0.1", listener.port, wait=CROWD_SECONDS)
            for name in SITES
        ]
        parties = [accepting.result(), *(site.result() for site in sites)]
        elapsed = time.perf_counter() - begun
        for party in parties:
            party.close()
    if crowd is not None:
        crowd.communicate()
    return elapsed, len(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crowd", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    about = machine("cryptography")
    rows = []
    with temporary_certificates(["coordinator", *SITES, "stranger"]) as credentials:
        for kind, title in KINDS.items():
            runs = [measure(credentials, kind, arguments.crowd) for _ in range(arguments.repeats)]
            times = [elapsed for elapsed, _ in runs]
            lines = max(said for _, said in runs)
            measured = f"{seconds(times)} s; {lines} lines of refusals"
            crowd = title if kind == "none" else f"{arguments.crowd} connections: {title}"
            promise = f"≤ {MOST_SECONDS:.0f} s"
            rows.append((crowd, promise, measured, verdict(max(times) <= MOST_SECONDS)))
    deliver(f"{about}\n\n{promises(rows)}", arguments.output)


if __name__ == "__main__":
    main()
