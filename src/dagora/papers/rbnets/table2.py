"""Table 2: seconds of every method on every data set but wikipedia, parent sets given and with them.

Beside ours is the paper's column, and beside the seconds the BIC that was reached for them. A search that its
time or memory ended is marked OT or OM, as in the paper, with what it can be from the optimum at most.
"""

from __future__ import annotations

from collections.abc import Sequence

from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.experiment import Experiment, Size
from dagora.papers.rbnets.contenders import (
    CLIMB,
    EXACT,
    IMPROVED,
    PARENT_SETS,
    PUBLISHED,
    RANDOMISED,
    SETS,
    contender_cells,
    measure_cell,
)
from dagora.papers.rbnets.data_sets import DATA_SETS, KEPT
from dagora.papers.rbnets.published import SECONDS_COLUMNS, seconds_in_paper
from dagora.papers.rbnets.spreads import (
    Contenders,
    Key,
    best_known,
    by_data_set,
    ending,
    search_seconds,
    seconds_of,
    spread,
    spread_of,
)
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable

# By hand: the paper does not say how many runs it had.
QUICK_VARIABLES = 56
QUICK_RUNS, FULL_RUNS = 5, 10
WIDE_RUNS = 1  # of data sets from 500 variables on
LIMIT = 1800.0  # seconds after which a search ends
WIDE_LIMIT = 43_200.0  # the paper's 12 h (section 4.5), from 500 variables on
QUICK_LIMIT = 60.0  # of an exact search
QUICK_MEMORY, FULL_MEMORY = 2.0, 8.0  # GiB of an exact search
SHORTEST = 1e-3  # seconds that the chart shows
METHODS = {**EXACT, **CLIMB, **RANDOMISED}

NOTES = paragraphs("""
CPU seconds of one core, compilation excluded: medians over seeds, with the range where runs differ (A*, ILP
and GHC depend on no seed). The paper's are CPU seconds on a 2.1 GHz Xeon E5-2620, one number each.
“Parent sets given” is how the paper counts; GHC works on the data and needs none.

OT, OM: ended by the limit of time (1800 s; exact searches without --full 60 s; from 500 variables on 12 h) or
of memory (8 GiB; without --full 2 GiB), with the gap to the optimum that is left at most, in nats of BIC; the
paper's limits were 12 h and 64 GB.
“refused”: A* takes at most 64 variables that depend on each other.
From 500 variables on there is one run of each, and no exact search.

What each was given. A*, ILP: the limits above. GHC: one climb from the empty graph. OBS: 300 random orders,
swaps from each until 100 in a row gain nothing. ASOBS: 20 000 random orders. RBNets: Algorithm 1 of the paper
(`published=true`), 300 episodes, with replay 2000, batch 200, target copied every 300 steps, RMSProp 0.001
(section 4.1), states from random walks (figure 1b), scores as rewards (equation 7); how walks make states,
the network's size and the bonus of an untried action are not printed and ours. “walk, gains” and “set, gains”
are the same but for rewards that are scaled gains over no parents, and for states that are plain sets. RBNets
improved: at most 300 episodes, seeded and polished by order search. order-search: 4 chains until 2000
disturbances in a row gain nothing.

“BIC below the best known”: the BIC of the best network that any contender found, less the contender's.
“proved”: no network scores higher; parent sets that are not complete (marked ~) permit no such proof, and
the best is then the best that was found.

Rows kept: a missing cell is a level of its own, which gives the row counts of the paper's table 1. Rows
removed: as the paper's text says, which leaves voting 232, sponge 54 and horse colic 6 rows. Numbers
are split at their mean into two states. Networks (*) are sampled with seed 0 at the paper's numbers of rows.

RL-BIC has an item of its own, `rbnets/table2-rl-bic`: its column here is the paper's. GOBNILP's column stands
beside our ILP, which is the same kind of program on another solver. Columns of the paper are those of its
table 2. Of its 20 rows 19 can be had (with --full): wikipedia is not among the data.

The cells kept with this page are from a machine with 16 cores (x86_64), one core each, but for those of ILP,
which are from one with two cores that had other work; A* takes about as long on both. ILP's are from its
second run there: the first one compiles more than the short run before it does.
""")


def table2(size: Size) -> Experiment:
    """Make the experiment; cells of a data set follow each other, small ones first."""
    chosen = [e for e in DATA_SETS.values() if size.full or e.variables <= QUICK_VARIABLES]
    cells = [
        cell
        for entry in chosen
        for reading in entry.readings
        for cell in comparison_cells(entry.name, reading, size)
    ]
    needs = tuple(entry.source for entry in chosen)
    return Experiment("rbnets/table2", tuple(cells), measure_cell, report, needs=needs)


def comparison_cells(data: str, reading: str, size: Size) -> list[Parameters]:
    """The cells of one data set: its parent sets, the methods that depend on no seed, and the others."""
    given: Parameters = {"data": data, "reading": reading}
    wide = DATA_SETS[data].wide
    cells = contender_cells(given, SETS)
    if not wide:
        exact = LIMIT if size.full else QUICK_LIMIT
        memory = FULL_MEMORY if size.full else QUICK_MEMORY
        cells += contender_cells(given, EXACT, memory=memory, limit=exact, seed=size.seed)
    limit = WIDE_LIMIT if wide else LIMIT
    cells += contender_cells(given, CLIMB, limit=limit, seed=size.seed)
    for seed in size.seeds(QUICK_RUNS, WIDE_RUNS if wide else FULL_RUNS):
        cells += contender_cells(given, RANDOMISED, limit=limit, seed=seed)
    return cells


def report(cells: Sequence[MeasuredCell]) -> Report:
    """Seconds, the same with parent sets, what was reached, and every number in a long table."""
    found = by_data_set(cells)
    verdict = seconds_verdict(found)
    tables = (seconds_table(found), with_sets_table(found), quality_table(found), runs_table(found))
    return Report(
        "rbnets/table2: seconds and BIC of every method",
        tables,
        {"seconds": chart(found)},
        (*NOTES, *verdict),
    )


def seconds_verdict(found: dict[Key, Contenders]) -> tuple[str, ...]:
    """On how many data sets the published agent took less than the paper's seconds, and on which not."""
    slower, rows = [], 0
    for key, contenders in found.items():
        seconds, printed = seconds_of(contenders.get(PUBLISHED, [])), seconds_in_paper(str(key[0]), PUBLISHED)
        if key[1] == KEPT and seconds is not None and isinstance(printed, float):
            rows += 1
            slower += [str(key[0])] * (seconds.median >= printed)
    if not rows:
        return ()
    exception = f"; not on {', '.join(slower)}" if slower else ""
    sentence = (
        f"RBNets took less than the seconds of the paper's table 2 on {rows - len(slower)} of {rows} data "
        f"sets{exception} (medians of our runs, another machine; the paper has 20 data sets)."
    )
    return (sentence,)


def name_of(key: Key) -> str:
    """Name a data set: the second reading of a table with missing cells says so."""
    return str(key[0]) if key[1] == KEPT else f"{key[0]}, rows {key[1]}"


def seconds_entry(cells: Sequence[MeasuredCell], extra: float = 0.0) -> Entry:
    """Seconds in words, and how the search ended where it was ended."""
    seconds = spread(search_seconds(cell) + extra for cell in cells)
    if seconds is None:
        return None
    why = ending(cells)
    if why == "refused":
        return why
    shown = seconds.text(2 if seconds.median < 100 else 0)
    gap = spread_of(cells, "gap")
    left = f", gap {gap.median:.1f}" if gap is not None else ""
    return f"{why} {shown}{left}" if why else shown


def seconds_table(found: dict[Key, Contenders]) -> ResultTable:
    """Ours and the paper's, parent sets given."""
    columns = ["data", "n", "m", "parent sets"]
    for label in METHODS:
        columns += [label, *([f"{label}, paper"] if label in SECONDS_COLUMNS else [])]
    elsewhere = [label for label in SECONDS_COLUMNS if label not in METHODS]
    columns += [f"{label}, paper" for label in elsewhere]
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        row: list[Entry] = [name_of(key), *size_of(contenders)]
        for label in METHODS:
            row.append(seconds_entry(contenders.get(label, [])))
            if label in SECONDS_COLUMNS:
                row.append(seconds_in_paper(str(key[0]), label) if key[1] == KEPT else None)
        row += [seconds_in_paper(str(key[0]), label) if key[1] == KEPT else None for label in elsewhere]
        rows.append(tuple(row))
    return ResultTable("seconds", "Seconds, parent sets given", tuple(columns), tuple(rows), digits=1)


def size_of(contenders: Contenders) -> tuple[Entry, Entry, Entry]:
    """Variables, rows and parent sets of a data set."""
    sets = contenders.get(PARENT_SETS)
    if not sets:
        return None, None, None
    numbers = sets[0].numbers
    mark = "" if numbers["complete"] else "~"
    return numbers["variables"], numbers["rows_used"], f"{mark}{numbers['sets']}"


def with_sets_table(found: dict[Key, Contenders]) -> ResultTable:
    """Seconds of the search and of finding the parent sets together."""
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        sets = seconds_of(contenders.get(PARENT_SETS, []))
        if sets is None:
            continue
        row: list[Entry] = [name_of(key), sets.median]
        row += [
            seconds_entry(contenders.get(label, []), 0.0 if label in CLIMB else sets.median)
            for label in METHODS
        ]
        rows.append(tuple(row))
    columns = ("data", PARENT_SETS, *METHODS)
    return ResultTable("with-sets", "Seconds with the parent sets", columns, tuple(rows), digits=2)


def quality_table(found: dict[Key, Contenders]) -> ResultTable:
    """The distance of each contender below the best network known."""
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        best = best_known(contenders)
        if best is None:
            continue
        row: list[Entry] = [name_of(key), best[0], "yes" if best[1] else "no"]
        for label in METHODS:
            below = spread(
                None if cell.numbers.get("bic") is None else max(0.0, best[0] - cell.numbers["bic"])
                for cell in contenders.get(label, [])
            )
            row.append(None if below is None else below.text(1))
        greedy = spread(
            None if cell.numbers.get("greedy") is None else max(0.0, best[0] - cell.numbers["greedy"])
            for cell in contenders.get(PUBLISHED, [])
        )
        rows.append((*row, None if greedy is None else greedy.text(1)))
    columns = ("data", "best BIC", "proved", *METHODS, "RBNets, greedy policy")
    return ResultTable("quality", "BIC below the best known", columns, tuple(rows), digits=1)


def runs_table(found: dict[Key, Contenders]) -> ResultTable:
    """A line per data set and contender, for programs."""
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        for label in METHODS:
            cells = contenders.get(label, [])
            seconds, bic, wall = seconds_of(cells), spread_of(cells, "bic"), spread_of(cells, "seconds")
            compiling = spread_of(cells, "first_compile_seconds")
            if seconds is None or wall is None:
                continue
            reached: tuple[Entry, ...] = (None,) * 3 if bic is None else (bic.low, bic.median, bic.high)
            rows.append(
                (
                    *(key[0], key[1], label),
                    *(seconds.low, seconds.median, seconds.high, wall.median),
                    compiling.median if compiling else None,
                    *reached,
                    ending(cells) or "ended",
                    len(cells),
                )
            )
    columns = (
        *("data", "rows", "method", "CPU s, lowest", "CPU s, median", "CPU s, highest", "wall s, median"),
        *("compiling s", "BIC, lowest", "BIC, median", "BIC, highest", "ended", "runs"),
    )
    digits = (0, 0, 0, 3, 3, 3, 3, 1, 2, 2, 2, 0, 0)
    return ResultTable("runs", "All runs", columns, tuple(rows), digits)


def chart(found: dict[Key, Contenders]) -> str:
    """A panel per method: our seconds and the paper's over the number of variables."""
    panels = []
    for label in METHODS:
        ours, theirs = [], []
        for key, contenders in found.items():
            if key[1] != KEPT:
                continue
            data = str(key[0])
            n = float(DATA_SETS[data].variables)
            seconds = seconds_of(contenders.get(label, []))
            if seconds is not None and ending(contenders[label]) != "refused":
                ours.append((n, max(seconds.median, SHORTEST)))
            value = seconds_in_paper(data, PUBLISHED if label == IMPROVED else label)
            if isinstance(value, float):
                theirs.append((n, value))
        series = [curve("dagora", ours), curve("paper", theirs, published=True)]
        panels.append(ChartPanel(label, tuple(some for some in series if some.x)))
    return draw_panels(
        [panel for panel in panels if panel.series], columns=4, x_label="variables", y_label="CPU seconds",
        title="RBNets, table 2: seconds, parent sets given", logarithmic_y=True,
    )  # fmt: skip


def curve(label: str, points: list[tuple[float, float]], *, published: bool = False) -> Series:
    """Points from left to right."""
    ordered = sorted(points)
    return Series(label, tuple(x for x, _ in ordered), tuple(y for _, y in ordered), published)
