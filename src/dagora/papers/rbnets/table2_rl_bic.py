"""RL-BIC on the data sets of table 2: what it reaches, beside random DAGs, a climb and an exact search.

It has an item of its own because one run of its paper's size takes an hour of a core or more, and the other
columns of table 2 need not be measured again for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.experiment import Experiment, Size
from dagora.papers.rbnets.contenders import CLIMB, EXACT, POLICY, RANDOMISED, contender_cells, measure_cell
from dagora.papers.rbnets.data_sets import DATA_SETS, KEPT
from dagora.papers.rbnets.published import seconds_in_paper
from dagora.papers.rbnets.spreads import Contenders, Key, best_known, by_data_set, ending, search_seconds
from dagora.papers.reports import Report, paragraphs
from dagora.papers.tables import Entry, ResultTable
from dagora.scores.digraph_scores import MOST_NODES

# Full: the paper of RL-BIC (Zhu, Ng & Chen 2020); quick: a hundredth.
QUICK_ROUNDS, FULL_ROUNDS = 200, 20_000
LIMIT = 1800.0  # seconds after which a search ends
MEMORY = 2.0  # GiB of A*
LABEL = "RL-BIC"
# What takes seconds, and says how good a network can be and how fast.
PROVER: dict[str, Parameters] = {"A*": EXACT["A*"]}
BESIDE: dict[str, Parameters] = {**CLIMB, "order-search": RANDOMISED["order-search"]}

NOTES = paragraphs("""
RL-BIC (Zhu, Ng & Chen 2020, `rl-bic`): rounds of 64 graphs, one run, one seed, on BIC. Its own paper has
20 000 rounds; the RBNets paper says neither how many its runs had nor which score, and prints seconds only.
The quick size has 200 rounds, a hundredth of that, and its numbers say **what 12 800 drawn graphs reach, and
nothing of what 20 000 rounds would**. `--full` has all rounds, or those that 1800 s permit.

“BIC below the best known”: the BIC of the best network that anything on this page found, less that of
each; “proved”: A* proves that no network scores higher. “As many random DAGs” is the best of as many random
DAGs as RL-BIC drew graphs, cyclic ones counted, pruned in the same way: what does not beat it has learned
nothing. GHC is one climb from the empty graph. A* and order-search have the parent sets given, RL-BIC and GHC
have rows and need none.

CPU seconds are of one process, less those of compiling, which are by the clock: on a busy machine too much is
taken off. “Wall s” has compiling in it. Where “network on” is no processor of this machine, CPU seconds leave
out what the network took. The paper's are CPU seconds on a 2.1 GHz Xeon E5-2620.

Rows with missing cells are kept, a missing cell being a level of its own, as the row counts of the paper's
table 1 say.
""")


def table2_rl_bic(size: Size) -> Experiment:
    """Make the experiment; cells of a data set follow each other, small ones first."""
    chosen = [entry for entry in DATA_SETS.values() if entry.variables <= MOST_NODES]
    rounds = FULL_ROUNDS if size.full else QUICK_ROUNDS
    drawing = {label: {**options, "rounds": rounds} for label, options in POLICY.items()}
    cells: list[Parameters] = []
    for entry in chosen:
        given: Parameters = {"data": entry.name, "reading": KEPT}
        cells += contender_cells(given, PROVER, memory=MEMORY, limit=LIMIT, seed=size.seed)
        cells += contender_cells(given, {**BESIDE, **drawing}, limit=LIMIT, seed=size.seed)
    needs = tuple(entry.source for entry in chosen)
    return Experiment("rbnets/table2-rl-bic", tuple(cells), measure_cell, report, needs=needs)


def report(cells: Sequence[MeasuredCell]) -> Report:
    """The BIC that was reached, and its cost."""
    found = by_data_set(cells)
    return Report(
        "rbnets/table2-rl-bic: RL-BIC beside as many random DAGs, a climb and an exact search",
        (quality(found), efforts(found)),
        {},
        (*NOTES, *verdict(found)),
    )


def runs_of(found: dict[Key, Contenders]) -> Iterator[tuple[str, Contenders, MeasuredCell]]:
    """Data set, all its cells, and that of RL-BIC."""
    for key, contenders in found.items():
        for cell in contenders.get(LABEL, []):
            yield str(key[0]), contenders, cell


def below(best: float, bic: float | None) -> float | None:
    """The distance of a BIC below the best."""
    return None if bic is None else max(0.0, best - bic)


def quality(found: dict[Key, Contenders]) -> ResultTable:
    """The distance of each below the best network known."""
    rows: list[tuple[Entry, ...]] = []
    for data, contenders, cell in runs_of(found):
        best = best_known(contenders)
        if best is not None:
            others = [
                below(best[0], contenders[label][0].numbers.get("bic")) if label in contenders else None
                for label in ("GHC", "order-search", "A*")
            ]
            rows.append(
                (
                    *(data, DATA_SETS[data].variables, best[0], "yes" if best[1] else "no"),
                    below(best[0], cell.numbers["bic"]),
                    below(best[0], cell.numbers["random_dags"]),
                    *others,
                )
            )
    columns = ("data", "n", "best BIC", "proved", LABEL, "as many random DAGs", "GHC", "order-search", "A*")
    return ResultTable("quality", "BIC below the best known", columns, tuple(rows), digits=1)


def efforts(found: dict[Key, Contenders]) -> ResultTable:
    """RL-BIC's draws and their time, beside the paper's seconds and those of a climb."""
    rows: list[tuple[Entry, ...]] = []
    for data, contenders, cell in runs_of(found):
        numbers = cell.numbers
        climbed = [search_seconds(climb) for climb in contenders.get("GHC", [])]
        rows.append(
            (
                *(data, DATA_SETS[data].variables, ending([cell]) or "ended"),
                *(int(numbers["rounds"]), float(numbers["acyclic"]) / float(numbers["graphs"])),
                *(int(numbers["best_round"]), search_seconds(cell), float(numbers["seconds"])),
                *(seconds_in_paper(data, LABEL), climbed[0] if climbed else None, str(numbers["device"])),
            )
        )
    columns = (
        *("data", "n", "ended", "rounds", "share of DAGs", "round of the best", "CPU s", "wall s"),
        *("paper, s", "GHC, CPU s", "network on"),
    )
    digits = (0, 0, 0, 0, 3, 0, 1, 1, 1, 2, 0)
    return ResultTable("efforts", "What it took", columns, tuple(rows), digits)


def verdict(found: dict[Key, Contenders]) -> Iterator[str]:
    """On how many data sets RL-BIC beats its null model and a climb."""
    runs = list(runs_of(found))
    if runs:
        beaten = sum(cell.numbers["bic"] > cell.numbers["random_dags"] for _, _, cell in runs)
        climbs = [
            cell.numbers["bic"] > contenders["GHC"][0].numbers["bic"]
            for _, contenders, cell in runs
            if "GHC" in contenders
        ]
        yield (
            f"RL-BIC's network has a higher BIC than the best of as many random DAGs on {beaten} of "
            f"{len(runs)} data sets, and than one climb on {sum(climbs)} of {len(climbs)}."
        )
