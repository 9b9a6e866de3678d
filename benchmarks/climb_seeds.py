"""The BIC that hill climbing reaches on ten samples of each network, beside our other searches and pyAgrum's.

    python benchmarks/peers.py pyagrum
    python benchmarks/climb_seeds.py [--networks alarm ...] [--seeds 11 12 ...] [--output FILE.md]

One sample says little about a greedy search: it ends in another local optimum on the next one. Nothing is
timed here, so that it may run beside other work.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

import dagora
import peers
from hill_climbing import NETWORKS, ROWS, WORSE_PER_CENT, bic_gap
from report import deliver, machine, markdown_table
from runs import network_file, note, run_worker

OURS = ("hill-climb", "tabu", "auto")


def gaps(name: str, seed: int, folder: Path) -> dict[str, float]:
    """How far each of our searches is above pyAgrum's greedy one on a sample, in per cent of its BIC."""
    file = folder / f"{name}-{seed}.csv"
    dagora.write_table(dagora.sample_network(dagora.read_network(network_file(name)), ROWS, seed), file)
    table = dagora.read_table(file)
    found = run_worker("climb_pyagrum.py", file, 1, 0, peer="pyagrum")
    assert found is not None
    theirs = dagora.score(table, dagora.DAG(table.names, found["edges"]), score="bic")
    ours = {method: dagora.learn(table, method, score="bic", penalty=1.0).score or 0.0 for method in OURS}
    note(f"{name}, seed {seed}: {theirs:.1f}, {ours}")
    return {method: bic_gap(score, theirs) for method, score in ours.items()}


def line(name: str, method: str, found: list[float]) -> list[str]:
    """A line of the table: median and range over the samples, and on how many ours is below."""
    below = sum(gap < -WORSE_PER_CENT for gap in found)
    spread = f"{min(found):+.3f} to {max(found):+.3f}"
    return [name, method, f"{median(found):+.3f}", spread, f"{below} of {len(found)}"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Hill climbing's BIC over samples, beside pyAgrum's.")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int, default=range(11, 21), metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE.md", help="also write the report here")
    options = parser.parse_args()
    peers.require(["pyagrum"])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks:
            found = [gaps(name, seed, Path(folder)) for seed in options.seeds]
            rows += [line(name, method, [gap[method] for gap in found]) for method in OURS]
    seeds = f"{min(options.seeds)} to {max(options.seeds)}"
    text = (
        f"{ROWS} rows sampled from each network, seeds {seeds}. “above” is how far our BIC is above that of "
        "pyAgrum's greedy search on the same rows, in per cent of it: median and range over the samples; "
        f"“below” counts samples on which ours is more than {WORSE_PER_CENT} % below."
    )
    header = ("network", "ours", "above, %", "range", "below")
    parts = ["## Hill climbing over samples", text, markdown_table(header, rows)]
    deliver(
        "\n\n".join([*parts, f"{machine('dagora', 'numpy', 'numba')} {peers.pinned(['pyagrum'])}"]),
        options.output,
    )


if __name__ == "__main__":
    main()
