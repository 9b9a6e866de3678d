import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dagora.report.line_chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    MOST_POINTS,
    RIGHT,
    TOP,
    WIDTH,
    Line,
    draw_lines,
    tick_text,
    ticks,
)
from tests.report.reading import read

REAL = st.floats(-1e9, 1e9, allow_nan=False)


@given(REAL, REAL)
def test_ticks_are_even_and_enclose(one, other):
    low, high = sorted((one, other))
    found = np.array(ticks(low, high))
    slack = 1e-8 * abs(found).max()
    assert found[0] <= low + slack
    assert high <= found[-1] + slack
    steps = np.diff(found)
    assert (steps > 0).all()
    assert np.allclose(steps, steps[0], rtol=1e-6, atol=slack)
    assert 2 <= len(found) <= 13


def corners(drawing):
    return [
        np.array([[float(part) for part in point.split(",")] for point in line.split()])
        for line in re.findall(r'points="([^"]*)"', drawing)
    ]


def test_lines_lie_where_their_values_are():
    drawing = draw_lines([Line([0, 5, 10], [0, 10, 5])], across="s", up="y")
    read(drawing)
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    (line,) = corners(drawing)
    expected = [[LEFT, low], [(LEFT + right) / 2, TOP], [right, (TOP + low) / 2]]
    assert line == pytest.approx(np.array(expected), abs=0.06)


def test_steps_hold_their_value():
    values = [2.0, 2.0 + 1e-15]
    assert np.diff(corners(draw_lines([Line([0, 1], values)], across="s", up="y"))[0][:, 1]) == 0
    (line,) = corners(draw_lines([Line([0, 10], [0, 10], steps=True)], across="s", up="y"))
    assert line[1] == pytest.approx([WIDTH - RIGHT, HEIGHT - BOTTOM], abs=0.06)


def test_many_points_are_thinned_and_the_last_stays():
    y = np.arange(10_001.0)
    (line,) = corners(draw_lines([Line(y, y)], across="s", up="y"))
    assert len(line) == MOST_POINTS
    assert line[-1] == pytest.approx([WIDTH - RIGHT, TOP], abs=0.06)


@pytest.mark.parametrize("values", [[], [np.nan], [3.0], [7.0, 7.0, np.inf]])
def test_lines_with_nothing_to_see(values):
    drawing = draw_lines([Line(range(len(values)), values)], across="s", up="<y>")
    assert "nan" not in drawing
    assert "inf" not in drawing
    assert "<y>" in "".join(data for _, data in read(drawing).texts)


def test_numbers_at_ticks_have_a_minus_and_the_decimals_of_the_step():
    assert [tick_text(value, [-1.0, -0.5, 0.0]) for value in (-1.0, -0.5)] == ["−1.0", "−0.5"]
    assert tick_text(12000.0, [0.0, 4000.0]) == "12\u202f000"
