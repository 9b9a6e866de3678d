"""Rows whose moments, or counts, are exactly those of a model: then an estimate is the truth itself."""

import numpy as np
import pandas as pd

from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table


def rows_with(covariances, rng, rows=40):
    """A table of continuous columns x0, x1, … with exactly these covariances."""
    size = len(covariances)
    noise = rng.standard_normal((rows, size))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / rows)).T
    values = white @ np.linalg.cholesky(covariances).T
    variables = [Variable(f"x{place}", Kind.CONTINUOUS) for place in range(size)]
    return Table(Schema(variables), tuple(np.ascontiguousarray(values.T)))


def table_of(**columns):
    """A table of columns of words and numbers, as they would be read."""
    return Table.from_frame(pd.DataFrame(columns))
