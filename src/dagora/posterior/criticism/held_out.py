"""Held-out log-likelihood of a graph by cross-validation, beside other graphs.

The rows are split into folds. Parameters are fitted to all folds but one, and the log-likelihood of each row
left out is taken, for the graph, the empty graph, the graph that tabu search finds on the same training rows,
and random graphs with as many edges. Differences are per row, with the standard error of their mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError
from dagora.data.designed import DesignedTable
from dagora.data.interventions import Interventions
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.graph.random_graphs import random_dag
from dagora.learners.run import Run
from dagora.learners.search.greedy.hill_climb import tabu_search
from dagora.network.fit import fit
from dagora.network.likelihood import log_likelihoods
from dagora.network.table_prior import PseudoCount
from dagora.scores.registry import default_score
from dagora.stats.designed import DesignStatistics
from dagora.stats.interventional import InterventionalStatistics
from dagora.stats.statistics import Statistics
from dagora.stats.table import TableStatistics

Floats = NDArray[np.float64]
# Random graphs, and the fewer of them on more columns than this.
RANDOM_GRAPHS, FEW_GRAPHS, MANY_COLUMNS = 10, 4, 40
# Nats per row that are rounding.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Reference:
    """The lead of the graph over another one, in nats per row held out, with its standard error."""

    name: str
    difference: float
    error: float

    def to_text(self) -> str:
        """In words."""
        way = "more" if self.difference >= 0 else "less"
        return f"{abs(self.difference):.3f} ± {self.error:.3f} {way} than the {self.name}"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Log-likelihood of rows held out, in nats per row, and its difference to that of other graphs."""

    log_likelihood: float
    references: tuple[Reference, ...]
    folds: int
    random_graphs: int
    beaten: int  # random graphs with a lower log-likelihood

    def to_lines(self) -> list[str]:
        """In words."""
        whole = f"{self.log_likelihood:.3f}".replace("-", "−")
        lines = [f"rows held out ({self.folds} folds): log-likelihood {whole} per row (± standard error)"]
        lines += [f"  {reference.to_text()}" for reference in self.references]
        if self.random_graphs:
            lines[-1] += f", more than {self.beaten} of {self.random_graphs} of them"
        return lines


def hold_out(
    graph: DAG,
    table: Table | DesignedTable,
    marks: Interventions | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
) -> HeldOut:
    """Compare a graph with others on rows held out.

    A variable counts in rows in which it was not set (`marks`), in training rows and in those held out. Rows
    of one group are held out together; rows with weights count by these.

    >>> x = np.random.default_rng(0).normal(size=(2, 200))
    >>> rows = Table.from_numpy(np.stack([x[0], x[0] + x[1]], axis=1), names="ab")
    >>> [one.name for one in hold_out(DAG("ab", ["ab"]), rows).references]
    ['empty graph', 'tabu graph', 'mean of random graphs']
    """
    rng = np.random.default_rng(seed)
    size = len(graph)
    many = RANDOM_GRAPHS if size <= MANY_COLUMNS else FEW_GRAPHS
    degree = len(graph.edges) / size
    drawn = [random_dag("er", size, degree, rng, exact=True).to_numpy() for _ in range(many)]
    drawn_graphs = [DAG.from_numpy(matrix, graph.nodes) for matrix in drawn]
    own, empty, tabu = (np.empty(table.n_rows) for _ in range(3))
    random = np.full((many, table.n_rows), np.nan)
    units = Units.of(table)
    if units.number < folds:
        raise DataError(f"{units.number} groups of rows are too few for {folds} folds")
    part = (rng.permutation(units.number) % folds)[units.of_row]
    for fold in range(folds):
        rows, left = np.flatnonzero(part == fold), np.flatnonzero(part != fold)
        training: Statistics
        if isinstance(table, DesignedTable):
            training, others = DesignStatistics(table.take(left)), table.take(rows).table
        else:
            training, others = TableStatistics(table.take(left)), table.take(rows)
            if marks is not None:
                training = InterventionalStatistics(table.take(left), marks.take(left))
        judge = Judge(training, others, None if marks is None else marks.take(rows))
        own[rows] = judge.rate(graph)
        empty[rows] = judge.rate(DAG(graph.nodes))
        tabu[rows] = judge.rate(judge.search())
        for k, other in enumerate(drawn_graphs):
            try:
                random[k, rows] = judge.rate(other)
            except DataError:  # such as tables of too many cells
                continue
    random = random[~np.isnan(random).any(axis=1)]
    references = [reference("empty graph", own - empty, units), reference("tabu graph", own - tabu, units)]
    if len(random):
        references.append(reference("mean of random graphs", own - random.mean(axis=0), units))
    mean = units.mean(own)
    beaten = int((np.array([units.mean(one) for one in random]) < mean - SAME).sum())
    return HeldOut(mean, tuple(references), folds, len(random), beaten)


@dataclass(frozen=True)
class Units:
    """The parts that are held out whole, rows or groups of them, by the numbers `of_row`."""

    of_row: NDArray[np.int64]
    number: int
    weights: Floats | None = None

    @classmethod
    def of(cls, table: Table | DesignedTable) -> Units:
        """Rows by themselves, but for those that belong to groups."""
        design = table.design if isinstance(table, DesignedTable) else None
        if design is None or design.groups is None:
            rows = np.arange(table.n_rows)
            return cls(rows, table.n_rows, None if design is None else design.weights)
        groups = np.unique(design.groups, return_inverse=True)[1].reshape(-1)
        return cls(groups, int(groups.max()) + 1, design.weights)

    def mean(self, values: Floats) -> float:
        """The mean of a value of each row."""
        return float(values.mean() if self.weights is None else np.average(values, weights=self.weights))

    def error(self, values: Floats) -> float:
        """The standard error of that mean: by the spread between rows, or of the sums of groups.

        >>> Units(np.array([0, 1, 2, 3]), 4).error(np.array([1.0, 2.0, 3.0, 4.0])).__round__(3)
        0.645
        """
        if self.weights is None and self.number == len(values):
            return float(values.std(ddof=1) / np.sqrt(len(values)))
        weights = np.ones(len(values)) if self.weights is None else self.weights
        sums = np.bincount(self.of_row, weights * (values - self.mean(values)))
        return float(np.sqrt(self.number / (self.number - 1) * (sums**2).sum()) / weights.sum())


class Judge:
    """Fits graphs to training rows and rates them on others."""

    def __init__(self, training: Statistics, others: Table, marks: Interventions | None) -> None:
        self.training, self.others, self.marks = training, others, marks
        continuous = all(variable.kind is Kind.CONTINUOUS for variable in others.schema)
        self.pseudocount: PseudoCount = 0.0 if continuous else "one-row"

    def rate(self, graph: DAG) -> Floats:
        """The log-likelihood of each of the other rows."""
        network = fit(graph, self.training, pseudocount=self.pseudocount)
        return log_likelihoods(network, self.others, self.marks)

    def search(self) -> DAG:
        """The graph that tabu search finds on the training rows."""
        score = default_score(self.training.schema).make(self.training)
        found = tabu_search(score, Run()).plain_graph
        assert isinstance(found, DAG)
        return found


def reference(name: str, differences: Floats, units: Units) -> Reference:
    """The mean of differences between rows, with its standard error."""
    return Reference(name, units.mean(differences), units.error(differences))
