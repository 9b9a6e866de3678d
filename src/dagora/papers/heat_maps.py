"""Matrices of weights as maps in a row: red above zero, blue below, white at zero, one scale for all.

Drawn by matplotlib as cells of vector graphics; the same matrices always give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dagora.papers.svg_figure import svg_figure

SIDE = 2.0  # inches


def draw_maps(
    rows: Sequence[Sequence[tuple[str, NDArray[np.float64]]]], *, title: str, largest: float
) -> str:
    """Draw titled matrices, a row of maps for each of `rows`; colours are full from `largest` on."""
    columns = max(len(row) for row in rows)
    with svg_figure(SIDE * columns + 0.8, (SIDE + 0.4) * len(rows) + 0.4, title) as drawing:
        grid = drawing.figure.subplots(len(rows), columns, squeeze=False)
        for line, row in zip(grid, rows, strict=True):
            for axes, (label, matrix) in zip(line, row, strict=False):
                drawn = axes.pcolormesh(matrix, cmap="RdBu_r", vmin=-largest, vmax=largest)
                axes.set(title=label, aspect="equal", xticks=[], yticks=[])
                axes.invert_yaxis()
            for axes in line[len(row) :]:
                axes.set_axis_off()
        drawing.figure.colorbar(drawn, ax=grid, shrink=0.6, label="weight of row → column")
    return drawing.svg
