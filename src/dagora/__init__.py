"""Structure learning of Bayesian networks, wherever the data lives.

>>> import dagora
>>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
>>> result = dagora.learn(table, method="hill-climb", score="bic")
>>> result.graph.edges, result.status
((('a', 'b'),), 'local-optimum')

Names are imported on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagora.data.discretise import discretise
    from dagora.data.readers import read_table
    from dagora.data.table import Table
    from dagora.data.writers import write_table
    from dagora.errors import DagoraError
    from dagora.formats.registry import read_graph, read_network, write_graph, write_network
    from dagora.graph.cpdag import CPDAG
    from dagora.graph.dag import DAG
    from dagora.graph.knowledge import Knowledge
    from dagora.graph.metrics import compare
    from dagora.graph.random_graphs import random_dag
    from dagora.learning import candidates, learn
    from dagora.learning import score_graph as score
    from dagora.network.fit import fit
    from dagora.network.likelihood import log_likelihood
    from dagora.network.sample import sample as sample_network
    from dagora.network.simulate import simulate
    from dagora.posterior.posterior import Posterior
    from dagora.report import write_report
    from dagora.result import Result
    from dagora.sampling import sample

__version__ = "0.1.0"

_HOMES = {
    "CPDAG": "graph.cpdag",
    "DAG": "graph.dag",
    "DagoraError": "errors",
    "Knowledge": "graph.knowledge",
    "Posterior": "posterior.posterior",
    "Result": "result",
    "Table": "data.table",
    "candidates": "learning",
    "compare": "graph.metrics",
    "discretise": "data.discretise",
    "fit": "network.fit",
    "learn": "learning",
    "log_likelihood": "network.likelihood",
    "random_dag": "graph.random_graphs",
    "read_graph": "formats.registry",
    "read_network": "formats.registry",
    "read_table": "data.readers",
    "sample": "sampling",
    "sample_network": "network.sample:sample",
    "score": "learning:score_graph",
    "simulate": "network.simulate",
    "write_graph": "formats.registry",
    "write_network": "formats.registry",
    "write_report": "report",
    "write_table": "data.writers",
}

__all__ = [
    "CPDAG",
    "DAG",
    "DagoraError",
    "Knowledge",
    "Posterior",
    "Result",
    "Table",
    "candidates",
    "compare",
    "discretise",
    "fit",
    "learn",
    "log_likelihood",
    "random_dag",
    "read_graph",
    "read_network",
    "read_table",
    "sample",
    "sample_network",
    "score",
    "simulate",
    "write_graph",
    "write_network",
    "write_report",
    "write_table",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dagora' has no attribute '{name}'")
    module, _, attribute = _HOMES[name].partition(":")
    value: object = getattr(import_module(f"dagora.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
