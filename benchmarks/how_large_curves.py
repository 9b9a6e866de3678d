"""Draw the curves of docs/how-large.md from docs/how-large.csv, which holds cells of tables in docs/.

python benchmarks/how_large_curves.py
"""

from __future__ import annotations

import csv
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from dagora.papers.charts import ChartPanel, Series, draw_panels

FILE = Path(__file__).resolve().parent.parent / "docs" / "how-large.csv"


def panels() -> list[ChartPanel]:
    """The panels of the file, in its order."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [
        ChartPanel(
            panel, tuple(series(line, list(some)) for line, some in groupby(points, itemgetter("line")))
        )
        for panel, points in groupby(rows, itemgetter("panel"))
    ]


def series(label: str, points: list[dict[str, str]]) -> Series:
    """One line."""
    return Series(label, tuple(float(p["x"]) for p in points), tuple(float(p["y"]) for p in points))


def main() -> None:
    drawn = panels()
    for name, is_time in (("seconds", True), ("memory", False)):
        picture = draw_panels(
            [panel for panel in drawn if panel.title.startswith("CPU s") == is_time],
            columns=3,
            x_label="",
            y_label="",
            title=f"How {name} grow",
            logarithmic_x=True,
            logarithmic_y=is_time,
            share_y=False,
        )
        FILE.with_name(f"how-large-{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
