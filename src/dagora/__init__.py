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

from dagora.base import notebook
from dagora.base.loading import load
from dagora.base.version import __version__ as __version__

if TYPE_CHECKING:
    from dagora.api.bootstrap import bootstrap as bootstrap
    from dagora.api.estimate_time import TimeEstimate as TimeEstimate
    from dagora.api.estimate_time import estimate_time as estimate_time
    from dagora.api.fit import fit as fit
    from dagora.api.impute import impute as impute
    from dagora.api.learn import candidates as candidates
    from dagora.api.learn import learn as learn
    from dagora.api.learn import score_graph as _score_graph
    from dagora.api.learn_federated import learn_federated as learn_federated
    from dagora.api.learn_private import learn_private as learn_private
    from dagora.api.methods import methods as methods
    from dagora.api.open_rows import open_rows as open_rows
    from dagora.api.sample import sample as sample
    from dagora.base.errors import DagoraError as DagoraError
    from dagora.base.errors import DagoraWarning as DagoraWarning
    from dagora.base.errors import DataError as DataError
    from dagora.base.errors import DisagreementError as DisagreementError
    from dagora.base.errors import FormatError as FormatError
    from dagora.base.errors import GraphError as GraphError
    from dagora.base.errors import KnowledgeError as KnowledgeError
    from dagora.base.errors import OptionError as OptionError
    from dagora.base.errors import PartyTimeoutError as PartyTimeoutError
    from dagora.base.errors import ProtocolError as ProtocolError
    from dagora.base.errors import QueryError as QueryError
    from dagora.base.errors import RowsUnavailableError as RowsUnavailableError
    from dagora.base.events import Budget as Budget
    from dagora.base.events import Event as Event
    from dagora.base.progress_bar import ProgressBar as ProgressBar
    from dagora.data.columns.overview import Overview as Overview
    from dagora.data.discretise import discretise as discretise
    from dagora.data.incomplete import IncompleteTable as IncompleteTable
    from dagora.data.inspecting import inspect as inspect
    from dagora.data.punching import punch_holes as punch_holes
    from dagora.data.readers import read_table as read_table
    from dagora.data.schema import Kind as Kind
    from dagora.data.schema import Schema as Schema
    from dagora.data.schema import Variable as Variable
    from dagora.data.table import Table as Table
    from dagora.data.writers import write_table as write_table
    from dagora.formats.registry import read_graph as read_graph
    from dagora.formats.registry import read_network as read_network
    from dagora.formats.registry import write_graph as write_graph
    from dagora.formats.registry import write_network as write_network
    from dagora.graph.ancestral.pag import PAG as PAG
    from dagora.graph.ancestral.true_pag import true_pag as true_pag
    from dagora.graph.comparing import compare as compare
    from dagora.graph.cpdag import CPDAG as CPDAG
    from dagora.graph.dag import DAG as DAG
    from dagora.graph.knowledge import Knowledge as Knowledge
    from dagora.graph.knowledge import read_knowledge as read_knowledge
    from dagora.graph.lagged_graph import LaggedGraph as LaggedGraph
    from dagora.graph.metrics import Comparison as Comparison
    from dagora.graph.random_graphs import random_dag as random_dag
    from dagora.learners.candidates.candidates import Candidates as Candidates
    from dagora.learners.result import Result as Result
    from dagora.network.autoregression import SeriesSimulation as SeriesSimulation
    from dagora.network.autoregression import simulate_series as simulate_series
    from dagora.network.gaussian_process.network import GaussianProcessNetwork as GaussianProcessNetwork
    from dagora.network.likelihood import log_likelihood as log_likelihood
    from dagora.network.networks import DiscreteNetwork as DiscreteNetwork
    from dagora.network.networks import GaussianNetwork as GaussianNetwork
    from dagora.network.networks import MixedNetwork as MixedNetwork
    from dagora.network.regressions import Lines as Lines
    from dagora.network.regressions import Softmax as Softmax
    from dagora.network.sample import sample as _sample_network
    from dagora.network.simulate import Simulation as Simulation
    from dagora.network.simulate import simulate as simulate
    from dagora.posterior.resample.strengths import Strengths as Strengths
    from dagora.posterior.summary.features import Estimate as Estimate
    from dagora.posterior.summary.posterior import Posterior as Posterior
    from dagora.report import write_report as write_report
    from dagora.stats.merged_parts import open_parts as open_parts
    from dagora.stats.statistics import Statistics as Statistics

    score, sample_network = _score_graph, _sample_network  # an import under another name is not public

# Where each public name lives. Type checkers read the imports above; a test keeps the two in step.
_HOMES = {
    "Budget": "dagora.base.events:Budget",
    "CPDAG": "dagora.graph.cpdag:CPDAG",
    "Candidates": "dagora.learners.candidates.candidates:Candidates",
    "Comparison": "dagora.graph.metrics:Comparison",
    "DAG": "dagora.graph.dag:DAG",
    "DagoraError": "dagora.base.errors:DagoraError",
    "DagoraWarning": "dagora.base.errors:DagoraWarning",
    "DataError": "dagora.base.errors:DataError",
    "DisagreementError": "dagora.base.errors:DisagreementError",
    "DiscreteNetwork": "dagora.network.networks:DiscreteNetwork",
    "Estimate": "dagora.posterior.summary.features:Estimate",
    "Event": "dagora.base.events:Event",
    "FormatError": "dagora.base.errors:FormatError",
    "GaussianNetwork": "dagora.network.networks:GaussianNetwork",
    "GaussianProcessNetwork": "dagora.network.gaussian_process.network:GaussianProcessNetwork",
    "GraphError": "dagora.base.errors:GraphError",
    "IncompleteTable": "dagora.data.incomplete:IncompleteTable",
    "Kind": "dagora.data.schema:Kind",
    "Knowledge": "dagora.graph.knowledge:Knowledge",
    "KnowledgeError": "dagora.base.errors:KnowledgeError",
    "LaggedGraph": "dagora.graph.lagged_graph:LaggedGraph",
    "Lines": "dagora.network.regressions:Lines",
    "MixedNetwork": "dagora.network.networks:MixedNetwork",
    "OptionError": "dagora.base.errors:OptionError",
    "PAG": "dagora.graph.ancestral.pag:PAG",
    "Overview": "dagora.data.columns.overview:Overview",
    "PartyTimeoutError": "dagora.base.errors:PartyTimeoutError",
    "Posterior": "dagora.posterior.summary.posterior:Posterior",
    "ProgressBar": "dagora.base.progress_bar:ProgressBar",
    "ProtocolError": "dagora.base.errors:ProtocolError",
    "QueryError": "dagora.base.errors:QueryError",
    "Result": "dagora.learners.result:Result",
    "RowsUnavailableError": "dagora.base.errors:RowsUnavailableError",
    "Schema": "dagora.data.schema:Schema",
    "SeriesSimulation": "dagora.network.autoregression:SeriesSimulation",
    "Simulation": "dagora.network.simulate:Simulation",
    "Softmax": "dagora.network.regressions:Softmax",
    "Statistics": "dagora.stats.statistics:Statistics",
    "Strengths": "dagora.posterior.resample.strengths:Strengths",
    "Table": "dagora.data.table:Table",
    "TimeEstimate": "dagora.api.estimate_time:TimeEstimate",
    "Variable": "dagora.data.schema:Variable",
    "bootstrap": "dagora.api.bootstrap:bootstrap",
    "candidates": "dagora.api.learn:candidates",
    "compare": "dagora.graph.comparing:compare",
    "discretise": "dagora.data.discretise:discretise",
    "estimate_time": "dagora.api.estimate_time:estimate_time",
    "fit": "dagora.api.fit:fit",
    "impute": "dagora.api.impute:impute",
    "inspect": "dagora.data.inspecting:inspect",
    "learn": "dagora.api.learn:learn",
    "learn_federated": "dagora.api.learn_federated:learn_federated",
    "learn_private": "dagora.api.learn_private:learn_private",
    "log_likelihood": "dagora.network.likelihood:log_likelihood",
    "methods": "dagora.api.methods:methods",
    "open_parts": "dagora.stats.merged_parts:open_parts",
    "open_rows": "dagora.api.open_rows:open_rows",
    "punch_holes": "dagora.data.punching:punch_holes",
    "random_dag": "dagora.graph.random_graphs:random_dag",
    "read_graph": "dagora.formats.registry:read_graph",
    "read_knowledge": "dagora.graph.knowledge:read_knowledge",
    "read_network": "dagora.formats.registry:read_network",
    "read_table": "dagora.data.readers:read_table",
    "sample": "dagora.api.sample:sample",
    "sample_network": "dagora.network.sample:sample",
    "score": "dagora.api.learn:score_graph",
    "simulate": "dagora.network.simulate:simulate",
    "simulate_series": "dagora.network.autoregression:simulate_series",
    "true_pag": "dagora.graph.ancestral.true_pag:true_pag",
    "write_graph": "dagora.formats.registry:write_graph",
    "write_network": "dagora.formats.registry:write_network",
    "write_report": "dagora.report:write_report",
    "write_table": "dagora.data.writers:write_table",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 (type checkers need no third list: `import X as X` is public)


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dagora' has no attribute '{name}'")
    value: object = load(_HOMES[name])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _html(shown: object) -> str:
    return str(load("dagora.report.snippets:snippet")(shown))


notebook.provide(_html)  # what notebooks show of graphs, tables and results
