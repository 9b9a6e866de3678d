"""Boxes: sound SVG, a panel for each, labels as text, the same bytes for the same chart."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dagora.papers.box_charts import Box, BoxPanel, Spread, draw_boxes

PANEL = BoxPanel(
    "λ = 1",
    (
        Box("ours", Spread.of([1.0, 2.0, 5.0, 9.0])),
        Box("theirs", Spread(3.0, (2.0, 4.0)), published=True),
        Box("median only", Spread(4.0), published=True),
    ),
)


def test_panels_and_labels() -> None:
    svg = draw_boxes([PANEL, PANEL], columns=2, y_label="E-SHD", title="Boxes & more")
    elements = list(ET.fromstring(svg).iter())
    assert sum(e.get("id", "").startswith("axes_") for e in elements) == 2
    texts = ["".join(e.itertext()).strip() for e in elements if e.tag.endswith("}text")]
    assert [texts.count(label) for label in ("ours", "theirs", "median only", "E-SHD")] == [2, 2, 2, 1]
    assert draw_boxes([PANEL, PANEL], columns=2, y_label="E-SHD", title="Boxes & more") == svg


def test_spread_is_quantiles() -> None:
    values = np.arange(101.0)
    assert Spread.of(values) == Spread(50.0, (25.0, 75.0), (5.0, 95.0))


def test_no_panel_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="needs a panel"):
        draw_boxes([], columns=1, y_label="", title="")
