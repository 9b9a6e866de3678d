"""Sentences of the paper about figure 3, judged by differences of SHD between lines on the same tables.

A difference is a mean over graphs with a 95 % interval; it is clear if the interval is on one side of zero.
“Competitive” fails where GES is clearly worse; what is said to be better fails where it is clearly worse, and
cannot be told where no difference is clear. What
is said of PC and LiNGAM in general holds mostly if it is clear in most settings and clearly wrong in few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from dagora.papers.cell import MeasuredCell
from dagora.papers.contrasts import Contrast, interval, subtract
from dagora.papers.notears.contenders import ALGORITHM_1, GES_PENALTY, GRAPHS, OURS
from dagora.papers.tables import Entry, Mean, ResultTable, mean

NOTEARS, PUBLISHED = f"NOTEARS, {OURS}", f"NOTEARS, {ALGORITHM_1}"
PLAIN, PENALISED = "GES, BIC", f"GES, {GES_PENALTY:g} × BIC's penalty"
GES = (PLAIN, PENALISED)
PC, SORTED = "PC, level 0.01", "sort-and-regress"
LINGAMS = ("ICA-LiNGAM", "DirectLiNGAM")
PLACE = "section 5.2, figure 3"

Setting = tuple[str, int, str]  # graph, rows, noise
Label = Callable[[Mapping[str, str | int | float]], str]


class Distances:
    """The SHD of every line on every table."""

    def __init__(self, measured: Sequence[MeasuredCell], label_of: Label) -> None:
        self.shd: dict[tuple[Setting, int, str], dict[int, float]] = {}
        settings: dict[Setting, None] = {}
        for cell in measured:
            p = cell.parameters
            setting = str(p["graph"]), int(p["n"]), str(p["noise"])
            settings[setting] = None
            key = setting, int(p["d"]), label_of(p)
            self.shd.setdefault(key, {})[int(p["seed"])] = float(cell.numbers["shd"])
        kinds = list(GRAPHS)
        self.settings = sorted(settings, key=lambda some: (kinds.index(some[0]), some[1]))
        self.sizes = sorted({d for _, d, _ in self.shd})

    def lead(self, setting: Setting, d: int, other: str, of: str = NOTEARS) -> Mean | None:
        """The SHD of a line less that of another, over the tables that both have."""
        ours, theirs = (self.shd.get((setting, d, line), {}) for line in (of, other))
        return mean(theirs[seed] - ours[seed] for seed in sorted(ours.keys() & theirs.keys()))

    def contrasts(self, settings: Sequence[Setting], other: str, of: str = NOTEARS) -> list[Contrast]:
        """By setting and size: a line has a lower SHD than another. What was not measured is left out."""
        return [
            Contrast(f"{', '.join(map(str, setting))}, d = {d}", Mean(-lead.value, lead.error, lead.runs))
            for setting in settings
            for d in self.sizes
            if (lead := self.lead(setting, d, other, of)) is not None
        ]

    def growth(self, setting: Setting, other: str, of: str = NOTEARS) -> list[Contrast]:
        """From size to size: the lead grows."""
        leads = [(d, lead) for d in self.sizes if (lead := self.lead(setting, d, other, of)) is not None]
        return [
            Contrast(f"from d = {before} to {after}", subtract(low, high))
            for (before, low), (after, high) in pairwise(leads)
        ]


def leads_table(distances: Distances, lines: Sequence[str], of: str = NOTEARS) -> ResultTable:
    """The SHD of each line less that of NOTEARS, with 95 % intervals."""
    rows: list[tuple[Entry, ...]] = []
    for setting in distances.settings:
        for line in lines:
            leads = [distances.lead(setting, d, line, of) for d in distances.sizes]
            if any(leads):
                rows.append((*setting, line, *(interval(lead) if lead else None for lead in leads)))
    columns = ("graph", "n", "noise", "method", *(f"d = {d}" for d in distances.sizes))
    title = f"SHD of each line less that of “{of}” on the same tables, with 95 % intervals"
    return ResultTable("leads", title, columns, tuple(rows))


Judged = list[tuple[str, str, str]]
Judge = Callable[[Distances], Judged]


def claims_table(distances: Distances, judges: Sequence[Judge]) -> ResultTable:
    """Every claim with its verdict."""
    rows = [(PLACE, *judged) for judge in judges for judged in judge(distances)]
    title = "What the paper's text says of the figure, and what these cells say"
    return ResultTable("claims", title, ("in the paper", "claim", "judged on", "here"), tuple(rows))


def on_gaussian(distances: Distances, graph: str) -> list[tuple[Setting, str, str, str]]:
    """The settings of a kind of graph with Gaussian noise: each NOTEARS, either GES, and all in words."""
    return [
        (setting, other, of, f"{graph}, n = {setting[1]}, {setting[2]} noise; {of}; {other}")
        for of in (NOTEARS, PUBLISHED)
        for setting in distances.settings
        if setting[0] == graph and setting[2] == "gaussian"
        for other in GES
    ]


def competitive(distances: Distances) -> Judged:
    """GES is not clearly worse than NOTEARS on sparse graphs."""
    found = []
    for setting, other, of, words in on_gaussian(distances, "ER2"):
        contrasts = distances.contrasts([setting], other, of)
        if contrasts:
            worse = [one.words.rpartition(", ")[2] for one in contrasts if one.clear]
            said = f"fails: clearly worse at {', '.join(worse)}" if worse else "holds: clearly worse nowhere"
            claim = "FGS is very competitive where edges are few (ER2)"
            found.append((claim, words, said + graphs(contrasts)))
    return found


def better(distances: Distances) -> Judged:
    """NOTEARS is better than GES on dense graphs."""
    return [
        ("NOTEARS improves on FGS significantly on SF4", words, verdict(contrasts))
        for setting, other, of, words in on_gaussian(distances, "SF4")
        if (contrasts := distances.contrasts([setting], other, of))
    ]


def growing(distances: Distances) -> Judged:
    """The lead over GES grows with the number of variables."""
    return [
        ("the difference grows with the number of nodes", words, verdict(contrasts))
        for graph in GRAPHS
        for setting, other, of, words in on_gaussian(distances, graph)
        if (contrasts := distances.growth(setting, other, of))
    ]


def every_noise(distances: Distances) -> Judged:
    """NOTEARS is better than GES for every noise."""
    found = []
    for of in (NOTEARS, PUBLISHED):
        for rows in sorted({n for _, n, _ in distances.settings}):
            settings = [setting for setting in distances.settings if setting[1] == rows]
            for other in GES:
                contrasts = distances.contrasts(settings, other, of)
                if contrasts:
                    words = f"both graphs, n = {rows}, all noises and sizes; {of}; {other}"
                    found.append(
                        ("NOTEARS performs uniformly better for each noise", words, verdict(contrasts))
                    )
    return found


def less_accurate(distances: Distances) -> Judged:
    """PC and LiNGAM are clearly worse than GES and NOTEARS."""
    found = []
    for line in (PC, *LINGAMS):
        for other in (NOTEARS, *GES):
            contrasts = distances.contrasts(distances.settings, line, other)
            if contrasts:
                claim = "PC and LiNGAM were markedly less accurate than FGS and NOTEARS"
                found.append((claim, f"{line} against “{other}”", in_most(contrasts) + graphs(contrasts)))
    return found


MOST, FEW = 0.5, 0.1  # shares of settings; chosen by hand


def in_most(contrasts: Sequence[Contrast]) -> str:
    """A verdict by the settings in which a claim clearly holds, and those in which it clearly fails."""
    total = len(contrasts)
    true, false = (sum(one.clear is side for one in contrasts) for side in (True, False))
    mostly = true > MOST * total and false < FEW * total
    said = "holds" if true == total else "holds mostly" if mostly else "fails"
    return f"{said}: clearly worse in {true} of {total} settings, clearly better in {false}"


JUDGES = (competitive, better, growing, every_noise, less_accurate)

SHOWN = 3  # differences named in a verdict


def verdict(contrasts: Sequence[Contrast]) -> str:
    """A verdict that names the differences that are clearly on the wrong side, or else those not clear.

    >>> verdict([Contrast("d = 10", Mean(-5.0, 1.0, 10)), Contrast("d = 20", Mean(-1.0, 1.0, 10))])
    'cannot be told: d = 20 (10 graphs)'
    """
    wrong, unclear = ([one.words for one in contrasts if one.clear is side] for side in (False, None))
    named = wrong or unclear
    said = "fails" if wrong else "cannot be told" if unclear else "holds"
    more = f"; and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    said += f": {'; '.join(named[:SHOWN])}{more}" if named else ""
    return said + graphs(contrasts)


def graphs(contrasts: Sequence[Contrast]) -> str:
    """On how many graphs the differences are means, in brackets."""
    counts = [one.difference.runs for one in contrasts if one.difference is not None]
    number = f"{counts[0]}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f" ({number} graphs)"
