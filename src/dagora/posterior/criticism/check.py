"""A check of a graph against rows, and its record: all that was found out about how well they go together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from dagora.base.errors import DataError
from dagora.base.files import json_text
from dagora.data.designed import DesignedTable
from dagora.data.table import Table
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph
from dagora.graph.cpdag import CPDAG
from dagora.graph.drawing import clean_text
from dagora.learners.source import rows_set_in_words
from dagora.posterior.criticism.falsification import Falsification, falsify
from dagora.posterior.criticism.held_out import HeldOut, hold_out
from dagora.posterior.criticism.predictive import Predictive, predict
from dagora.posterior.criticism.single_change import MOST_COLUMNS, Change, best_changes
from dagora.scores.registry import default_score
from dagora.stats.capabilities import capabilities_of
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

MOST_CHANGES = 3  # that the text lists
# Rows beyond which those held out and simulated are drawn from the table.
MOST_ROWS = 100_000
# Fewer rows than these, in all and for each fold, tell nothing: a few columns explain them by chance.
LEAST_ROWS, ROWS_PER_FOLD = 20, 4


@dataclass(frozen=True, slots=True)
class Check:
    """A graph held against data: `to_text()` in words, `to_json()` with every number.

    `falsification` tests its independences, `held_out` rates it on rows held out beside other graphs,
    `predictive` compares the data with tables simulated from it, `changes` are the single changes that would
    raise the score `score`. A part that was not possible is None, and `notes` say why.

    >>> import dagora
    >>> rows = dagora.simulate(dagora.DAG("abc", ["ab"]), "gaussian", rows=200, seed=1).table
    >>> found = dagora.check(dagora.DAG("abc"), rows)
    >>> found.falsification.violated, found.changes[0].to_text()
    (1, 'add a → b: gains 101.7 nats')
    """

    graph: AnyGraph = field(repr=False)
    rows: int
    seed: int
    falsification: Falsification
    held_out: HeldOut | None = field(default=None, repr=False)
    predictive: Predictive | None = field(default=None, repr=False)
    changes: tuple[Change, ...] | None = field(default=None, repr=False)
    score: str | None = None
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        """The findings in words, a sentence a line."""
        lines = self.falsification.to_lines()
        if self.held_out is not None:
            lines += self.held_out.to_lines()
        if self.predictive is not None:
            lines += self.predictive.to_lines()
        if self.changes is not None:
            lines.append(self.best_change())
            lines += [f"  {change.to_text()}" for change in self.changes[:MOST_CHANGES]]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def best_change(self) -> str:
        """The sentence on whether a single change of the graph would raise the score."""
        if self.changes:
            return f"single changes that would raise the score ({self.score}) most:"
        return f"single changes: none would raise the score ({self.score})"

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        parts = {
            name: None if part is None else asdict(part)
            for name, part in (("held_out", self.held_out), ("predictive", self.predictive))
        }
        return {
            "rows": self.rows,
            "seed": self.seed,
            "falsification": {**asdict(self.falsification), "as_good": self.falsification.as_good},
            **parts,
            "changes": None if self.changes is None else [asdict(change) for change in self.changes],
            "score": self.score,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """All numbers as JSON text."""
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return f"<pre>{clean_text(self.to_text())}</pre>"


def check_rows(
    graph: AnyGraph, rows: Statistics, *, permutations: int, alpha: float, folds: int, seed: int
) -> Check:
    """Check a graph against rows that have a column for each of its nodes."""
    if isinstance(rows, DesignStatistics):
        statistics: Statistics = DesignStatistics(rows.designed.select(graph.nodes))
        table, marks = rows.designed.table, None
    else:
        table, marks = rows.rows(), capabilities_of(rows).interventions
        statistics = TableStatistics(table.select(graph.nodes))
        if marks is not None:
            statistics = InterventionalStatistics(table.select(graph.nodes), marks)
    if table.n_rows < LEAST_ROWS:
        raise DataError(f"{table.n_rows} rows are too few to check a graph: {LEAST_ROWS} or more are needed")
    table = table.select(graph.nodes)
    found = falsify(
        graph,
        statistics if marks is None else table,
        marks,
        permutations=permutations,
        alpha=alpha,
        seed=seed,
    )
    notes = [] if marks is None else [rows_set_in_words(marks)]
    notes += [statistics.effective.message] if isinstance(statistics, DesignStatistics) else []
    if isinstance(graph, PAG):
        notes += [
            "a PAG allows for hidden causes: it has no likelihood, and no rows can be simulated from it"
        ]
        return Check(graph, table.n_rows, seed, found, notes=tuple(notes))
    dag = graph.extension() if isinstance(graph, CPDAG) else graph
    some: Table | DesignedTable = table
    if isinstance(statistics, DesignStatistics):
        some = statistics.designed
    some_marks = marks
    if table.n_rows > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(table.n_rows, MOST_ROWS, replace=False))
        some, some_marks = some.take(chosen), None if marks is None else marks.take(chosen)
        notes.append(f"rows were held out and simulated for {MOST_ROWS} rows, drawn at random")
    held_out = predictive = None
    try:
        if table.n_rows < folds * ROWS_PER_FOLD:
            raise DataError(f"{table.n_rows} rows are too few for {folds} folds")
        held_out = hold_out(dag, some, some_marks, folds=folds, seed=seed)
    except DataError as error:
        notes.append(f"no rows were held out: {error}")
    try:
        if isinstance(some, DesignedTable):
            raise DataError("simulated rows are independent and count alike, and these are not")
        predictive = predict(dag, some, some_marks, seed=seed)
    except DataError as error:
        notes.append(f"no tables were simulated: {error}")
    entry = default_score(table.schema)
    changes = best_changes(entry.make(statistics), dag)
    if changes is None:
        notes.append(f"single changes are not tried with more than {MOST_COLUMNS} columns")
    return Check(graph, table.n_rows, seed, found, held_out, predictive, changes, entry.name, tuple(notes))
