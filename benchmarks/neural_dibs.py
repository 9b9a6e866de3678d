"""DiBS+ with neural networks on the tables of the GP-network paper, by the variance of its noise.

    python benchmarks/neural_dibs.py [--noise 0.1 0.3 1] [--graphs 12] [--output FILE.md]

Figure 1: one particle on each table (medians of the E-SHD); table 1: 20 particles on the proteins, weighed,
and each distinct graph counted alike. A minute a table on one core, seconds on a GPU (`pip install
'jax[cuda12]'`); the proteins take hours on one core.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import dagora
from dagora.papers.gpn.other_methods import evaluate_graphs
from dagora.papers.gpn.others import table_parameters
from dagora.papers.gpn.simulation import LAMBDAS, simulate_cell
from dagora.papers.gpn.table1 import CONSENSUS, proteins
from dagora.papers.reference_data import reference_file
from report import deliver, digits, machine, markdown_table
from runs import note

HEADER = ("noise", *(f"λ = {decay:g}" for decay in LAMBDAS), "no DAG", "proteins", "proteins, graphs alike")
PARTICLES = 20


def distances(table: dagora.Table, truth: dagora.DAG, particles: int, noise: float, seed: int) -> list[float]:
    """E-SHD with weights and without; nothing where no particle became a DAG."""
    found = dagora.sample(table, "dibs-neural", draws=particles, noise=noise, seed=seed).graphs()
    graphs = np.array([graph.to_numpy() for graph, _ in found])
    shares = [np.array([share for _, share in found]), np.full(len(found), 1 / max(1, len(found)))]
    return [evaluate_graphs(graphs, each, truth)["shd"] for each in shares] if found else []


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--noise", nargs="+", type=float, default=[0.1, 0.3, 1.0])
    parser.add_argument("--graphs", type=int, default=12)
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    options = parser.parse_args()
    cells = proteins()
    consensus = dagora.DAG(cells.names, dagora.read_graph(reference_file(CONSENSUS)).edges)
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dagora.DagoraWarning)
        for noise in options.noise:
            medians, none = [], 0
            for decay in LAMBDAS:
                found = []
                for seed in range(options.graphs):
                    truth, table = simulate_cell(table_parameters(decay, seed))
                    found.append(distances(table, truth, 1, noise, seed))
                    note(f"noise {noise:g}, λ = {decay:g}, graph {seed}: {found[-1][:1]}")
                none += sum(not each for each in found)
                medians.append(digits(float(np.median([each[0] for each in found if each]))))
            on_proteins = distances(cells, consensus, PARTICLES, noise, 0)
            lines.append([f"{noise:g}", *medians, str(none), *(f"{each:.1f}" for each in on_proteins)])
    deliver("\n\n".join([markdown_table(HEADER, lines), machine("dagora", "jax")]), options.output)


if __name__ == "__main__":
    main()
