"""Charts: sound SVG with a panel for each panel, all labels as text, and the same bytes for the same chart."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from dagora.base.errors import OptionError
from dagora.papers.charts import ChartPanel, Series, draw_panels, series_styles
from dagora.papers.tables import Mean

ID = "id"


def panels_of(svg: str) -> list[ET.Element]:
    return [e for e in ET.fromstring(svg).iter() if e.get(ID, "").startswith("axes_")]


def texts(svg: str) -> list[str]:
    return ["".join(e.itertext()).strip() for e in ET.fromstring(svg).iter() if e.tag.endswith("}text")]


def error_bars(svg: str) -> int:
    return sum(e.get(ID, "").startswith("LineCollection") for e in ET.fromstring(svg).iter())


def panel(i: int) -> ChartPanel:
    return ChartPanel(
        f"panel {i} & more",
        (
            Series("ours", (10, 20, 50), (Mean(1.0, 0.2, 3), Mean(2.0, None, 1), 4.0)),
            Series("theirs", (10, 20), (3.0, 5.0)),
            Series("paper", (10, 20), (2.0, 3.0), published=True),
        ),
    )


@pytest.mark.parametrize(("number", "columns"), [(1, 3), (3, 3), (5, 3), (8, 4)])
def test_a_panel_for_each(number: int, columns: int) -> None:
    svg = draw_panels(
        [panel(i) for i in range(number)], columns=columns, x_label="variables", y_label="SHD", title="A title",
        logarithmic_x=True,
    )  # fmt: skip
    assert len(panels_of(svg)) == number
    shown = texts(svg)
    assert {f"panel {i} & more" for i in range(number)} <= set(shown)
    assert shown.count("variables") == min(columns, number)  # the lowest panel of each column
    assert shown.count("SHD") == -(-number // columns)  # the first panel of each row
    assert [shown.count(label) for label in ("ours", "theirs", "paper")] == [1, 1, 1]  # one legend
    assert shown.count("50") == number
    assert error_bars(svg) == number + 1  # and one in the legend


def test_the_same_chart_gives_the_same_bytes() -> None:
    charts = {draw_panels([panel(0)], columns=1, x_label="x", y_label="y", title="t") for _ in range(2)}
    assert len(charts) == 1
    assert "<dc:date>" not in charts.pop()


def test_a_row_has_one_scale_that_holds_all_its_points() -> None:
    low, high = (ChartPanel(f"p{y}", (Series("s", (1, 2), (y, y / 2)),)) for y in (1.0, 100.0))
    for pair in ([low, high], [high, low]):
        svg = draw_panels(pair, columns=2, x_label="x", y_label="y", title="t")
        ticks = [float(text) for text in texts(svg) if text.replace(".", "").isdigit()]
        assert 80 <= max(ticks) <= 110
        assert min(ticks) == 0


def test_categories() -> None:
    words = ChartPanel("words", (Series("ours", ("truth", "optimum"), (1.0, Mean(2.0, 0.1, 3))),))
    svg = draw_panels([words], columns=1, x_label="", y_label="F", title="t", lines=False, share_y=False)
    assert {"truth", "optimum"} <= set(texts(svg))


def test_each_series_looks_its_own_way() -> None:
    many = ChartPanel("p", tuple(Series(f"s{i}", (1,), (1.0,)) for i in range(14)))
    styles = series_styles([many, panel(0)])
    for property_ in ("color", "marker", "linestyle"):
        own = [str(styles[f"s{i}"][property_]) for i in range(7)]
        assert len(set(own)) == 7
    assert len({str(sorted(styles[f"s{i}"].items(), key=str)) for i in range(14)}) == 14
    assert styles["paper"]["markerfacecolor"] == "none"
    assert "markerfacecolor" not in styles["ours"]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OptionError, match=r"matplotlib.*dagora\[papers\]"):
        draw_panels([panel(0)], columns=1, x_label="x", y_label="y", title="t")


@pytest.mark.full
def test_it_draws_without_a_window() -> None:
    """In a process of its own: another test may have loaded what opens windows."""
    program = (
        "import sys; from dagora.papers.charts import ChartPanel, Series, draw_panels;"
        "draw_panels([ChartPanel('p', (Series('s', (1.0, 2.0), (1.0, 2.0)),))], columns=1, x_label='x', y_label='y', title='t');"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_logarithmic_scale_has_no_zero() -> None:
    wide = ChartPanel("p", (Series("s", (1, 2, 3), (0.001, 0.1, 10.0)),))
    svg = draw_panels([wide], columns=1, x_label="x", y_label="y", title="t", logarithmic_y=True)
    assert {"0.001", "0.01", "0.1", "1", "10"} <= set(texts(svg))  # equal steps, written as numbers
    assert "0" not in texts(svg)
