import itertools
import re

from hypothesis import given, settings

from dagora.graph.curves import CORNER, arrowhead, curve, ports
from dagora.graph.dag import DAG
from dagora.graph.layout import NODE_HEIGHT, layout
from tests.graph.graph_strategies import dags


def numbers(path):
    return [float(number) for number in re.findall(r"-?[\d.]+", path)]


@settings(max_examples=40)
@given(dags())
def test_ports_lie_on_the_side_that_faces_the_edge(dag):
    widths = dict.fromkeys(dag, 90.0)
    plan = layout(dag, widths=widths)
    for ((tail, head), node), (x, y) in ports(plan, widths).items():
        centre = plan.positions[node]
        assert abs(x - centre[0]) <= 45 - CORNER + 1e-6
        assert y == centre[1] + (NODE_HEIGHT / 2 if node == tail else -NODE_HEIGHT / 2)
        assert node in (tail, head)


def test_edges_into_one_node_do_not_meet():
    names = [f"p{i}" for i in range(7)]
    dag = DAG([*names, "child"], [(name, "child") for name in names])
    widths = dict.fromkeys(dag, 90.0)
    plan = layout(dag, widths=widths)
    places = [(plan.positions[name][0], ports(plan, widths)[(name, "child"), "child"][0]) for name in names]
    ends = [end for _, end in sorted(places)]  # by the parents' places: no edge crosses another
    assert all(b - a > 8 for a, b in itertools.pairwise(ends))


def test_curve_passes_through_its_points():
    points = [(0.0, 0.0), (30.0, 50.0), (10.0, 100.0)]
    found = numbers(curve(points)[0])
    assert found[:2] == [0.0, 0.0]
    assert [found[6:8], found[12:14]] == [[30.0, 50.0], [10.0, 100.0]]
    # smooth: the control points on both sides of the middle point are in line with it
    (ax, ay), (bx, by) = found[4:6], found[8:10]
    assert abs((30 - ax) * (by - 50) - (bx - 30) * (50 - ay)) < 5


def test_curve_upwards():
    assert curve([(0.0, 10.0), (0.0, 0.0)])[0] == "M0.0 10.0C0.0 6.0 0.0 4.0 0.0 0.0"


def test_arrowhead_points_anywhere():
    assert arrowhead((0, 0), (8, 0), 3) == "M8.0 0.0L0.0 -3.0L0.0 3.0Z"
    assert arrowhead((1, 1), (1, 1), 3).startswith("M1.0 1.0")
