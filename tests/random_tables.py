"""Small random tables and graphs, made without the library's own readers."""

import numpy as np

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.graph.dag import DAG


def discrete_table(columns, cardinalities, names=None):
    """Columns of codes as a table; the cardinalities are declared, whether all levels occur or not."""
    variables = [
        Variable(name, Kind.DISCRETE, tuple(f"{level:05d}" for level in range(cardinality)))
        for name, cardinality in zip(names or variable_names(len(columns)), cardinalities, strict=True)
    ]
    return Table(Schema(variables), tuple(np.array(column, dtype=np.uint16) for column in columns))


def continuous_table(rows, names=None):
    """A matrix of rows as a table of continuous columns."""
    matrix = np.asarray(rows, dtype=np.float64)
    variables = [Variable(name, Kind.CONTINUOUS) for name in names or variable_names(matrix.shape[1])]
    return Table(Schema(variables), tuple(np.ascontiguousarray(column) for column in matrix.T))


def variable_names(count):
    return [f"x{i}" for i in range(count)]


def random_discrete(rng, rows, cardinalities):
    """Columns that depend on the ones before them, so that scores prefer some edges."""
    columns = []
    for position, cardinality in enumerate(cardinalities):
        column = rng.integers(0, cardinality, rows)
        if position:
            copied = rng.random(rows) < 0.6
            source = columns[rng.integers(0, position)]
            column[copied] = source[copied] % cardinality
        columns.append(column)
    order = rng.permutation(len(columns))
    return discrete_table([columns[i] for i in order], [cardinalities[i] for i in order])


def random_continuous(rng, rows, columns):
    """Rows of a linear model over a random triangular matrix, columns shuffled."""
    weights = np.triu(rng.normal(size=(columns, columns)) * (rng.random((columns, columns)) < 0.6), 1)
    noise = rng.normal(size=(rows, columns))
    sample = noise @ np.linalg.inv(np.eye(columns) - weights)
    return continuous_table(sample[:, rng.permutation(columns)])


def random_mixed(rng, rows, kinds):
    """Columns of these kinds, a number of levels or 0 for numbers, that depend on the ones before them."""
    signal, variables, columns = np.zeros(rows), [], []
    for position, levels in enumerate(kinds):
        signal = signal * rng.uniform(-1, 1) + rng.normal(size=rows)
        if levels:
            cuts = np.quantile(signal, np.arange(1, levels) / levels)
            variables.append(
                Variable(f"x{position}", Kind.DISCRETE, tuple(f"{k:05d}" for k in range(levels)))
            )
            columns.append(np.searchsorted(cuts, signal).astype(np.uint16))
        else:
            variables.append(Variable(f"x{position}", Kind.CONTINUOUS))
            columns.append(signal + 0.1 * signal**2)
    return Table(Schema(variables), tuple(columns))


def random_dag(rng, size, density=0.4, names=None):
    """A random graph whose order is hidden by a permutation."""
    matrix = np.triu(rng.random((size, size)) < density, 1)
    order = rng.permutation(size)
    return DAG.from_numpy(matrix[np.ix_(order, order)], names or variable_names(size))
