"""Functions of parents in reports: what is drawn lies on the chart."""

import re

import numpy as np
import pytest

from dagora.network.gaussian_process.network import ParentFunction
from dagora.report.parameters import draw_function


@pytest.mark.parametrize("outlier", [-9.0, 9.0])
def test_rows_beyond_the_band_are_on_the_chart(outlier):
    x = np.linspace(0, 1, 5)
    rows = np.array([0.0, outlier, 0.5])
    text = draw_function(ParentFunction("b", "a", x, x, np.full(5, 0.1), x[:3], rows))
    height = float(re.search(r'height="([\d.]+)"', text)[1])
    drawn = [float(y) for y in re.findall(r'cy="(-?[\d.]+)"', text)]
    assert len(drawn) == 3
    assert 0 <= min(drawn) < max(drawn) <= height
