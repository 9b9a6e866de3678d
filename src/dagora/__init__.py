"""Structure learning of Bayesian networks, wherever the data lives.

>>> import dagora
>>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
>>> result = dagora.learn(table, method="hill-climb", score="bic")
>>> result.graph.edges, result.status
((('a', 'b'),), 'local-optimum')

Names are imported on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.loading import load
from dagora.version import __version__ as __version__

if TYPE_CHECKING:
    from dagora.data.discretise import discretise
    from dagora.data.inspecting import inspect
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
    from dagora.posterior.summary.posterior import Posterior
    from dagora.report import write_report
    from dagora.result import Result
    from dagora.sampling import sample

_HOMES = {
    "CPDAG": "dagora.graph.cpdag:CPDAG",
    "DAG": "dagora.graph.dag:DAG",
    "DagoraError": "dagora.errors:DagoraError",
    "Knowledge": "dagora.graph.knowledge:Knowledge",
    "Posterior": "dagora.posterior.summary.posterior:Posterior",
    "Result": "dagora.result:Result",
    "Table": "dagora.data.table:Table",
    "candidates": "dagora.learning:candidates",
    "compare": "dagora.graph.metrics:compare",
    "discretise": "dagora.data.discretise:discretise",
    "fit": "dagora.network.fit:fit",
    "inspect": "dagora.data.inspecting:inspect",
    "learn": "dagora.learning:learn",
    "log_likelihood": "dagora.network.likelihood:log_likelihood",
    "random_dag": "dagora.graph.random_graphs:random_dag",
    "read_graph": "dagora.formats.registry:read_graph",
    "read_network": "dagora.formats.registry:read_network",
    "read_table": "dagora.data.readers:read_table",
    "sample": "dagora.sampling:sample",
    "sample_network": "dagora.network.sample:sample",
    "score": "dagora.learning:score_graph",
    "simulate": "dagora.network.simulate:simulate",
    "write_graph": "dagora.formats.registry:write_graph",
    "write_network": "dagora.formats.registry:write_network",
    "write_report": "dagora.report:write_report",
    "write_table": "dagora.data.writers:write_table",
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
    "inspect",
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
    value: object = load(_HOMES[name])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
