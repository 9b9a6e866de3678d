"""The PAG that follows from a DAG of which some variables are hidden: what a search can find at best.

Two observed variables are joined if no set of observed variables separates them. It is enough to try one: of
the observed variables, those that cause one of the two (or what rows were selected by). A mark is a tail
where the variable is such a cause of the other, else an arrow: that is the maximal ancestral graph (MAG) of
the DAG (Richardson & Spirtes 2002). Marks on which all MAGs with the same independences agree follow by the
rules of Zhang (2008) from its v-structures and discriminating paths.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dagora.base.errors import GraphError
from dagora.graph.ancestral.end_marks import EndMarks
from dagora.graph.ancestral.pag import PAG
from dagora.graph.ancestral.rules import apply_rules, settle_by, unshielded_triples
from dagora.graph.cpdag import require_dag
from dagora.graph.dag import DAG
from dagora.graph.edge_marks import ARROW, NONE, TAIL
from dagora.graph.separation import d_separated


def true_mag(dag: DAG, hidden: Iterable[str] = (), selected: Iterable[str] = ()) -> PAG:
    """The MAG of a DAG: every mark is known. `selected` are variables that decide which rows are seen.

    >>> confounded = DAG("abh", [("h", "a"), ("h", "b")])
    >>> true_mag(confounded, hidden="h").to_text()
    'a <-> b'
    """
    dag = require_dag(dag)
    apart, chosen = set(hidden), sorted(set(selected))
    for name in (*apart, *chosen):
        dag.index(name)
    if apart & set(chosen):
        raise GraphError(f"'{min(apart & set(chosen))}' cannot be both hidden and selected by")
    seen = [name for name in dag.nodes if name not in apart and name not in chosen]
    causes = {name: {*dag.ancestors(name), name} for name in dag.nodes}
    behind = set().union(*(causes[name] for name in chosen))
    marks = np.full((len(seen), len(seen)), NONE, dtype=np.int8)
    for i, one in enumerate(seen):
        for j, other in enumerate(seen[:i]):
            given = (causes[one] | causes[other] | behind) & set(seen) - {one, other}
            if not d_separated(dag, one, other, [*given, *chosen]):
                marks[j, i] = TAIL if one in causes[other] | behind else ARROW
                marks[i, j] = TAIL if other in causes[one] | behind else ARROW
    return PAG.from_numpy(marks, seen)


def true_pag(dag: DAG, hidden: Iterable[str] = (), selected: Iterable[str] = ()) -> PAG:
    """Return the PAG of a DAG: a mark is a circle where independences do not determine it.

    Parameters
    ----------
    dag : DAG
        The true graph.
    hidden : names, optional
        Variables that are not observed; none by default.
    selected : names, optional
        Variables that decide which rows are observed; none by default.

    Returns
    -------
    PAG
        Over the other variables.

    Examples
    --------
    >>> print(true_pag(DAG("abch", [("a", "b"), ("h", "b"), ("h", "c")]), hidden="h").to_text())
    a o-> b
    c o-> b
    """
    return pag_of_mag(true_mag(dag, hidden, selected))


def pag_of_mag(mag: PAG) -> PAG:
    """The marks that all MAGs with the independences of this one have in common."""
    known = EndMarks(mag.to_numpy() != NONE)
    matrix = mag.to_numpy()
    for a, b, c in unshielded_triples(known):
        if matrix[a, b] == matrix[c, b] == ARROW:
            known.put_arrow(a, b)
            known.put_arrow(c, b)

    def separates(d: int, b: int, c: int) -> bool:  # noqa: ARG001 - b is on a discriminating path from d
        return bool(matrix[c, b] == TAIL)

    apply_rules(known, settle_by(separates), selection=True)
    return PAG.from_numpy(known.to_numpy(), mag.nodes)
