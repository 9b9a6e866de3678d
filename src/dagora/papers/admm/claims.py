"""The claims of the paper about its figures, tested on the cells: each holds, fails, or cannot be told.

A claim is a list of comparisons between lines, each a mean of differences over runs on the same rows. One
whose 95 % interval (Student's, for the number of runs) is on the wrong side makes the claim fail; the claim
holds if the intervals of all are on the right side; else it cannot be told. So it is where nothing was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dagora.papers.admm.contenders import (
    ALL_DATA,
    BEST,
    FGES_VOTING,
    MEANS,
    PC_VOTING,
    PUBLISHED,
    PUBLISHED_ALL_DATA,
    PUBLISHED_BEST,
    PUBLISHED_MEANS,
    PUBLISHED_VOTES,
    VOTES,
)
from dagora.papers.admm.curves import is_pooled_cell, judgements, label_of
from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.contrasts import Contrast, standard_errors, subtract
from dagora.papers.tables import Mean, ResultTable, mean

PAPER_RUNS = 30  # section 6, “Metrics”
WIDEST = 0.1  # a printed value is not confirmed by an interval that is wider than this to either side
SHOWN = 3  # comparisons named in a verdict
# What the text compares with its ADMM; its votes and means keep their cycles (section 6, “Methods”).
BASELINES = (VOTES, MEANS, BEST)

# Said in the verdict: in the paper every NOTEARS but the one in ADMM is the published solver.
OUR_SOLVER = "; NOTEARS by our solver"
# The lines of the published solver that take the place of ours.
PUBLISHED_LINES = {
    VOTES: PUBLISHED_VOTES,
    MEANS: PUBLISHED_MEANS,
    BEST: PUBLISHED_BEST,
    ALL_DATA: PUBLISHED_ALL_DATA,
}

Place = str | int | float
Runs = Mapping[int, Mapping[str, float]]


@dataclass(frozen=True)
class Curves:
    """The cells of a figure by line, panel and place on the x-axis, run by run."""

    runs: Mapping[tuple[str, Place, Place], Runs]
    panels: tuple[Place, ...]
    places: tuple[Place, ...]

    @classmethod
    def of(
        cls, measured: Sequence[MeasuredCell], methods: Mapping[str, Parameters], panel: str, x: str
    ) -> Curves:
        """Sort the cells; pooled rows are the same at every number of sites."""
        labelled = [(label_of(cell.parameters, methods), cell) for cell in judgements(measured)]
        kept = [(label, cell) for label, cell in labelled if label is not None]
        level = {label for label, cell in kept if x == "sites" and is_pooled_cell(cell)}
        places = sorted({cell.parameters[x] for label, cell in kept if label not in level}, key=float)
        panels = tuple(dict.fromkeys(cell.parameters[panel] if panel else "" for _, cell in kept))
        found: dict[tuple[str, Place, Place], dict[int, Mapping[str, float]]] = {}
        for label, cell in kept:
            where = cell.parameters[panel] if panel else ""
            for place in places if label in level else [cell.parameters[x]]:
                found.setdefault((label, where, place), {})[int(cell.parameters["seed"])] = cell.numbers
        return cls(found, panels, tuple(places))

    def with_published_solver(self) -> Curves | None:
        """The same where NOTEARS is the published algorithm, at the places where it was measured, if any."""
        found = dict(self.runs)
        for ours, theirs in PUBLISHED_LINES.items():
            for panel, place in self.points:
                found[ours, panel, place] = self.at(theirs, panel, place)
        measured = [at for at in self.points if self.at(PUBLISHED_VOTES, *at)]
        if not measured:
            return None
        panels, places = ({at[part] for at in measured} for part in (0, 1))
        return Curves(
            found,
            tuple(panel for panel in self.panels if panel in panels),
            tuple(place for place in self.places if place in places),
        )

    def at(self, label: str, panel: Place, place: Place) -> Runs:
        """The runs of a line at a place; none where it was not measured."""
        return self.runs.get((label, panel, place), {})

    def mean(self, label: str, number: str, panel: Place, place: Place) -> Mean | None:
        """The mean of a number."""
        return mean(run[number] for run in self.at(label, panel, place).values())

    def paired_mean(
        self, value: Callable[[Sequence[Mapping[str, float]]], float], *where: tuple[str, Place, Place]
    ) -> Mean | None:
        """The mean over common runs of a value computed from the lines' numbers in that run."""
        chosen = [self.at(*one) for one in where]
        common = set.intersection(*(set(runs) for runs in chosen)) if chosen else set()
        return mean(value([runs[seed] for runs in chosen]) for seed in sorted(common))

    def less(self, number: str, low: str, high: str, panel: Place, place: Place) -> Contrast:
        """Compare: the number of one line is below that of another at a place."""
        difference = self.paired_mean(
            lambda runs: runs[0][number] - runs[1][number], (low, panel, place), (high, panel, place)
        )
        return Contrast(self.name(f"{number.upper()} of {high} − {low}", panel, place), difference)

    def name(self, words: str, panel: Place, place: Place) -> str:
        """Words with the place."""
        return f"{words} at {', '.join(str(part) for part in (panel, place) if part != '')}"

    @property
    def points(self) -> list[tuple[Place, Place]]:
        """All places of all panels."""
        return [(panel, place) for panel in self.panels for place in self.places]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, its place there, the comparisons that it comes to, and the solver in them."""

    place: str
    words: str
    comparisons: Callable[[Curves], Sequence[Contrast]]
    solver: str = OUR_SOLVER


@dataclass(frozen=True)
class OtherSize:
    """Parameters that no cell shares with the paper: their values here and there, as words."""

    here: str = ""
    paper: str = ""

    @classmethod
    def of(cls, measured: Sequence[MeasuredCell], paper: Mapping[str, int]) -> OtherSize:
        """Compare the cells with the paper's values.

        >>> OtherSize.of([MeasuredCell({"d": 6, "n": 512}, {})], {"d": 50, "n": 512})
        OtherSize(here='d = 6 and ', paper='d = 50 and ')
        """
        here = {name: sorted({cell.parameters[name] for cell in measured}, key=float) for name in paper}
        other = [name for name, values in here.items() if values and paper[name] not in values]
        if not other:
            return cls()
        return cls(
            ", ".join(f"{name} = {', '.join(map(str, here[name]))}" for name in other) + " and ",
            ", ".join(f"{name} = {paper[name]}" for name in other) + " and ",
        )


def verdict(comparisons: Sequence[Contrast], size: OtherSize | None = None, solver: str = "") -> str:
    """Say in one sentence whether a claim holds.

    >>> clear, open_ = Contrast("a", Mean(-5.0, 1.0, 30)), Contrast("b", Mean(-1.0, 1.0, 3))
    >>> verdict([clear])
    'holds (30 runs)'
    >>> verdict([clear, open_], solver=OUR_SOLVER)
    'cannot be told: b (3 to 30 runs, where the paper has 30; NOTEARS by our solver)'
    >>> verdict([open_, Contrast("c", Mean(4.0, 1.0, 30))], OtherSize("d = 6 and ", "d = 50 and "))
    'fails: c (d = 6 and 3 to 30 runs, where the paper has d = 50 and 30)'
    >>> verdict([Contrast("d", None)])
    'cannot be told: not measured'
    """
    measured = [one for one in comparisons if one.difference is not None]
    if not measured:
        return "cannot be told: not measured"
    counts = [one.difference.runs for one in measured if one.difference is not None]
    runs = f"{counts[0]}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    size = size or OtherSize()
    differs = bool(size.paper) or min(counts) < PAPER_RUNS
    ending = f" ({size.here}{runs} runs"
    ending += f", where the paper has {size.paper}{PAPER_RUNS}" * differs + f"{solver})"
    wrong = [one.words for one in measured if one.clear is False]
    unclear = [one.words for one in comparisons if one.clear is None]
    if wrong:
        return f"fails: {list_words(wrong)}{ending}"
    if unclear:
        return f"cannot be told: {list_words(unclear)}{ending}"
    return f"holds{ending}"


def list_words(words: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = len(words) - SHOWN
    return "; ".join(words[:SHOWN]) + (f"; and {more} more" if more > 0 else "")


def claims_table(
    claims: Sequence[Claim], lines: Curves, size: OtherSize | None = None, published: Curves | None = None
) -> ResultTable:
    """Every claim with its verdict, and one more on `published`, where NOTEARS is the published algorithm."""
    rows = []
    for claim in claims:
        row: tuple[str, ...] = (claim.place, claim.words, judge(claim, lines, size, claim.solver))
        if published is not None:
            row += (judge(claim, published, size) if claim.solver else "",)
        rows.append(row)
    columns: tuple[str, ...] = ("in the paper", "claim", "here")
    if published is not None:
        columns += (f"here, published NOTEARS, at {list_words([str(at) for at in published.places])}",)
    title = "What the paper's text says of the figure, and what these cells say"
    return ResultTable("claims", title, columns, tuple(rows))


def judge(claim: Claim, lines: Curves, size: OtherSize | None, solver: str = "") -> str:
    """The verdict over all panels; where it does not hold in all but in some, the verdict of each."""
    whole = verdict(claim.comparisons(lines), size, solver)
    if whole.startswith("holds") or len(lines.panels) == 1:
        return whole
    parts = {
        panel: verdict(claim.comparisons(replace(lines, panels=(panel,))), size) for panel in lines.panels
    }
    if not any(part.startswith("holds") for part in parts.values()):
        return whole
    return "; ".join(f"{panel}: {part}" for panel, part in parts.items()) + solver


def everywhere(number: str, low: Sequence[str], high: Sequence[str]) -> Callable[[Curves], list[Contrast]]:
    """Each line of `low` is below each of `high` at every place."""
    return lambda lines: [
        lines.less(number, one, other, panel, place)
        for panel, place in lines.points
        for one in low
        for other in high
    ]


def closer(number: str) -> Callable[[Curves], list[Contrast]]:
    """The published ADMM is closer to NOTEARS on all data than every baseline is, at every place."""

    def distance(runs: Sequence[Mapping[str, float]]) -> float:
        ours, other, pooled = (run[number] for run in runs)
        return abs(ours - pooled) - abs(other - pooled)

    return lambda lines: [
        Contrast(
            lines.name(f"distance of {other} − ADMM to all data", panel, place),
            lines.paired_mean(
                distance, (PUBLISHED, panel, place), (other, panel, place), (ALL_DATA, panel, place)
            ),
        )
        for panel, place in lines.points
        for other in BASELINES
    ]


def grows(lines: Curves) -> list[Contrast]:
    """The SHD of each baseline less that of ADMM is larger at every place than at the one before it."""
    found = []
    for panel in lines.panels:
        for before, after in zip(lines.places, lines.places[1:], strict=False):
            for other in BASELINES:
                gaps = [lines.less("shd", other, PUBLISHED, panel, at).difference for at in (before, after)]
                words = f"growth of SHD {other} − ADMM from {before} to {after}"
                found.append(Contrast(words, subtract(*gaps)))
    return found


def along(number: str, labels: Sequence[str], sign: int) -> Callable[[Curves], list[Contrast]]:
    """The number falls (sign 1) or rises (sign −1) from the fewest sites to the most, for each line."""
    return lambda lines: [
        Contrast(
            lines.name(f"{number.upper()} of {label}, first to last,", panel, ""),
            lines.paired_mean(
                lambda runs: sign * (runs[1][number] - runs[0][number]),
                (label, panel, lines.places[0]),
                (label, panel, lines.places[-1]),
            ),
        )
        for panel in lines.panels
        for label in labels
        if len(lines.places) > 1
    ]


def steadier(lines: Curves) -> list[Contrast]:
    """Within a run the SHD of ADMM ranges less over the numbers of sites than that of each baseline."""

    def ranges(runs: Sequence[Mapping[str, float]]) -> float:
        half = len(runs) // 2
        ours, other = ([run["shd"] for run in part] for part in (runs[:half], runs[half:]))
        return (max(ours) - min(ours)) - (max(other) - min(other))

    return [
        Contrast(
            lines.name(f"range of SHD, {other} − ADMM,", panel, ""),
            lines.paired_mean(
                ranges, *((label, panel, place) for label in (PUBLISHED, other) for place in lines.places)
            ),
        )
        for panel in lines.panels
        for other in BASELINES
        if len(lines.places) > 1
    ]


# Places in a curve: the first and the last number of sites.
FEWEST, MOST = 0, -1


def at_sites(
    place: int, number: str, low: Sequence[str], high: Sequence[str]
) -> Callable[[Curves], list[Contrast]]:
    """Each line of `low` is below each of `high` at the fewest sites, or at the most."""
    return lambda lines: [
        lines.less(number, one, other, panel, lines.places[place])
        for panel in lines.panels
        for one in low
        for other in high
    ]


def compare_printed_tpr(
    label: str, value: float, panel: Place, place: Place
) -> Callable[[Curves], list[Contrast]]:
    """The TPR of a line is the printed one, within the errors of both means and the paper's rounding.

    Where those errors are wide, a value inside them confirms nothing.
    """

    def comparisons(lines: Curves) -> list[Contrast]:
        ours = lines.mean(label, "tpr", panel, place)
        if ours is None or ours.error is None:
            return [Contrast(f"TPR {value}", None)]
        # Below zero where it agrees; the paper's own error is taken to be as large as ours.
        far = standard_errors(ours.runs) * math.sqrt(2) * ours.error
        beyond = abs(ours.value - value) - far - 0.005
        told = beyond > 0 or far <= WIDEST
        words = f"{ours.value:.2f} ± {ours.error:.2f}"
        return [Contrast(words, Mean(beyond, 0.0 if told else None, ours.runs))]

    return comparisons


OTHER_BASELINES = Claim(
    "section 6.1, figure 5",
    "PC-Voting and FGES-Voting have worse SHDs and TPRs",
    lambda lines: [
        *everywhere("shd", [PUBLISHED], [PC_VOTING, FGES_VOTING])(lines),
        *everywhere("tpr", [PC_VOTING, FGES_VOTING], [PUBLISHED])(lines),
    ],
    solver="",
)

FIGURE1 = (
    Claim(
        "section 6.1",
        "ADMM performs the best across different number of variables",
        everywhere("shd", [PUBLISHED], BASELINES),
    ),
    Claim("section 6.1", "the difference of SHD grows as the number of variables increases", grows),
    Claim("section 6.1", "its TPRs are close to those of AllData, compared to the baselines", closer("tpr")),
    Claim("section 6.1", "Avg has lower SHDs than Voting", everywhere("shd", [MEANS], [VOTES])),
    Claim(
        "section 6.1",
        "Voting identifies only a small number of edges, leading to low TPRs",
        everywhere("tpr", [VOTES], [MEANS, PUBLISHED]),
    ),
    Claim(
        "section 6.1",
        "Best has high SHDs owing to high FDRs (judged against ADMM's)",
        lambda lines: [
            *everywhere("shd", [PUBLISHED], [BEST])(lines),
            *everywhere("fdr", [PUBLISHED], [BEST])(lines),
        ],
    ),
    OTHER_BASELINES,
)
FIGURE5 = (OTHER_BASELINES,)

# The TPRs of section 6.2 at d = 20, K = 64: the only numbers that the text prints.
PRINTED_TPR = {PUBLISHED: 0.78, VOTES: 0.05, MEANS: 0.25, BEST: 0.33}

FIGURE2 = (
    Claim(
        "section 6.2",
        "with more sites the TPRs of Voting, Avg and Best quickly deteriorate, leading to high SHDs",
        lambda lines: [*along("tpr", BASELINES, 1)(lines), *along("shd", BASELINES, -1)(lines)],
    ),
    Claim(
        "section 6.2",
        "the TPRs of ADMM also decrease with more sites",
        along("tpr", [PUBLISHED], 1),
        solver="",
    ),
    Claim(
        "section 6.2",
        "they are still high compared to the baselines (at the most sites)",
        at_sites(MOST, "tpr", BASELINES, [PUBLISHED]),
    ),
    *(
        Claim(
            "section 6.2",
            f"with d = 20 and 64 sites, the TPR of “{label}” is {value}",
            compare_printed_tpr(label, value, 20, 64),
            solver="" if label == PUBLISHED else OUR_SOLVER,
        )
        for label, value in PRINTED_TPR.items()
    ),
    Claim(
        "section 6.2",
        "when the number of sites is small, the other baselines perform better than ADMM (SHD at the fewest)",
        at_sites(FEWEST, "shd", BASELINES, [PUBLISHED]),
    ),
    Claim(
        "section 6.2",
        "with 50 variables and 2 or 4 sites Voting, Avg and Best have better SHDs than ADMM",
        lambda lines: [
            lines.less("shd", other, PUBLISHED, 50, sites) for sites in (2, 4) for other in BASELINES
        ],
    ),
)

FIGURE3 = (
    Claim(
        "section 6.3",
        "the performance of Voting, Avg and Best degrades much as the number of sites increases",
        along("shd", BASELINES, -1),
    ),
    Claim("section 6.3", "ADMM has a stable performance across numbers of sites", steadier),
    Claim(
        "section 6.3",
        "ADMM has an improved performance (at the most sites)",
        at_sites(MOST, "shd", [PUBLISHED], BASELINES),
    ),
    Claim("section 6.3", "ADMM has lower SHDs than AllData", everywhere("shd", [PUBLISHED], [ALL_DATA])),
)

FIGURE4 = (
    Claim(
        "section 6.4", "MLP-ADMM outperforms the other baselines", everywhere("shd", [PUBLISHED], BASELINES)
    ),
    Claim("section 6.4", "it has a much stable performance across numbers of sites", steadier),
    Claim("section 6.4", "its performance is close to that of MLP-AllData", closer("shd")),
)
