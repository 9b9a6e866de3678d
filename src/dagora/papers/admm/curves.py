"""The common report of the figures: a table of all methods, and a row of charts each for SHD, TPR and FDR."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dagora.papers.admm.contenders import ALONE, MASKED
from dagora.papers.cell import MeasuredCell, Parameters
from dagora.papers.charts import ChartPanel, Series, draw_panels
from dagora.papers.tables import Entry, Mean, ResultTable, group, mean_of

NUMBERS = ("shd", "tpr", "fdr")
POOLED_LAST = 1 << 30  # after any number of sites
METHOD = ("method", "published", "model", "uncut", "judged")
Published = Mapping[tuple[int, int, str], float]


def label_of(parameters: Parameters, methods: Mapping[str, Parameters]) -> str | None:
    """Name the method of a cell; None for a cell that compares masked sums with pooled rows."""
    if MASKED in parameters:
        return None
    pooled = int(parameters["sites"]) == 1
    for label, options in methods.items():
        same = all(parameters.get(name) == options.get(name) for name in METHOD)
        if same and pooled == (options.get("sites") == 1):
            return label
    raise ValueError(f"no method has the options {dict(parameters)}")


def by_method(
    measured: Sequence[MeasuredCell], methods: Mapping[str, Parameters]
) -> dict[str, list[MeasuredCell]]:
    """The cells of each method, in the order of the methods."""
    found: dict[str, list[MeasuredCell]] = {label: [] for label in methods}
    for cell in judgements(measured):
        label = label_of(cell.parameters, methods)
        if label is not None:
            found[label].append(cell)
    return found


def judgements(measured: Sequence[MeasuredCell]) -> list[MeasuredCell]:
    """A cell for each line that judges one: graphs also with their cycles; votes, means and the best site."""
    return [part for cell in measured for part in judgements_of(cell)]


def judgements_of(cell: MeasuredCell) -> list[MeasuredCell]:
    """The cell as each of its lines judges it."""
    if cell.parameters.get("method") == ALONE:
        shared = {name: value for name, value in cell.numbers.items() if not isinstance(value, Mapping)}
        return [
            MeasuredCell({**cell.parameters, "judged": name}, {**shared, **numbers})
            for name, numbers in cell.numbers.items()
            if isinstance(numbers, Mapping)
        ]
    return [cell, uncut(cell)] if "uncut_shd" in cell.numbers else [cell]


def uncut(cell: MeasuredCell) -> MeasuredCell:
    """The same cell, with the numbers of its graph before edges were cut."""
    numbers = {number: cell.numbers[f"uncut_{number}"] for number in NUMBERS}
    rest = {name: value for name, value in cell.numbers.items() if not name.startswith("uncut_")}
    return MeasuredCell({**cell.parameters, "uncut": 1}, {**rest, **numbers, "dropped": None})


def size_of(measured: Sequence[MeasuredCell], paper: str) -> str:
    """The size of what was measured, for the first line of a page, beside the paper's.

    >>> cell = MeasuredCell({"d": 10, "n": 30, "sites": 2, "method": "admm", "seed": 0}, {})
    >>> size_of([cell], "d = 10 to 100, 30 runs")
    'd = 10; n = 30; 2 sites; 1 run per point (the paper: d = 10 to 100, 30 runs)'
    """
    kept = [cell.parameters for cell in measured if MASKED not in cell.parameters]
    words = [f"{name} = {values_of(kept, name)}" for name in ("d", "n") if any(name in one for one in kept)]
    sites = values_of([one for one in kept if one["sites"] != 1] or kept, "sites")
    points = Counter(tuple(sorted((k, str(v)) for k, v in one.items() if k != "seed")) for one in kept)
    few, many = (min(points.values()), max(points.values())) if points else (0, 0)
    runs = f"{few} run{'s' * (few != 1)}" if few == many else f"{few} to {many} runs"
    return "; ".join([*words, f"{sites} sites", f"{runs} per point (the paper: {paper})"])


def values_of(cells: Sequence[Parameters], name: str) -> str:
    """The values of a parameter, in order."""
    return ", ".join(
        str(value) for value in sorted({cell[name] for cell in cells if name in cell}, key=float)
    )


def table_of(
    measured: Sequence[MeasuredCell],
    methods: Mapping[str, Parameters],
    panels: str,
    *,
    name: str,
    title: str,
    published: Published | None = None,
) -> ResultTable:
    """Rows by panel, number of sites and method; `published` has TPRs by (d, sites, method)."""
    panel_order = [panel for (panel,) in group(measured, (panels,))]
    order = list(methods)
    rows: dict[tuple[int, int, int], tuple[Entry, ...]] = {}
    for label, cells in by_method(measured, methods).items():
        for (panel, n, sites), some in group(cells, (panels, "n", "sites")).items():
            numbers = (mean_of(some, number) for number in (*NUMBERS, "dropped", "rounds", "cpu_seconds"))
            # Pooled rows come last.
            place = (panel_order.index(panel), POOLED_LAST if sites == 1 else int(sites), order.index(label))
            rows[place] = (panel, n, "pooled" if sites == 1 else sites, label, *numbers, len(some))
            if published is not None:
                rows[place] += (published.get((int(panel), int(sites), label)),)
    columns: tuple[str, ...] = (
        panels, "n", "sites", "method", "SHD", "TPR", "FDR", "cut", "rounds", "CPU s", "runs",
    )  # fmt: skip
    digits: tuple[int, ...] = (0, 0, 0, 0, 1, 2, 2, 1, 0, 2, 0)
    if published is not None:
        columns, digits = (*columns, "TPR, the paper"), (*digits, 2)
    return ResultTable(name, title, columns, tuple(rows[place] for place in sorted(rows)), digits)


def masked_table(measured: Sequence[MeasuredCell]) -> tuple[ResultTable, ...]:
    """NOTEARS on masked sums against NOTEARS on pooled rows; nothing where that was not measured."""
    rows = tuple(
        (
            *(cell.parameters[name] for name in ("d", "n", "sites")),
            int(cell.numbers["between"]),
            f"{cell.numbers['difference']:.0e}",
            int(cell.numbers["rounds"]),
            float(cell.numbers["kilobytes"]),
        )
        for cell in measured
        if MASKED in cell.parameters
    )
    columns = ("d", "n", "sites", "SHD between", "largest difference of weights", "rounds", "kB per site")
    title = "NOTEARS on masked sums, against NOTEARS on the pooled rows"
    return (ResultTable("masked", title, columns, rows, 1),) if rows else ()


def round_limit_notes(measured: Sequence[MeasuredCell], methods: Mapping[str, Parameters]) -> tuple[str, ...]:
    """A line for each method some of whose runs ended at their limit of rounds."""
    notes = []
    for label, cells in by_method(measured, methods).items():
        early = sum(not cell.numbers["finished"] for cell in cells if "uncut" not in cell.parameters)
        if early:
            notes.append(f"{label}: {early} of {len(cells)} runs ended at their limit, without agreement.")
    return tuple(notes)


def silent(measured: Sequence[MeasuredCell], methods: Mapping[str, Parameters]) -> tuple[str, ...]:
    """A line for each size at which sites of a vote had too few rows to learn, and voted for no edge."""
    notes = []
    for label, cells in by_method(measured, methods).items():
        for (d, sites), some in group(cells, ("d", "sites")).items():
            without = sum(cell.numbers.get("silent") or 0 for cell in some)
            if without:
                rows = int(some[0].parameters["n"]) // int(sites)
                most = without == len(some) * int(sites)
                could = (
                    "no site could learn" if most else f"{without / len(some):g} of {sites} could not learn"
                )
                notes.append(
                    f"{label}, d = {d}: with {rows} rows each, {could}; such a site votes for no edge."
                )
    return tuple(notes)


def charts_of(
    measured: Sequence[MeasuredCell],
    methods: Mapping[str, Parameters],
    panels: str,
    x: str,
    *,
    title: str,
    x_label: str,
    published: Published | None = None,
) -> dict[str, str]:
    """A picture each for SHD, TPR and FDR, with a panel for each value of `panels`.

    Where there is only one value, or `panels` is empty, one picture has the three side by side.
    """
    kept = [cell for cell in measured if MASKED not in cell.parameters]
    parts = group(kept, (panels,)) if panels else {("",): kept}
    drawn: dict[str, list[ChartPanel]] = {number: [] for number in NUMBERS}
    for number in NUMBERS:
        for (value,), cells in parts.items():
            curves = series_of(cells, methods, x, number)
            if published and number == "tpr":
                curves += printed_series(published, int(value))
            words = str(value) if isinstance(value, str) else f"{panels} = {value}"
            heading = words if len(parts) > 1 else ", ".join(filter(None, (number.upper(), words)))
            drawn[number] += [ChartPanel(heading, curves)] if curves else []
    if len(parts) <= 1:
        three = [panel for number in NUMBERS for panel in drawn[number]]
        return {"curves": grid(three, title, x_label, "", share_y=False)} if three else {}
    return {
        number: grid(drawn[number], f"{title}: {number.upper()}", x_label, number.upper(), share_y=True)
        for number in NUMBERS
        if drawn[number]
    }


def grid(panels: Sequence[ChartPanel], title: str, x_label: str, y_label: str, *, share_y: bool) -> str:
    """Three panels in a row."""
    return draw_panels(
        panels, columns=3, x_label=x_label, y_label=y_label, title=title, logarithmic_x=True, share_y=share_y
    )


def series_of(
    cells: Sequence[MeasuredCell], methods: Mapping[str, Parameters], x: str, number: str
) -> tuple[Series, ...]:
    """One curve per method; that of pooled rows is constant over the numbers of sites."""
    everywhere = sorted(
        {float(cell.parameters[x]) for cell in cells if not (x == "sites" and is_pooled_cell(cell))}
    )
    series = []
    for label, some in by_method(cells, methods).items():
        points: list[tuple[float, Mean]] = []
        for (at,), few in group(some, (x,)).items():
            value = mean_of(few, number)
            if value is not None:
                level = x == "sites" and is_pooled_cell(few[0])
                points += [(place, value) for place in (everywhere if level else [float(at)])]
        if points:
            points.sort(key=lambda point: point[0])
            series.append(Series(label, tuple(at for at, _ in points), tuple(value for _, value in points)))
    return tuple(series)


def is_pooled_cell(cell: MeasuredCell) -> bool:
    """True if a cell learned from the pooled rows."""
    return int(cell.parameters["sites"]) == 1


def printed_series(published: Published, d: int) -> tuple[Series, ...]:
    """The paper's printed values, as one series of hollow points."""
    points = [(float(sites), value) for (nodes, sites, _), value in published.items() if nodes == d]
    if not points:
        return ()
    return (
        Series("paper", tuple(at for at, _ in points), tuple(value for _, value in points), published=True),
    )
