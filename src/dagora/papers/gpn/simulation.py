"""The simulated tables of section 4: random graphs whose nodes are Fourier series of their parents (eq. 15).

Graphs are Erdős–Rényi: each pair is joined with probability 0.2. λ is the decay of the weights; 0 is linear.
There are two simulators, because the paper's text and its published code differ (see `network.mechanisms`):
`text` draws weights and β for every edge, `code` draws one weight vector and one β per child. Columns are
standardised, as the paper's are before any method sees them.
"""

from __future__ import annotations

import numpy as np

from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.random_graphs import random_dag
from dagora.network.simulate import simulate
from dagora.papers.cell import Parameters

# Section 4, and the panels of figure 1.
EDGE_PROBABILITY = 0.2
ROWS = 100
LAMBDAS = (0.0, 0.5, 1.0)
SIMULATORS = {"text": False, "code": True}
"""True if the edges into a node share their weights, by simulator."""


def simulate_cell(parameters: Parameters) -> tuple[DAG, Table]:
    """Draw the graph and the table of a cell, from its `nodes rows probability lambda simulator seed` alone.

    >>> cell = {"nodes": 4, "rows": 50, "probability": 0.5, "lambda": 1.0, "simulator": "text", "seed": 1}
    >>> truth, table = simulate_cell(cell)
    >>> table.n_rows, len(table.names), len(truth.edges)
    (50, 4, 2)
    """
    nodes, seed = int(parameters["nodes"]), int(parameters["seed"])
    # random_dag joins a pair with probability 2 · degree / (nodes − 1).
    truth = random_dag("er", nodes, float(parameters["probability"]) * (nodes - 1) / 2, seed)
    simulation = simulate(
        truth,
        "fourier",
        int(parameters["rows"]),
        seed,
        nonlinearity=float(parameters["lambda"]),
        published=SIMULATORS[str(parameters["simulator"])],
    )
    return truth, standardise(simulation.table)


def standardise(table: Table) -> Table:
    """Give every column mean 0 and variance 1 (of n − 1, as R's `scale` has it)."""
    values = np.column_stack([table.values(i) for i in range(len(table.names))])
    values = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    return Table.from_numpy(values, names=table.names, continuous=table.names)
