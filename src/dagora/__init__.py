"""Structure learning of Bayesian networks, wherever the data lives.

>>> import dagora
>>> table = dagora.Table.from_numpy([[0, 0], [1, 1]] * 20, names=["a", "b"], discrete=["a", "b"])
>>> result = dagora.learn(table, method="hill-climb", score="bic")
>>> result.graph.edges, result.status
((('a', 'b'),), 'local-optimum')

Names are imported on first use, so that importing the package costs next to nothing (`__init__.pyi`).
"""

from __future__ import annotations

import re
from pathlib import Path

from dagora.base import notebook
from dagora.base.loading import load
from dagora.base.version import __version__ as __version__
from dagora.graph import asked_graph

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {
    public: f"{module}:{name}"
    for module, name, public in re.findall(r"^from (\S+) import (\w+) as (\w+)$", _STUB, re.MULTILINE)
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 (type checkers read the stub)


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


def _adjustment(graph: object, x: object, y: str) -> object:
    return load("dagora.graph.adjustment:Adjustment")(graph, x, y)


asked_graph.provide(_adjustment)  # what graphs tell by their method `adjustment`
