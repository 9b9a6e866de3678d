"""Tables for samplers: the weights of all families of a search space, and their sums over subsets.

The weight of a family is exp(score + log prior). Child i has one row of 2^k entries for the subsets of its
core, and one more row for each extra parent, whose families are a core subset with that parent. A second
table holds for each mask the log of the sum of the weights of all its subsets in that row (zeta transform),
so that the total weight of the families permitted by an order takes a few look-ups (Friedman & Koller 2003;
Kuipers, Suter & Moffa 2022). Knowledge enters here: a family that it excludes has weight zero.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagora.base.errors import OptionError
from dagora.base.options import GIBIBYTE
from dagora.graph.knowledge import Knowledge
from dagora.kernels.decorators import kernel
from dagora.kernels.rows import copy_row
from dagora.kernels.threads import Threads
from dagora.learners.run import Run
from dagora.posterior.log_sums import sum_over_subsets
from dagora.posterior.space.family_scoring import FamilyLayout, score_families
from dagora.posterior.space.priors import GraphPrior
from dagora.posterior.space.space import Space
from dagora.scores.local_score import LocalScore

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Three doubles: the weight, its sum over subsets, and that sum scaled (`lookup`).
BYTES_PER_ENTRY = 24


class FamilyTables(NamedTuple):
    """Weights of all families, as kernels take them.

    Row r of child i begins at `starts[i] + (r << sizes[i])`: row 0 has the subsets of the core, row 1 + e
    the same with the parent `extras[i, e]`. Bit c of a mask stands for `cores[i, c]`.
    """

    cores: Ints
    sizes: Ints
    extras: Ints
    counts: Ints
    starts: Ints
    log_weights: Floats
    log_sums: Floats


def family_tables(
    score: LocalScore, space: Space, prior: GraphPrior, run: Run, *, memory: float = 4.0
) -> FamilyTables:
    """Score every family that the space and the knowledge permit; `memory` in GiB bounds the tables."""
    tables, missing = family_tables_in_time(score, space, prior, run, memory=memory)
    if missing:
        raise OptionError(f"{run.budget.reason} before all families were scored ({missing}): allow more time")
    return tables


def family_tables_in_time(
    score: LocalScore, space: Space, prior: GraphPrior, run: Run, *, memory: float = 4.0
) -> tuple[FamilyTables, str]:
    """Score the families, small ones first; also return which were left out, "" if time sufficed for all."""
    names = score.schema.names
    layout = permitted_families(space, run.knowledge, names)
    entries = sum((1 + len(extra)) << len(core) for core, extra in layout.rows)
    needed = entries * BYTES_PER_ENTRY / GIBIBYTE
    if needed > memory:
        widest = max(range(len(names)), key=lambda i: len(layout.cores[i]))
        raise OptionError(
            f"the search space has {entries:,} families, whose tables need {needed:.3g} GiB; option 'memory' "
            f"allows {memory:g}: choose a narrower space ('{names[widest]}' alone has "
            f"{len(layout.cores[widest])} parents in any combination), forbid edges, or allow more memory"
        )
    tables = empty_tables(layout)
    missing = score_families(score, layout, prior, run, tables.starts, tables.log_weights)
    with Threads(run.jobs) as threads:
        threads.map(lambda child: fill_log_sums(tables, child), range(len(names)))
    return tables, missing


def permitted_families(space: Space, knowledge: Knowledge, names: tuple[str, ...]) -> FamilyLayout:
    """Remove forbidden parents from a space, and add required ones to the cores."""
    forbidden = knowledge.forbidden_matrix(names)
    needed = knowledge.required_matrix(names)
    required = tuple(tuple(np.flatnonzero(needed[:, i]).tolist()) for i in range(len(names)))
    cores = tuple(
        tuple(sorted({j for j in core if not forbidden[j, i]} | set(required[i])))
        for i, core in enumerate(space.cores)
    )
    extras = tuple(
        tuple(j for j in extra if not forbidden[j, i] and j not in cores[i])
        for i, extra in enumerate(space.extras)
    )
    most = len(names) - 1 if knowledge.max_parents is None else min(knowledge.max_parents, len(names) - 1)
    return FamilyLayout(cores, extras, required, most)


def empty_tables(layout: FamilyLayout) -> FamilyTables:
    """Tables of a layout in which every family has weight zero."""
    blocks = [(1 + len(extra)) << len(core) for core, extra in layout.rows]
    starts = np.array([0, *itertools.accumulate(blocks)], dtype=np.int64)
    return FamilyTables(
        cores=pad_lists(layout.cores),
        sizes=np.array([len(core) for core in layout.cores], dtype=np.int64),
        extras=pad_lists(layout.extras),
        counts=np.array([len(extra) for extra in layout.extras], dtype=np.int64),
        starts=starts[:-1].copy(),
        log_weights=np.full(starts[-1], -np.inf),
        log_sums=np.full(starts[-1], -np.inf),
    )


def pad_lists(lists: tuple[tuple[int, ...], ...]) -> Ints:
    """Rows of different lengths as one array, filled up with −1."""
    rows = np.full((len(lists), max(1, *map(len, lists), 1)), -1, dtype=np.int64)
    for row, values in zip(rows, lists, strict=True):
        row[: len(values)] = values
    return rows


@kernel
def fill_log_sums(tables: FamilyTables, child: int) -> None:
    """Fill the `log_sums` of a child from its `log_weights`, row by row."""
    size = tables.sizes[child]
    for row in range(1 + tables.counts[child]):
        start = tables.starts[child] + (row << size)
        stop = start + (1 << size)
        copy_row(tables.log_weights[start:stop], tables.log_sums[start:stop])
        sum_over_subsets(tables.log_sums[start:stop])
