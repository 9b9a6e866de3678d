from math import comb

import pytest

from dagora.base.errors import OptionError
from dagora.graph.enumerate import all_dags, all_parent_sets


def robinson(n):
    """Number of labelled DAGs by inclusion and exclusion over the nodes without parents (Robinson 1973)."""
    if n == 0:
        return 1
    return sum((-1) ** (k + 1) * comb(n, k) * 2 ** (k * (n - k)) * robinson(n - k) for k in range(1, n + 1))


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 3), (3, 25), (4, 543), (5, 29281)])
def test_every_dag_once(size, count):
    assert robinson(size) == count
    found = list(all_parent_sets(size))
    assert len(found) == len(set(found)) == count


def test_as_graphs():
    assert len(set(all_dags(4))) == 543  # the constructor refuses cycles


def test_refuses_no_nodes():
    with pytest.raises(OptionError, match="at least 1, not 0"):
        next(all_dags(0))
