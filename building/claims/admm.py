"""ADMM over sites: figures 1 to 8, and what the exchange gives away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from building.claims.row import (
    FAILS,
    HOLDS,
    OPEN,
    Row,
    entry,
    hours_of,
    kept_cells,
    kept_lines,
    runs_needed,
    verdict,
)

from dagora.papers.admm import claims
from dagora.papers.admm.claims import Curves, Place
from dagora.papers.admm.contenders import (
    ALL_DATA,
    BEST,
    FGES_VOTING,
    JUDGED,
    LINEAR,
    MEANS,
    NONLINEAR,
    PC_VOTING,
    PUBLISHED,
    SECURE_SUM,
    VOTES,
)
from dagora.papers.admm.linear import FIG1_SITES, LINES
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.contrasts import Contrast, interval
from dagora.papers.tables import Mean

BASELINES = claims.BASELINES
NAMES = {VOTES: "Voting", MEANS: "Avg", BEST: "Best", PUBLISHED: "ADMM", ALL_DATA: "all data"}
RUNS = "30 runs; NOTEARS by our solver"
SIZES, SITES = (10, 20, 50), (2, 8, 64)
FIG1, FIG2, FIG3 = (f"admm/{name} --full" for name in ("fig1", "fig2", "fig3"))
OVER_SITES = f"256 rows, 2 to 64 sites; {RUNS}"


@cache
def curves(figure: str) -> Curves:
    """The cells of a figure."""
    cells = kept_cells(f"admm-{figure}")
    if figure == "fig1":
        return Curves.of(cells, LINES, "", "d")
    if figure == "fig2":
        return Curves.of(cells, LINES, "d", "sites")
    if figure == "fig4-d20":
        return Curves.of(cells, NONLINEAR, "", "sites")
    return Curves.of(cells, LINEAR, "scale", "sites")


def over_d(*lines: str) -> str:
    """The size of figure 1, with the runs of lines that have more than thirty."""
    counts = {line: ", ".join(str(len(curves("fig1").at(line, "", d))) for d in SIZES) for line in lines}
    return f"d = 10, 20, 50; {RUNS}; of {'; of '.join(f'{NAMES[line]} {of}' for line, of in counts.items())}"


def difference(
    figure: str, measure: str, one: str, other: str, place: Place, panel: Place = "", digits: int = 1
) -> str:
    """The number of a line less that of another at a place."""
    found = curves(figure).less(measure, other, one, panel, place).difference
    return interval(None if found is None else Mean(-found.value, found.error, found.runs), digits)


def value(figure: str, measure: str, line: str, place: Place, panel: Place = "", digits: int = 2) -> str:
    """The mean of a line at a place."""
    return interval(curves(figure).mean(line, measure, panel, place), digits)


def leads(figure: str, line: str, panel: Place = "") -> str:
    """The SHD of a line less ADMM's, over the places."""
    return ", ".join(difference(figure, "shd", line, PUBLISHED, at, panel) for at in curves(figure).places)


def judged(figure: str, claim: str) -> list[Contrast]:
    """The comparisons that a sentence of the paper comes to."""
    sentences = {"fig1": claims.FIGURE1, "fig2": claims.FIGURE2, "fig3": claims.FIGURE3}[figure]
    found = [one for one in sentences if claim in one.words]
    if len(found) != 1:
        raise ValueError(f"{figure}: {len(found)} claims say “{claim}”")
    return list(found[0].comparisons(curves(figure)))


def rows() -> list[Row]:
    """Every claim."""
    return [*over_variables(), *over_sites(), *proteins(), networks(), revealed(), beside_secure_sum()]


def from_curves(claim: str, verdict: str, ours: str, size: str, command: str) -> Row:
    """A claim of which the paper shows curves."""
    return Row(claim, verdict, ours, "curves", size, command)


def over_variables() -> list[Row]:
    """The claims of section 6.1, on figures 1 and 5."""
    lower = [Contrast(str(d), curves("fig1").less("shd", MEANS, VOTES, "", d).difference) for d in SIZES]

    def row(claim: str, verdict: str, ours: str) -> Row:
        return from_curves(claim, verdict, ours, over_d(PUBLISHED, MEANS, VOTES), FIG1)

    return [
        row(
            "lowest SHD at every d (6.1, figure 1)",
            verdict(judged("fig1", "ADMM performs the best")),
            f"SHD less ADMM's: {each('fig1', BASELINES)}",
        ),
        lead_grows(),
        row(
            "TPRs closest to those of all data (6.1)",
            verdict(judged("fig1", "its TPRs are close")),
            f"TPR at d = 10, 20, 50: {tprs(PUBLISHED)}; all data {tprs(ALL_DATA)}; Avg {tprs(MEANS)}",
        ),
        row(
            "Avg has lower SHDs than Voting (6.1)",
            by_place(lower) + cost_of_avg(lower),
            f"Avg − Voting: {intervals(lower)} (d = 50: 330 runs)",
        ),
        row(
            "Voting finds few edges: low TPRs (6.1)",
            verdict(judged("fig1", "Voting identifies")),
            f"TPR of Voting {tprs(VOTES)}",
        ),
        row(
            "Best has high SHDs owing to high FDRs (6.1)",
            verdict(judged("fig1", "Best has high")),
            f"FDR of Best {tprs(BEST, 'fdr')}, of ADMM {tprs(PUBLISHED, 'fdr')}",
        ),
        from_curves(
            "PC-Voting and FGES-Voting are worse (6.1, figure 5)",
            verdict(judged("fig1", "PC-Voting")),
            f"SHD less ADMM's: PC {leads('fig1', PC_VOTING)}; FGES {leads('fig1', FGES_VOTING)}",
            "d = 10, 20, 50; 30 runs",
            "admm/fig5 --full",
        ),
    ]


def over_sites() -> list[Row]:
    """The claims of section 6.2, on figures 2 and 6."""
    return [
        from_curves(
            "with more sites Voting, Avg and Best deteriorate quickly (6.2, figures 2 and 6)",
            verdict(judged("fig2", "quickly deteriorate")),
            f"TPR from 2 to 64 sites at d = 20: {falls(BASELINES)}",
            OVER_SITES,
            FIG2,
        ),
        from_curves(
            "ADMM deteriorates too, but less, and is best at 64 sites (6.2)",
            verdict([*judged("fig2", "TPRs of ADMM also decrease"), *judged("fig2", "still high")]),
            f"TPR from 2 to 64 sites at d = 20: {falls((PUBLISHED,))}",
            OVER_SITES,
            FIG2,
        ),
        printed(),
        few_sites(),
    ]


def revealed() -> Row:
    """The claim of section 7: what the exchange gives away."""
    uses = {"what the coordinator uses": "published: every B_k of round 1"}
    return Row(
        "how much the shared parameters tell is left open (7)",
        "every site's covariance, from the first round",
        f"largest relative error {entry('admm-privacy', 'largest error', d='20', sites='8', **uses)}",
        "none",
        "d = 20, 8 sites; 3 runs",
        "admm/privacy",
    )


def beside_secure_sum() -> Row:
    """Our own claim: NOTEARS on one secure sum does better."""
    with_sites = [secure("fig2", 20, at) for at in SITES]
    with_variables = [secure("fig1", "", d) for d in SIZES]
    runs = ", ".join(str(one.difference.runs) for one in with_variables if one.difference)
    return Row(
        "(not in the paper) one secure sum of second moments does better",
        f"{verdict(with_sites)} with 256 rows, d = 20; with 3 d rows "
        f"{by_place(with_variables)}{cost_of_secure(with_variables)}",
        f"SHD less ADMM's, 2, 8 and 64 sites: {intervals(with_sites)}; "
        f"with 3 d rows: {intervals(with_variables)}",
        "none",
        f"{OVER_SITES}; 3 d rows, 10 sites: {runs}",
        FIG2,
    )


def intervals(contrasts: Sequence[Contrast]) -> str:
    """The intervals of differences, one after the other."""
    return ", ".join(interval(one.difference) for one in contrasts)


def secure(figure: str, panel: Place, place: Place) -> Contrast:
    """The SHD of NOTEARS on one secure sum is below ADMM's."""
    return Contrast(str(place), curves(figure).less("shd", SECURE_SUM, PUBLISHED, panel, place).difference)


def each(figure: str, lines: Sequence[str]) -> str:
    """The leads of ADMM over some lines."""
    return "; ".join(f"{NAMES[line]} {leads(figure, line)}" for line in lines)


def tprs(line: str, measure: str = "tpr") -> str:
    """TPRs over the sizes."""
    return ", ".join(value("fig1", measure, line, d) for d in SIZES)


def falls(lines: Sequence[str]) -> str:
    """TPRs with the fewest sites and the most."""
    parts = [
        f"{NAMES[line]} {value('fig2', 'tpr', line, 2, 20)} to {value('fig2', 'tpr', line, 64, 20)}"
        for line in lines
    ]
    return "; ".join(parts)


def by_place(contrasts: Sequence[Contrast]) -> str:
    """The verdict at each d."""
    at = {
        word: [one.words for one in contrasts if one.clear is side]
        for side, word in ((False, FAILS), (True, HOLDS), (None, OPEN))
    }
    return "; ".join(f"{word} at d = {' and '.join(places)}" for word, places in at.items() if places)


def cost_of_secure(contrasts: Sequence[Contrast]) -> str:
    """Runs and CPU hours until open differences between ADMM and one secure sum are clear."""
    told = [
        f"d = {d}: {runs} runs, {max(hours, 0.1):.1f} CPU hours"
        for d, runs, hours in costs(contrasts, SECURE_SUM, PUBLISHED)
    ]
    return f" ({'; '.join(told)})" * bool(told)


def cost_of_avg(contrasts: Sequence[Contrast]) -> str:
    """CPU hours until open differences between Avg and Voting are clear."""
    hours = sum(hours for _, _, hours in costs(contrasts, MEANS, VOTES))
    return f" (about {max(hours, 0.1):.1f} CPU hours)" * (hours > 0)


def costs(contrasts: Sequence[Contrast], *lines: str) -> Iterator[tuple[str, int, float]]:
    """The d of each open difference between lines, the runs until it is clear, and their CPU hours."""
    for one in contrasts:
        if one.clear is None and one.difference is not None:
            runs = runs_needed(one.difference)
            yield one.words, runs, runs * sum(hours_a_run(line, one.words) for line in lines)


def lead_grows() -> Row:
    """The lead over each baseline from d to d, and what it would cost to tell."""
    contrasts = claims.grows(curves("fig1"))
    said, shown = [], []
    for line in BASELINES:
        own = [one for one in contrasts if f" {line} " in one.words]
        growth = [
            Mean(-one.difference.value, one.difference.error, one.difference.runs)
            for one in own
            if one.difference
        ]
        word = f"{verdict(own)} over {NAMES[line]}"
        steps = [f"from {low} to {high}" for low, high in pairwise(SIZES)]
        if word.startswith((FAILS, OPEN)):
            side = False if word.startswith(FAILS) else None
            at = [step for step, one in zip(steps, own, strict=True) if one.clear is side]
            word += f" {' and '.join(at)}"
        if word.startswith(OPEN):
            last = own[-1].difference
            assert last is not None
            word += f" ({cost(last, line)} CPU hours)"
        said.append(word)
        shown.append(f"{NAMES[line]} {' and '.join(interval(one) for one in growth)}")
    return from_curves(
        "the lead grows with d (6.1)",
        "; ".join(said),
        f"growth from 10 to 20 and 20 to 50: {'; '.join(shown)}",
        over_d(PUBLISHED, MEANS, VOTES),
        FIG1,
    )


def cost(last: Mean, line: str) -> str:
    """CPU hours until a difference between d = 20 and 50 of this size is clear."""
    hours = sum(hours_a_run(one, d) for one in (line, PUBLISHED) for d in ("20", "50"))
    return f"about {math.ceil(hours * runs_needed(last))}"


def hours_a_run(line: str, d: str) -> float:
    """The CPU hours of one run of a line of figure 1."""
    options = {name: value for name, value in LINEAR[line].items() if name not in JUDGED}
    like = {"sites": FIG1_SITES, "model": None, "published": None} | options
    spent: list[float] = [
        one["seconds"]
        for one in kept_lines("admm-fig1")
        if str(one["parameters"]["d"]) == d
        and all(one["parameters"].get(name) == value for name, value in like.items())
    ]
    return sum(spent) / len(spent) / 3600


def printed() -> Row:
    """The only TPRs that the text prints."""
    said, ours = [], []
    for line, theirs in claims.PRINTED_TPR.items():
        contrast = claims.compare_printed_tpr(line, theirs, 20, 64)(curves("fig2"))
        said.append(f"{verdict(contrast)} for {NAMES[line]}")
        ours.append(value("fig2", "tpr", line, 64, 20))
    theirs_all = ", ".join(f"{number:.2f}" for number in claims.PRINTED_TPR.values())
    return Row(
        "the TPR at d = 20 with 64 sites: ADMM, Voting, Avg, Best (6.2)",
        "; ".join(said),
        ", ".join(ours),
        theirs_all,
        f"256 rows; {RUNS}",
        FIG2,
    )


def few_sites() -> Row:
    """With two sites, and with 50 variables and four."""
    two = verdict(judged("fig2", "when the number of sites is small"))
    four = [
        Contrast(NAMES[line], curves("fig2").less("shd", line, PUBLISHED, 50, 4).difference)
        for line in BASELINES
    ]
    parts = "; ".join(
        f"{NAMES[line]} {difference('fig2', 'shd', line, PUBLISHED, 4, 50)}" for line in BASELINES
    )
    wrong = " and ".join(one.words for one in four if one.clear is False)
    said = (
        f"{FAILS} for {wrong} with 4 sites at d = 50" if wrong else f"{verdict(four)} with 4 sites at d = 50"
    )
    return from_curves(
        "with few sites the baselines are better (6.2, figure 2)",
        f"{two} with 2 sites; {said}",
        f"SHD less ADMM's at d = 50 with 4 sites: {parts}",
        OVER_SITES,
        FIG2,
    )


def proteins() -> list[Row]:
    """The claims of section 6.3, on raw columns and on standardised ones."""
    size = f"512 rows, 2 to 64 sites; {RUNS}; Voting and ADMM, standardised: 90"
    shown = {
        "degrades much": (
            "proteins: Voting, Avg and Best degrade with the sites (6.3, figures 3 and 7)",
            lambda scale: "; ".join(f"{NAMES[line]} {change(line, scale)}" for line in BASELINES),
            "SHD at 64 sites less that at 2: ",
        ),
        "stable performance": (
            "proteins: ADMM is stable over sites (6.3)",
            lambda scale: "; ".join(f"{NAMES[line]} {range_of(line, scale)}" for line in BASELINES),
            "range of SHD over sites less ADMM's: ",
        ),
        "improved performance": (
            "proteins: ADMM is best at 64 sites (6.3)",
            lambda scale: "; ".join(
                f"{NAMES[line]} {difference('fig3', 'shd', line, PUBLISHED, 64, scale, 2)}"
                for line in BASELINES
            ),
            "SHD less ADMM's: ",
        ),
        "lower SHDs than AllData": (
            "proteins: ADMM is better than all data (6.3)",
            lambda scale: (
                f"{difference('fig3', 'shd', ALL_DATA, PUBLISHED, 2, scale)} with 2 sites, "
                f"{difference('fig3', 'shd', ALL_DATA, PUBLISHED, 64, scale)} with 64"
            ),
            "SHD of all data less ADMM's: ",
        ),
    }
    found = []
    for words, (claim, numbers, what) in shown.items():
        contrasts = judged("fig3", words)
        said = []
        for scale in ("raw", "standardised"):
            own = [one for one in contrasts if scale in one.words]
            word = verdict(own)
            if word == OPEN:
                worst = [one.difference for one in own if one.clear is None and one.difference is not None]
                word += f" ({protein_cost(worst)})"
            said.append(f"{word} on {scale} columns")
        ours = f"{what}raw {numbers('raw')}; standardised {numbers('standardised')}"
        found.append(from_curves(claim, "; ".join(said), ours, size, FIG3))
    return found


def protein_cost(open_ones: Sequence[Mean]) -> str:
    """CPU hours until differences on the standardised proteins are clear."""
    hours = hours_of("admm-fig3", lambda p: p["scale"] == "standardised")
    return f"about {max(hours * runs_needed(one) / one.runs for one in open_ones):.1f} CPU hours"


def change(line: str, scale: str) -> str:
    """The SHD with the most sites less that with the fewest."""
    lines = curves("fig3")
    found = lines.paired_mean(
        lambda runs: runs[1]["shd"] - runs[0]["shd"],
        (line, scale, lines.places[0]),
        (line, scale, lines.places[-1]),
    )
    return interval(found)


def range_of(line: str, scale: str) -> str:
    """How much more the SHD of a line ranges over the sites than ADMM's."""
    found = [
        one.difference
        for one in claims.steadier(curves("fig3"))
        if f", {line} " in one.words and scale in one.words
    ]
    [only] = found
    return interval(None if only is None else Mean(-only.value, only.error, only.runs), 2)


def networks() -> Row:
    """Figure 4, with 20 variables."""
    found = curves("fig4-d20")
    said = {
        sentence: {at: [one for one in compare(found) if one.words.endswith(f" {at}")] for at in found.places}
        for sentence, compare in (
            ("better", claims.everywhere("shd", [PUBLISHED], BASELINES)),
            ("nearer all data", claims.closer("shd")),
        )
    }
    parts = [f"{name}: {by_sites(places)}" for name, places in said.items()]
    parts.insert(1, f"steadier: {verdict(claims.steadier(found))}")
    shown = "; ".join(f"{NAMES[line]} {leads('fig4-d20', line)}" for line in BASELINES)
    pooled = leads("fig4-d20", ALL_DATA)
    return from_curves(
        "with networks: better than the baselines, stable, near all data (6.4, figures 4 and 8)",
        "; ".join(parts),
        f"SHD less ADMM's, 2, 4 and 8 sites: {shown}; all data {pooled}",
        "d = 20, n = 256; 10 runs, with 2 sites 30 (the paper: 50, 512; 30)",
        "admm/fig4-d20 --full",
    )


def by_sites(places: Mapping[Place, Sequence[Contrast]]) -> str:
    """The verdict at each number of sites, with the cost where it cannot be told."""
    words: dict[str, list[str]] = {}
    for at, compared in places.items():
        assert len(compared) == len(BASELINES)
        found = verdict(compared)
        if found == OPEN:
            open_ones = [one.difference for one in compared if one.clear is None and one.difference]
            needed = max(runs_needed(one) for one in open_ones)
            spent = hours_of("admm-fig4-d20", lambda p: p["sites"] in (1, at))  # noqa: B023
            hours = spent * needed / open_ones[0].runs
            found += f" ({needed} runs, about {max(1, round(hours))} CPU hours)"
        words.setdefault(found, []).append(str(at))
    return ", ".join(f"{word} with {' and '.join(some)} sites" for word, some in words.items())


def picture() -> str:
    """SHD over the number of variables, and TPR over the number of sites."""
    shown = (PUBLISHED, MEANS, VOTES, SECURE_SUM)
    names = NAMES | {SECURE_SUM: "one secure sum"}

    def series(figure: str, measure: str, panel: Place) -> tuple[Series, ...]:
        lines = curves(figure)
        return tuple(
            Series(
                names[line],
                tuple(float(at) for at in lines.places),
                tuple(
                    found
                    for at in lines.places
                    if (found := lines.mean(line, measure, panel, at)) is not None
                ),
            )
            for line in shown
        )

    distances = ChartPanel("SHD, 10 sites, over variables d", series("fig1", "shd", ""))
    rates = ChartPanel("TPR, d = 20, over sites", series("fig2", "tpr", 20))
    return draw_panels(
        [distances, rates], columns=2, x_label="", y_label="", title="ADMM over sites: 30 runs and more",
        share_y=False, logarithmic_x=True,
    )  # fmt: skip
