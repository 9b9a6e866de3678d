"""Tables 3 and 4: in how many data sets RBNets finds a network of higher BIC than others, and by how much.

Table 3: two random halves of every table with unknown structure. Table 4: the first 200 to 5000 rows of
samples of five networks. `categories` makes the tables; the null models among the contenders say what 300
orders are worth without any learning.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.rbnets.categories import chart, counts_table, quality_table, seconds_table
from dagora.papers.rbnets.contenders import (
    CLIMB,
    LONGER,
    NULL_MODELS,
    RANDOMISED,
    SETS,
    contender_cells,
    measure_cell,
)
from dagora.papers.rbnets.data_sets import DATA_SETS, KEPT
from dagora.papers.rbnets.published import KNOWN_STRUCTURES, UNKNOWN_STRUCTURES
from dagora.papers.rbnets.spreads import by_data_set
from dagora.papers.reports import Report, paragraphs

# By hand: the paper does not say how many runs it had.
QUICK_RUNS, FULL_RUNS = 2, 10
WIDE_RUNS = 1  # of data sets from 500 variables on
LIMIT = 600.0  # seconds after which a search ends
WIDE_LIMIT = 43_200.0  # the paper's 12 h (section 4.5), from 500 variables on
# Section 4.6 has the halves and the full rows; the quick size is by hand.
QUICK_VARIABLES = 45
HALVES = (0, 1)
QUICK_NETWORKS = ("water*", "alarm*", "hailfinder*")
QUICK_ROWS, FULL_ROWS = (200, 1000), (200, 500, 1000, 2000, 3000, 5000)
TOO_FEW = ("horse colic",)  # 6 rows are complete: their halves say nothing

COMMON_NOTES = paragraphs("""
ΔBIC is the median BIC over seeds of the method named first, less that of its opponent, on one data set; the
counts say in how many data sets it falls where. Very: beyond 10; strongly: 6 to 10; positive or negative: 2
to 6; neutral: −2 to 2. The paper's counts are of 30 data sets; of how many runs, it does not say.

What each was given, parent sets found. GHC: one climb from the empty graph. OBS: 300 random orders, swaps
from each until 100 in a row gain nothing; “longer”: 1000 orders per variable. ASOBS: 20 000 random orders;
“longer”: 20 000 per variable. RBNets: Algorithm 1 of the paper (`published=true`), 300 episodes, states from
random walks (figure 1b), scores as rewards (equation 7); how walks make states, the network's size and the
bonus of an untried action are not printed and ours; the best order seen counts (or the greedy policy's, where
that is better), and in a line of its own the order of the greedy policy at the end. “walk, gains” and “set,
gains” are the same but for rewards that are scaled gains over no parents, and for states that are plain sets.
RBNets improved: at most 300 episodes, seeded and polished by order search. order-search: 4 chains until 2000
disturbances in a row gain nothing. Null models: 300 random orders, as they are or each followed by one
descent of insertions. No search may take longer than 600 s (OT marks those that did).
The paper does not say what its OBS and ASOBS were given. The “longer” ones still take less time than RBNets'
episodes do; the last table has the CPU seconds.

Read the three lines of RBNets alone against “300 random orders”, which tries as many orders and learns
nothing, and RBNets improved against “300 descents” and order-search, which do without a network.

RL-BIC is in `rbnets/table2-rl-bic`; its column is the paper's. Columns of the paper are those of its
tables 3 and 4.
""")
TABLE3_NOTES = paragraphs("""
The paper halves 15 tables, which makes 30 data sets. Of these 28 can be had (with --full): wikipedia is not
among the data. From 500 variables on there is one run of each, 12 h at most, without the “longer” searches.
Rows with missing
cells are kept, missing being a level of its own, which gives the paper's row counts; below, the same for
the reading of the paper's text, rows removed, where that leaves more than a few (horse colic: 6 complete
rows). The division into halves is random with seed 0.
""")
TABLE4_NOTES = paragraphs("""
The five networks, one sample of 5000 rows each (seed 0), of which the first 200, 500, 1000, 2000, 3000 and
5000 are the data sets: 30, as in the paper (quick: 6). The network here called hepar has 70 variables; the
paper has 72.
""")


def table3(size: Size) -> Experiment:
    """Make table 3; cells of a data set follow each other, small ones first."""
    chosen = [
        entry
        for entry in DATA_SETS.values()
        if not entry.is_sampled and (size.full or entry.variables <= QUICK_VARIABLES)
    ]
    given: list[Parameters] = [
        {"data": entry.name, "reading": reading, "half": half}
        for entry in chosen
        for reading in entry.readings
        if reading == KEPT or entry.name not in TOO_FEW
        for half in HALVES
    ]
    needs = tuple(entry.source for entry in chosen)
    return Experiment("rbnets/table3", cells_of(given, size), measure_cell, report3, needs=needs)


def table4(size: Size) -> Experiment:
    """Make table 4; small samples first."""
    names = [entry.name for entry in DATA_SETS.values() if entry.is_sampled]
    chosen = [name for name in names if size.full or name in QUICK_NETWORKS]
    given: list[Parameters] = [
        {"data": name, "rows": rows} for rows in (FULL_ROWS if size.full else QUICK_ROWS) for name in chosen
    ]
    needs = tuple(DATA_SETS[name].source for name in chosen)
    return Experiment("rbnets/table4", cells_of(given, size), measure_cell, report4, needs=needs)


def cells_of(given: Sequence[Parameters], size: Size) -> tuple[Parameters, ...]:
    """The cells of some data sets: parent sets, hill climbing once, the others with every seed."""
    cells: list[Parameters] = []
    for data in given:
        wide = DATA_SETS[str(data["data"])].wide
        limit = WIDE_LIMIT if wide else LIMIT
        cells += contender_cells(data, SETS)
        cells += contender_cells(data, CLIMB, limit=limit, seed=size.seed)
        randomised = {**RANDOMISED, **({} if wide else LONGER), **NULL_MODELS}
        for seed in size.seeds(QUICK_RUNS, WIDE_RUNS if wide else FULL_RUNS):
            cells += contender_cells(data, randomised, limit=limit, seed=seed)
    return tuple(cells)


def report3(cells: Sequence[MeasuredCell]) -> Report:
    """Counts under both readings, and every data set."""
    found = by_data_set(cells)
    kept = {key: contenders for key, contenders in found.items() if key[1] == KEPT}
    removed = {key: contenders for key, contenders in found.items() if key[1] != KEPT}
    tables = [counts_table("counts", "ΔBIC, unknown structures, rows kept", kept, UNKNOWN_STRUCTURES)]
    if removed:
        tables.append(counts_table("removed", "ΔBIC, unknown structures, rows removed", removed, {}))
    title = "RBNets, table 3: ΔBIC in unknown structures"
    return Report(
        "rbnets/table3: BIC against other methods, unknown structures",
        (*tables, quality_table(found), seconds_table(found)),
        {"differences": chart(kept, UNKNOWN_STRUCTURES, title)},
        (*COMMON_NOTES, *TABLE3_NOTES),
    )


def report4(cells: Sequence[MeasuredCell]) -> Report:
    """Counts, and every data set."""
    found = by_data_set(cells)
    title = "RBNets, table 4: ΔBIC in known structures"
    return Report(
        "rbnets/table4: BIC against other methods, known structures",
        (
            counts_table("counts", "ΔBIC, known structures", found, KNOWN_STRUCTURES),
            quality_table(found),
            seconds_table(found),
        ),
        {"differences": chart(found, KNOWN_STRUCTURES, title)},
        (*COMMON_NOTES, *TABLE4_NOTES),
    )
