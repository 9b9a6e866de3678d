"""One release, from rows to statistics: a site's sums, its noise, and the statistics of the total.

    part of a site   = features(terms, schema, columns) + site_noise(key, terms, feature_size(terms, schema))
    statistics       = noisy_statistics(terms, schema, ranges, sum of the parts)

The noise follows from the key: asked again for the same release, a site gives the same answer, and nothing
can be averaged away. A key must never serve two releases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import DataError, OptionError
from dagora.data.accepting import as_table
from dagora.data.columns.levels import level_name
from dagora.data.columns.reading_options import ReadingOptions
from dagora.data.schema import Kind, Schema, Variable
from dagora.data.table import Table
from dagora.parties.privacy.discrete_gaussian import discrete_gaussian
from dagora.parties.privacy.moment_features import BITS, Range, feature_count, moment_features
from dagora.parties.privacy.noisy_moments import NoisyMoments
from dagora.parties.privacy.noisy_pairs import NoisyPairs, pairs_of
from dagora.parties.privacy.terms import PrivacyTerms, agree_on_terms, require_kind
from dagora.stats.fixed_point import quantise


def feature_size(terms: PrivacyTerms, schema: Schema) -> int:
    """The number of released sums, without computing any."""
    require_fit(terms, schema)
    if terms.release == "moments":
        return feature_count(len(schema))
    sizes = [int(size) for size in schema.cardinalities]
    if terms.release == "table":
        return math.prod(sizes)
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def features(terms: PrivacyTerms, schema: Schema, columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """The sums over some rows; the columns are codes (pairs) or quantised values (moments)."""
    require_fit(terms, schema)
    if terms.release == "moments":
        return moment_features(np.stack(columns, axis=1).astype(np.int64), terms.row_bound or 0.0)
    sizes = [int(size) for size in schema.cardinalities]
    codes = [np.asarray(column).astype(np.int64) for column in columns]
    tables = [
        np.bincount(codes[i] * sizes[j] + codes[j], minlength=sizes[i] * sizes[j])
        for i, j in pairs_of(len(sizes))
    ]
    return np.concatenate(tables).astype(np.int64)


def site_noise(key: bytes, terms: PrivacyTerms, size: int) -> NDArray[np.int64]:
    """The noise that a site adds to its part, from its secret key of 32 bytes for this release.

    >>> terms = PrivacyTerms("pairs", columns=3, sites=1, epsilon=1.0, delta=1e-6, colluders=0)
    >>> site_noise(bytes(32), terms, 4)
    array([-5,  0,  2,  7])
    """
    return discrete_gaussian(key, terms.sigma2_site, size)


def noisy_statistics(
    terms: PrivacyTerms, schema: Schema, ranges: Sequence[Range] | None, summed: NDArray[np.int64]
) -> NoisyPairs | NoisyMoments:
    """Make statistics of the sum of all parts; `ranges` are those of continuous columns."""
    require_fit(terms, schema)
    if terms.release == "pairs":
        return NoisyPairs(terms, schema, summed)
    return NoisyMoments(terms, schema, require_ranges(schema, ranges), summed)


def release(
    data: object,
    key: bytes,
    *,
    levels: Mapping[str, Sequence[object]] | None = None,
    ranges: Mapping[str, Range] | None = None,
    **options: object,
) -> NoisyPairs | NoisyMoments:
    """Release one table with noise: statistics that `learn` takes, and that may be shown.

    Discrete columns give pair tables and need their `levels`, continuous ones give moments and need a range
    (low, high) each. Both are chosen without looking at the rows: a level that is there because one person
    has it would give that person away, whatever the noise. Options are those of privacy (`epsilon`, `delta`,
    `rows_per_person`, `row_bound`). Levels are public, and so are the names of the columns.

    >>> import dagora
    >>> table = {"a": [0, 1] * 50_000, "b": [0, 1] * 50_000, "c": [0, 0, 1, 1] * 25_000}
    >>> statistics = release(table, bytes(32), levels=dict.fromkeys("abc", (0, 1)), epsilon=1.0)
    >>> result = dagora.learn(statistics)
    >>> result.graph.edges, abs(statistics.n_rows - 100_000) < 100
    ((('a', 'b'),), True)
    """
    declared = {name: tuple(level_name(level) for level in own) for name, own in (levels or {}).items()}
    given = ranges or {}
    table = as_table(
        data,
        None
        if isinstance(data, Table)
        else ReadingOptions(
            discrete=tuple(declared), continuous=tuple(given), wanted=(*declared, *given), levels=declared
        ),
    )
    schema, columns = in_declared_levels(table, declared)
    terms = agree_on_terms(schema, 1, **options)
    listed = None
    if terms.release == "moments":
        listed = require_ranges(schema, [given[name] for name in schema.names if name in given])
        columns = [quantise(column, *limits, BITS) for column, limits in zip(columns, listed, strict=True)]
    part = features(terms, schema, columns)
    return noisy_statistics(terms, schema, listed, part + site_noise(key, terms, len(part)))


def in_declared_levels(
    table: Table, levels: Mapping[str, tuple[str, ...]]
) -> tuple[Schema, list[NDArray[Any]]]:
    """The columns with the codes of declared levels; a value that is none of them is refused."""
    variables, columns = [], []
    for variable, column in zip(table.schema, table.columns, strict=True):
        own = levels.get(variable.name)
        if own is None and variable.kind is Kind.DISCRETE:
            raise OptionError(
                f"'{variable.name}' is discrete and needs its levels, chosen without looking at the rows "
                "(levels={...}): one that only one person has would give that person away"
            )
        if own is None:
            variables.append(variable)
            columns.append(column)
            continue
        if variable.kind is not Kind.DISCRETE:
            raise DataError(f"'{variable.name}' has levels and holds numbers: give it a range instead")
        if len(set(own)) < max(2, len(own)):
            raise OptionError(f"the levels of '{variable.name}' must be two or more, each once")
        unknown = next((level for level in variable.levels if level not in own), None)
        if unknown is not None:
            raise DataError(f"'{variable.name}' has the value '{unknown}', which is none of its levels")
        code = np.array([own.index(level) for level in variable.levels] or [0], dtype=np.uint16)
        variables.append(Variable(variable.name, Kind.DISCRETE, own))
        columns.append(code[column.astype(np.int64)])
    return Schema(variables), columns


def require_fit(terms: PrivacyTerms, schema: Schema) -> None:
    """Refuse terms that were made for other columns."""
    require_kind(schema, terms.release)
    if len(schema) != terms.columns:
        raise DataError(f"the terms of privacy are for {terms.columns} columns, not for {len(schema)}")


def require_ranges(schema: Schema, ranges: Sequence[Range] | None) -> Sequence[Range]:
    """Refuse continuous columns without a range each."""
    wanted = sum(variable.kind is Kind.CONTINUOUS for variable in schema)
    if ranges is None or len(ranges) != wanted:
        raise OptionError(
            f"{wanted} continuous columns need a range (low, high) each, chosen without looking at the rows"
        )
    for variable, (low, high) in zip(schema, ranges, strict=True):
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise OptionError(
                f"the range of '{variable.name}' must rise, from low to high: not {low} to {high}"
            )
    return ranges
