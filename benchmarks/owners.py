"""Columns of three and more owners: what private K2 on replicated shares costs, in seconds, bytes and memory.

    python benchmarks/owners.py [--repeats 3] [--owners 3] [--tables 0] [--small] [--output FILE.md]

Every owner is a process with a certificate on TLS connections of this machine, as `dagora private simulate`
starts them; the graph of each session is compared with that of K2 on the joined rows. --tables N adds N
sessions on small random tables.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from dagora.learners.result import Result
from dagora.papers.private_k2.central import k2_graph
from dagora.papers.private_k2.networks import NetworkRows, random_network, sample_rows
from dagora.parties.processes.simulation import run_group
from report import deliver, digits, machine, markdown_table, promises, verdict
from runs import note, one_thread

VARIABLES, ROWS, LIMIT, SEED = 12, 10_000, 3, 1
PROBABILITIES = (0.2, 0.8)
PHASES = ("agreement", "rows", "moments", "search", "result")
PROMISED_SECONDS = 15.0


def write_files(rows: NetworkRows, owners: int, folder: Path) -> list[str]:
    """A file per owner, the columns dealt out in turn, rows in a sequence of its own."""
    files = []
    for owner in range(owners):
        names = rows.truth.nodes[owner::owners]
        sequence = np.random.default_rng(owner).permutation(len(rows.bits))
        lines = [",".join(["ID", *names])]
        lines += [
            ",".join([f"row {row}", *map(str, bits)])
            for row, bits in zip(sequence, rows.bits[sequence][:, owner::owners].tolist(), strict=True)
        ]
        files.append(folder / f"{owner}.csv")
        files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(map(str, files))


def session(rows: NetworkRows, owners: int, limit: int) -> tuple[dict[str, Result], bool]:
    """Run all owners; returns their results, and whether the graph is that of the joined rows."""
    options = ["--key", "ID", "--patience", "3600", "--quiet", "--min-rows", "2"]
    terms = ["--max-parents", str(limit), "--order", rows.written_order]
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(rows, owners, Path(folder))
        results = run_group(files, [*options, *terms], options)
    central = k2_graph(rows.bits, rows.truth.nodes, rows.order, limit, "f")
    found = next(iter(results.values()))
    return results, set(found.graph.edges) == set(central.edges)


def main() -> None:
    parser = argparse.ArgumentParser(description="Private K2 of three and more owners.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--owners", type=int, default=3)
    parser.add_argument("--tables", type=int, default=0, help="sessions on small random tables as well")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    if options.repeats < 1 or options.owners < 3:
        parser.error("--repeats must be positive, --owners 3 or more")
    os.environ.update(one_thread())
    where = machine("dagora", "numpy", "numba", "cryptography")
    variables, count = (options.owners + 1, 200) if options.small else (VARIABLES, ROWS)
    rows = sample_rows(random_network(SEED, variables, PROBABILITIES), count, SEED)
    lines, seconds, same = [], [], True
    for number in range(options.repeats):
        note(f"{variables} variables, {count} rows, {options.owners} owners, {number + 1}")
        results, equal = session(rows, options.owners, LIMIT)
        same &= equal
        stats = [result.stats for result in results.values()]
        host = stats[0]
        seconds.append(sum(host[f"{phase}_seconds"] for phase in PHASES))
        sent = sum(each[f"{phase}_bytes_sent"] for each in stats for phase in PHASES) / 1e6
        shown = [seconds[-1], *(host[f"{phase}_seconds"] for phase in ("rows", "moments", "search"))]
        shown += [sum(each["cpu_time"] for each in stats), sent, host["ands"] / 1e6]
        memory = max(each.get("peak_megabytes", 0.0) for each in stats)
        lines.append(
            [
                *map(digits, shown),
                f"{host['layers']:.0f}",
                f"{memory:.0f}",
                "central K2's" if equal else "ANOTHER",
            ]
        )
    about = f"{variables} variables, {count} rows, {options.owners} owners"
    kept = "small run" if options.small else verdict(median(seconds) <= PROMISED_SECONDS)
    judged = [
        [about, f"≤ {PROMISED_SECONDS:.0f} s", f"{digits(median(seconds))} s (median)", kept],
        [about, "the graph of central K2", "the same" if same else "another", verdict(same)],
    ]
    if options.tables:
        rng = np.random.default_rng(SEED)
        equal_tables = 0
        for number in range(options.tables):
            note(f"random table {number + 1} of {options.tables}")
            owners = int(rng.integers(3, 6))
            few = sample_rows(
                random_network(number, int(rng.integers(owners, 9)), PROBABILITIES),
                int(rng.integers(40, 2000)),
                number,
            )
            equal_tables += session(few, owners, int(rng.integers(1, 4)))[1]
        what = f"{equal_tables} of {options.tables}"
        kept = verdict(equal_tables == options.tables)
        judged.append(["random tables, 3 to 5 owners", "the graph of central K2", what, kept])
    header = (
        "seconds", "keys", "moments", "search", "CPU s of all", "MB sent by all", "M AND", "layers",
        "MB memory", "graph",
    )  # fmt: skip
    text = (
        f"{about}, at most {LIMIT} parents, score f; a process for each on TLS connections of this machine. "
        "Seconds are the host's, from the agreement to the result; reading files and starting Python are not "
        "in them. Memory is the largest high-water mark."
    )
    parts = [
        "## Columns of three and more owners",
        text,
        markdown_table(header, lines),
        promises(judged),
        where,
    ]
    deliver("\n\n".join(parts), options.output)


if __name__ == "__main__":
    main()
