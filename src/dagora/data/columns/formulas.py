"""A warning about columns that are products or quotients of two others: a body mass index, a rate, a change.

The logarithm of such a column is a sum of multiples of the logarithms of two others, with simple factors. For
every column and every pair of others, the share of variance that the pair explains follows from three
correlations: (r₁² + r₂² − 2 r₁ r₂ r₁₂) / (1 − r₁₂²).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.base.phrases import some_of
from dagora.base.wording import option
from dagora.data.columns.column_type import Column
from dagora.data.schema import Kind

Floats = NDArray[np.float64]

MOST_COLUMNS = 60  # whose products are looked for: the work grows with the cube
FEWEST_ROWS = 30
MOST_ROWS = 10_000  # evenly spaced, that are looked at
EXPLAINED = 0.999  # of the variance of the logarithm; rounding leaves the rest
POWERS = (0.5, 1.0, 2.0, 3.0)
NEAR = 0.04  # of a power, by which a factor may miss it
MOST_NAMED = 3  # formulas that a warning names
LEAST_SIGNED = 0.05  # share of the rows in which a number has either sign, for its logarithm to say little
PRODUCT = 0.9999  # correlation of a product with what is computed from it; rounding leaves the rest
PRODUCT_ROWS = 1000  # evenly spaced, in which products are looked for


def formula_warning(typed: Sequence[Column]) -> Iterator[str]:
    """A sentence about columns that follow from two others."""
    found = [*find_formulas(typed), *find_signed_products(typed)]
    if found:
        drop = found[0][0]
        yield (
            f"columns that are computed from others: {some_of([told for _, told in found], MOST_NAMED)}; "
            "arrows among such columns are the formula's, and a straight line is only near it: leave one out "
            f"({option('drop', drop)})"
        )


def find_formulas(typed: Sequence[Column]) -> list[tuple[str, str]]:
    """Products of powers of two columns, each with its formula; the last column of the three is named.

    >>> from dagora.data.schema import Variable
    >>> rng = np.random.default_rng(0)
    >>> height, weight = rng.normal(1.7, 0.1, 200), rng.normal(70, 9, 200)
    >>> named = {"height": height, "weight": weight, "bmi": weight / height**2}
    >>> find_formulas([Column(Variable(name, Kind.CONTINUOUS), values) for name, values in named.items()])
    [('bmi', "'bmi' as 'weight' / 'height'²")]
    """
    names, logs = logarithms(typed)
    if not 3 <= len(names) <= MOST_COLUMNS:
        return []
    correlation: Floats = np.asarray(np.corrcoef(logs))
    sds = logs.std(axis=1)
    distinct = np.abs(correlation) < EXPLAINED
    found: dict[frozenset[int], tuple[str, str]] = {}
    for target in reversed(range(len(names))):
        own = correlation[target]
        free = 1 - correlation**2
        with np.errstate(divide="ignore", invalid="ignore"):
            explained = (own[:, None] ** 2 + own**2 - 2 * np.outer(own, own) * correlation) / free
        usable = distinct & np.outer(distinct[target], distinct[target])
        for i, j in np.argwhere(np.triu(usable & (explained > EXPLAINED), 1)):
            factors = np.array([own[i] - own[j] * correlation[i, j], own[j] - own[i] * correlation[i, j]])
            factors *= sds[target] / sds[[i, j]] / free[i, j]
            powers = [nearest_power(factor) for factor in factors.tolist()]
            three = frozenset((target, int(i), int(j)))
            if all(powers) and three not in found:
                found[three] = names[target], describe(names[target], [names[i], names[j]], powers)
    return list(found.values())


def find_signed_products(typed: Sequence[Column]) -> list[tuple[str, str]]:
    """Products of two columns, one of which at least has values of both signs; as `find_formulas` has them.

    >>> from dagora.data.schema import Variable
    >>> x, y = np.random.default_rng(0).normal(size=(2, 200))
    >>> named = {"x": x, "y": y, "z": 3 * x * y}
    >>> find_signed_products([Column(Variable(name, Kind.CONTINUOUS), one) for name, one in named.items()])
    [('z', "'z' as 'x' · 'y'")]
    """
    usable = [one for one in typed if one.variable.kind is Kind.CONTINUOUS and one.missing is None]
    if not 3 <= len(usable) <= MOST_COLUMNS or len(usable[0].values) < FEWEST_ROWS:
        return []
    values = np.array([column.values[:: -(-len(column.values) // PRODUCT_ROWS)] for column in usable])
    with np.errstate(over="ignore", invalid="ignore"):
        signed = np.minimum((values > 0).mean(axis=1), (values < 0).mean(axis=1)) >= LEAST_SIGNED
        scaled = values / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    columns = standardised(scaled)
    names = [column.variable.name for column in usable]
    found: dict[frozenset[int], tuple[str, str]] = {}
    for i in np.flatnonzero(signed):
        likeness = np.abs(standardised(scaled * scaled[i]) @ columns.T)
        likeness[np.abs(columns @ columns.T) > EXPLAINED] = 0.0  # a copy of a factor
        likeness[:, np.abs(columns @ columns[i]) > EXPLAINED] = 0.0
        for j, target in np.argwhere(likeness > PRODUCT):
            three = frozenset((int(i), int(j), int(target)))
            if len(three) == 3 and three not in found:
                told = describe(names[target], [names[i], names[j]], [1.0, 1.0])
                found[three] = names[target], told
    return list(found.values())


def standardised(rows: Floats) -> Floats:
    """Rows of numbers with mean 0 and length 1; zeros where nothing changes."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(centred / np.where(lengths > 0, lengths, 1.0))


def logarithms(typed: Sequence[Column]) -> tuple[list[str], Floats]:
    """Positive columns on a logarithmic scale; changes in per cent as factors."""
    names, logs = [], []
    for column in typed:
        if column.variable.kind is not Kind.CONTINUOUS or column.missing is not None:
            continue
        values = column.values[:: -(-len(column.values) // MOST_ROWS)]
        if len(values) < FEWEST_ROWS or not np.ptp(values) > 0 or values.min() <= -100:
            continue
        if values.min() <= 0:
            if "change" not in (name := column.variable.name.lower()) and not name.endswith(
                ("pct", "percent")
            ):
                continue
            values = 1 + values / 100
        names.append(column.variable.name)
        logs.append(np.log(values))
    return names, np.array(logs)


def nearest_power(factor: float) -> float:
    """The simple power that a factor is near to; 0 where there is none.

    >>> nearest_power(-1.98), nearest_power(0.7)
    (-2.0, 0.0)
    """
    power = min(POWERS, key=lambda one: abs(abs(factor) - one))
    return float(np.copysign(power, factor)) if abs(abs(factor) - power) <= NEAR * power else 0.0


def describe(name: str, others: Sequence[str], powers: Sequence[float]) -> str:
    """The formula in signs.

    >>> describe("rate", ["cases", "people"], [1.0, -1.0]), describe("area", ["a", "b"], [1.0, 0.5])
    ("'rate' as 'cases' / 'people'", "'area' as 'a' · √'b'")
    """
    signs = {0.5: "√'{}'", 1.0: "'{}'", 2.0: "'{}'²", 3.0: "'{}'³"}
    above = [signs[p].format(one) for one, p in zip(others, powers, strict=True) if p > 0]
    below = [signs[-p].format(one) for one, p in zip(others, powers, strict=True) if p < 0]
    return f"'{name}' as {' · '.join(above) or '1'}" + "".join(f" / {one}" for one in below)
