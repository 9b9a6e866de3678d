"""NO TEARS: table 1, figures 1 to 3, the proteins."""

from __future__ import annotations

from collections.abc import Sequence

from building.claims.row import (
    FAILS,
    HOLDS,
    OPEN,
    Row,
    entry,
    hours_of,
    kept_cells,
    mean_interval,
    number,
    runs_needed,
    table,
    verdict,
)

from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.contrasts import Contrast, interval
from dagora.papers.notears.claims import (
    LINGAMS,
    NOTEARS,
    PC,
    PENALISED,
    PLAIN,
    PUBLISHED,
    SORTED,
    Distances,
    Setting,
    in_most,
)
from dagora.papers.notears.fig3 import label_of
from dagora.papers.tables import Mean

FIG3, FULL = "notears-fig3", "notears/fig3 --full"
SIZES = (10, 20, 50)
SIZES_OF_ALGORITHM_1 = (10, 20)


def distances(sizes: Sequence[int] = SIZES) -> Distances:
    """The SHDs of figure 3 at some sizes; without them, those that all lines have but Algorithm 1."""
    cells = [cell for cell in kept_cells(FIG3) if int(cell.parameters["d"]) in sizes]
    return Distances(cells, label_of)


def leads(found: Distances, setting: Setting, other: str, of: str = NOTEARS) -> str:
    """The leads of a NOTEARS over a line by size."""
    return ", ".join(interval(found.lead(setting, d, other, of)) for d in found.sizes)


def rows() -> list[Row]:
    """Every claim."""
    found = distances()
    size = "d = 10, 20, 50; 10 graphs; path solver"
    more = "d = 10, 20, 50; 10 graphs, SF4 with 20 rows and d = 50: 300; path solver"
    sparse, dense, noises = claims_of_figure3(found)
    grown = [found.growth(("SF4", n, "gaussian"), PENALISED) for n in (1000, 20)]
    many, few = (all(one.clear for one in some) for some in grown)
    return [
        table1(),
        Row(
            "near the true weights with many rows, without λ too (5.1, figures 1 and 2)",
            captions("1000", "0"),
            f"error {errors('1000', '0')}",
            "maps",
            "one graph of each kind, d = 20",
            "notears/fig1",
        ),
        Row(
            "with few rows λ = 0.1 keeps them accurate (captions of figures 1 and 2)",
            captions("20", "0.1"),
            f"error {errors('20', '0.1')}; without λ {errors('20', '0')}",
            "maps",
            "one graph of each kind, d = 20",
            "notears/fig2",
        ),
        Row(
            "FGS is very competitive on sparse graphs, ER2 (5.2, figure 3)",
            sparse,
            "SHD of GES less that of NOTEARS, 1000 rows: "
            f"{leads(found, ('ER2', 1000, 'gaussian'), PENALISED)} (4 × BIC's penalty), "
            f"{leads(found, ('ER2', 1000, 'gaussian'), PLAIN)} (BIC); 20 rows: "
            f"{leads(found, ('ER2', 20, 'gaussian'), PENALISED)} (4 ×)",
            "curves",
            size,
            FULL,
        ),
        Row(
            "NOTEARS is clearly better on dense ones, SF4 (5.2)",
            dense,
            f"1000 rows: {leads(found, ('SF4', 1000, 'gaussian'), PENALISED)}; "
            f"20 rows: {leads(found, ('SF4', 20, 'gaussian'), PENALISED)} (4 ×)",
            "curves",
            more,
            FULL,
        ),
        Row(
            "and its lead grows with d (5.2)",
            f"{HOLDS if many else FAILS} with 1000 rows; {HOLDS if few else FAILS} with 20 (stricter GES)",
            "growth of the lead on SF4, 10 to 20 and 20 to 50: "
            f"{growth(grown[0])} with 1000 rows, {growth(grown[1])} with 20",
            "curves",
            more,
            FULL,
        ),
        Row(
            "uniformly over the noises (5.2)",
            noises,
            "SF4, d = 20, 1000 rows, Gaussian, exponential, Gumbel: "
            + ", ".join(
                interval(found.lead(("SF4", 1000, noise), 20, PENALISED))
                for noise in ("gaussian", "exponential", "gumbel")
            )
            + f"; ER2, d = 50, 20 rows, Gumbel: {interval(found.lead(('ER2', 20, 'gumbel'), 50, PENALISED))}",
            "curves",
            size,
            FULL,
        ),
        algorithm1(),
        less_accurate("PC is markedly less accurate than FGS and NOTEARS (5)", found, PC, size, FULL),
        lingam(),
        sachs(),
        Row(
            "(not in the paper) sorting by variance does as well",
            sorted_verdict(found),
            "SHD of sorting less that of NOTEARS, ER2, 1000 rows: "
            f"{leads(found, ('ER2', 1000, 'gaussian'), SORTED)}",
            "none",
            size,
            FULL,
        ),
    ]


def algorithm1() -> Row:
    """The sentences on figure 3 by the paper's own solver, against the stricter GES."""
    found = distances(SIZES_OF_ALGORITHM_1)
    gaussian = {graph: [(graph, n, "gaussian") for n in (1000, 20)] for graph in ("ER2", "SF4")}
    sparse = found.contrasts(gaussian["ER2"], PENALISED, PUBLISHED)
    dense = found.contrasts(gaussian["SF4"], PENALISED, PUBLISHED)
    grown = [one for setting in gaussian["SF4"] for one in found.growth(setting, PENALISED, PUBLISHED)]
    every = found.contrasts(found.settings, PENALISED, PUBLISHED)
    said = (
        f"FGS competitive on ER2: {FAILS if any(one.clear for one in sparse) else HOLDS}; better on SF4: "
        f"{verdict(dense)}; the lead grows: {verdict(grown)}; for every noise: {verdict(every)}"
    )
    shown = [
        f"{graph}, {n} rows: {leads(found, (graph, n, 'gaussian'), PENALISED, PUBLISHED)}"
        for graph, settings in gaussian.items()
        for _, n, _ in settings
    ]
    graphs = {one.difference.runs for one in every if one.difference}
    return Row(
        "the four sentences by Algorithm 1, the paper's own solver (5.2, figure 3)",
        said,
        f"SHD of GES (4 × BIC's penalty) less that of Algorithm 1, {'; '.join(shown)}",
        "curves",
        f"d = {', '.join(map(str, found.sizes))}; {' to '.join(map(str, sorted(graphs)))} graphs",
        FULL,
    )


def table1() -> Row:
    """The row of table 1 with many rows and a penalty."""
    where = {"n": "1000", "λ": "0.5", "graph": "ER2"}

    def above(solver: str, digits: int = 1) -> str:
        ours, best = (
            float(entry("notears-table1", name, solver=solver, **where)) for name in ("F(W_ECP)", "F(W_G)")
        )
        return f"{100 * (ours / best - 1):.{digits}f} %"

    here = [
        mean_interval("notears-table1", column, 2, runs="graphs", solver="Algorithm 1 (published)", **where)
        for column in ("F(W_ECP)", "F(W_G)")
    ]
    return Row(
        "near the exact optimum (5.3, table 1)",
        f"{HOLDS}: {above('Algorithm 1 (published)')} above; our path solver {above('path solver (ours)')}",
        f"F {here[0]} of {here[1]} (n = 1000, λ = 0.5, ER2)",
        f"13.46 of 13.32: {above('the paper')} above",
        f"d = 10; {entry('notears-table1', 'graphs', solver='path solver (ours)', **where)} graphs",
        "notears/table1 --full",
    )


def error(figure: str, n: str, lambda1: str) -> tuple[str, str]:
    """The error of a map, and the size of the weights."""
    row = next(
        row
        for row in table(f"notears-{figure}")
        if row["n"] == n and row["estimate"].startswith(f"W_ECP({lambda1})")
    )
    return number(row["error"], 2), number(row["‖W‖"], 2)


def errors(n: str, lambda1: str) -> str:
    """The errors of both figures."""
    parts = [(kind, *error(figure, n, lambda1)) for figure, kind in (("fig1", "ER2"), ("fig2", "SF4"))]
    return ", ".join(f"{value} of {norm} ({kind})" for kind, value, norm in parts)


def captions(n: str, lambda1: str) -> str:
    """A caption holds on a graph if the error is below half of the weights."""
    good = {}
    for figure, kind in (("fig1", "ER2"), ("fig2", "SF4")):
        value, norm = error(figure, n, lambda1)
        good[kind] = float(value) < float(norm) / 2
    if len(set(good.values())) == 1:
        return HOLDS if good["ER2"] else FAILS
    return "; ".join(f"{HOLDS if fine else FAILS} on {kind}" for kind, fine in good.items())


def claims_of_figure3(found: Distances) -> tuple[str, str, str]:
    """Verdicts on sparse graphs, on dense ones and over the noises, against the stricter GES."""
    worse = {
        n: [
            d
            for d, one in zip(found.sizes, found.contrasts([("ER2", n, "gaussian")], PENALISED), strict=True)
            if one.clear
        ]
        for n in (1000, 20)
    }
    parts = [
        f"{FAILS} with {n} rows"
        + ("" if len(at) == len(found.sizes) else f" at d = {' and '.join(map(str, at))}")
        if at
        else f"{HOLDS} with {n} rows"
        for n, at in worse.items()
    ]
    dense = "; ".join(f"{verdict_at(found, [('SF4', n, 'gaussian')])} with {n} rows" for n in (1000, 20))
    noises = "; ".join(
        f"{verdict_at(found, [setting for setting in found.settings if setting[1] == n])} with {n} rows"
        for n in (1000, 20)
    )
    return "; ".join(parts), dense, noises


def verdict_at(found: Distances, settings: Sequence[Setting]) -> str:
    """Holds where NOTEARS is clearly better everywhere; else where it is clearly worse, or open."""
    contrasts = found.contrasts(settings, PENALISED)
    for side, word in ((False, FAILS), (None, OPEN)):
        at = list(dict.fromkeys(one.words.rpartition(", ")[2] for one in contrasts if one.clear is side))
        if at:
            noises = {one.words.split(", ")[2] for one in contrasts if one.clear is side}
            cost = f" ({cost_of(found, contrasts)})" * (word == OPEN)
            of = f" for {' and '.join(sorted(noises)).capitalize()} noise" if len(settings) > 1 else ""
            return f"{word} at {', '.join(at)}{of}{cost}"
    return HOLDS


def cost_of(found: Distances, contrasts: Sequence[Contrast]) -> str:
    """Graphs until open differences are clear, and what they cost."""
    unclear = [one.difference for one in contrasts if one.clear is None and one.difference is not None]
    graphs = max(map(runs_needed, unclear))
    methods = {"notears", "ges-penalised"}
    hours = (
        hours_of(FIG3, lambda p: p["method"] in methods and p["d"] == found.sizes[-1] and p["n"] == 20) / 60
    )
    return f"{graphs} graphs, {max(hours * graphs, 0.1):.1f} CPU hours"


def growth(contrasts: Sequence[Contrast]) -> str:
    """By how much a lead grows from size to size."""
    parts = [one.difference for one in contrasts]
    return " and ".join(
        interval(None if one is None else Mean(-one.value, one.error, one.runs)) for one in parts
    )


def less_accurate(claim: str, found: Distances, line: str, size: str, command: str) -> Row:
    """A method against GES and NOTEARS in all settings."""
    words = {NOTEARS: "NOTEARS", PLAIN: "GES with BIC", PENALISED: "GES with 4 × its penalty"}
    said = {name: in_most(found.contrasts(found.settings, line, other)) for other, name in words.items()}
    verdicts = [
        f"{text.partition(':')[0].replace('fails', FAILS)} against {name}" for name, text in said.items()
    ]
    ours = "; ".join(f"{text.partition(': ')[2]} than {name}" for name, text in said.items())
    return Row(claim, "; ".join(verdicts), ours, "no numbers", size, command)


def lingam() -> Row:
    """ICA-LiNGAM, which the paper cites."""
    cells = [cell for cell in kept_cells("notears-fig3-lingam") if int(cell.parameters["d"]) in SIZES]
    return less_accurate(
        "LiNGAM (Shimizu et al. 2006) is markedly less accurate too (5)",
        Distances(cells, label_of),
        LINGAMS[0],
        "d = 10, 20, 50 (20 rows: 10); 10 graphs",
        "notears/fig3-lingam --full",
    )


def sachs() -> Row:
    """Edges on the proteins."""
    by_us = {
        columns: entry("notears-sachs", "edges", method="NOTEARS, Algorithm 1 (published)", columns=columns)
        for columns in ("raw", "standardised")
    }
    theirs = [entry("notears-sachs", "edges", method=f"{name}, the paper") for name in ("NOTEARS", "FGS")]
    shd = entry("notears-sachs", "SHD to 20", method="NOTEARS, the paper")
    return Row(
        "proteins: an SHD like that of FGS (5.4)",
        f"{OPEN} at any cost: the paper's consensus graph of 20 edges is not published",
        f"{by_us['raw']} edges on raw columns, {by_us['standardised']} on standardised ones",
        f"{theirs[0]} edges (FGS {theirs[1]}), SHD {shd} for both",
        "7466 rows",
        "notears/sachs",
    )


def sorted_verdict(found: Distances) -> str:
    """The null model: it fails where it is clearly worse."""
    contrasts = found.contrasts(found.settings, SORTED)
    worse = {
        d: sum(bool(one.clear) for one in contrasts if one.words.endswith(f"d = {d}")) for d in found.sizes
    }
    total = len(contrasts) // len(found.sizes)
    counts = ", ".join(map(str, worse.values()))
    said = FAILS if any(worse.values()) else HOLDS
    return f"{said}: clearly worse in {counts} of {total} settings at d = {', '.join(map(str, worse))}"


def picture() -> str:
    """The lead over the stricter GES by size."""
    found = distances()
    panels = [
        ChartPanel(
            f"{n} rows",
            tuple(
                Series(
                    graph,
                    tuple(float(d) for d in found.sizes),
                    tuple(
                        lead
                        for d in found.sizes
                        if (lead := found.lead((graph, n, "gaussian"), d, PENALISED))
                    ),
                )
                for graph in ("ER2", "SF4")
            ),
        )
        for n in (1000, 20)
    ]
    return draw_panels(
        panels, columns=2, x_label="variables d", y_label="SHD of GES − NOTEARS", share_y=False,
        title="NO TEARS: its lead over GES (4 × BIC's penalty)", logarithmic_x=True,
    )  # fmt: skip
