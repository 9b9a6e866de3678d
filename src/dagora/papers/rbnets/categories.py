"""Counts of data sets by the paper's categories of ΔBIC, and the values behind them.

RBNets as the paper prints it, the order of its greedy policy, RBNets with other states and rewards, RBNets
improved, and order search are compared with the paper's opponents and two null models: how many data sets
fall into each category of the difference in median BIC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.rbnets.contenders import DESCENDED, GREEDY, IMPROVED, PUBLISHED, RANDOM, SET, SETS, WALK
from dagora.papers.rbnets.data_sets import KEPT
from dagora.papers.rbnets.published import CATEGORIES, category
from dagora.papers.rbnets.spreads import Contenders, Key, best_known, ending, seconds_of, spread
from dagora.papers.tables import Entry, ResultTable

COMPARED = (PUBLISHED, GREEDY, WALK, SET, IMPROVED, "order-search")
OPPONENTS = ("GHC", "OBS", "OBS, longer", "ASOBS", "ASOBS, longer", RANDOM, DESCENDED)
TICKS = ("+++", "++", "+", "0", "−", "−−", "−−−")


def bics(contenders: Contenders, label: str) -> list[float]:
    """The BICs of a contender on a data set, by seed; those of the greedy policy are in RBNets' cells."""
    number, cells = (
        ("greedy", contenders.get(PUBLISHED)) if label == GREEDY else ("bic", contenders.get(label))
    )
    return [cell.numbers[number] for cell in cells or () if cell.numbers.get(number) is not None]


def differences(found: Mapping[Key, Contenders], method: str, opponent: str) -> list[float]:
    """Median BIC of a method minus that of an opponent, for every data set where both are measured."""
    values = []
    for contenders in found.values():
        ours, theirs = spread(bics(contenders, method)), spread(bics(contenders, opponent))
        if ours is not None and theirs is not None:
            values.append(ours.median - theirs.median)
    return values


def counts_table(
    name: str, title: str, found: Mapping[Key, Contenders], paper: Mapping[str, tuple[int, ...]]
) -> ResultTable:
    """The number of data sets in each category, beside the paper's counts."""
    columns = ["method", "ΔBIC against"]
    for opponent in OPPONENTS:
        columns += [opponent, *([f"{opponent}, paper"] if opponent in paper else [])]
    columns += ["RL-BIC, paper"] * ("RL-BIC" in paper)
    rows: list[tuple[Entry, ...]] = []
    for method in COMPARED:
        counts = {
            opponent: Counter(category(value) for value in differences(found, method, opponent))
            for opponent in OPPONENTS
        }
        for position, word in enumerate(CATEGORIES):
            row: list[Entry] = [method, word]
            for opponent in (*OPPONENTS, "RL-BIC"):
                if opponent in counts:
                    row.append(counts[opponent][word])
                if opponent in paper:
                    row.append(paper[opponent][position] if method == PUBLISHED else None)
            rows.append(tuple(row))
    return ResultTable(name, f"{title} ({len(found)} data sets)", tuple(columns), tuple(rows), digits=0)


def name_of(key: Key) -> str:
    """Name a data set with its half or number of rows."""
    data, reading, half, rows = key
    if rows is not None:
        return f"{data} {rows}"
    part = {0: ", first half", 1: ", second half"}[int(half or 0)]
    return f"{data}{part}" if reading == KEPT else f"{data}, rows removed{part}"


def quality_table(found: Mapping[Key, Contenders]) -> ResultTable:
    """The distance of each contender below the best known BIC: medians, with the range over seeds."""
    shown = (*OPPONENTS, *COMPARED)
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        best = best_known(contenders)
        if best is None:
            continue
        row: list[Entry] = [name_of(key), best[0]]
        for label in shown:
            below = spread(max(0.0, best[0] - value) for value in bics(contenders, label))
            row.append(None if below is None else below.text(1))
        rows.append(tuple(row))
    return ResultTable("quality", "BIC below the best found", ("data", "best BIC", *shown), tuple(rows), 1)


def seconds_table(found: Mapping[Key, Contenders]) -> ResultTable:
    """Median CPU seconds of every search, parent sets given, compilation excluded."""
    shown = (*SETS, *OPPONENTS, *(method for method in COMPARED if method != GREEDY))
    rows: list[tuple[Entry, ...]] = []
    for key, contenders in found.items():
        row: list[Entry] = [name_of(key)]
        for label in shown:
            cells = contenders.get(label, [])
            seconds, why = seconds_of(cells), ending(cells)
            row.append(None if seconds is None else f"{why} {seconds.median:.2f}".strip())
        rows.append(tuple(row))
    return ResultTable("seconds", "CPU seconds, parent sets given", ("data", *shown), tuple(rows), 2)


def chart(found: Mapping[Key, Contenders], paper: Mapping[str, tuple[int, ...]], title: str) -> str:
    """A panel per opponent: the share of data sets in each category."""
    panels = []
    for opponent in OPPONENTS:
        series = []
        for method in COMPARED:
            values = differences(found, method, opponent)
            counts = Counter(category(value) for value in values)
            if values and method != opponent:
                shares = tuple(100 * counts[word] / len(values) for word in CATEGORIES)
                series.append(Series(method, TICKS, shares))
        if opponent in paper:
            shares = tuple(100 * count / sum(paper[opponent]) for count in paper[opponent])
            series.append(Series("RBNets, paper", TICKS, shares, published=True))
        if series:
            panels.append(ChartPanel(f"against {opponent}", tuple(series)))
    return draw_panels(
        panels,
        columns=4,
        x_label="ΔBIC, very positive to very negative",
        y_label="% of data sets",
        title=title,
        lines=False,
        share_y=False,
    )
