"""The rows behind the parameters of a network."""

from dagora.data.interventions import Interventions
from dagora.data.table import Table
from dagora.graph.dag import DAG
from dagora.network.origin import origin_of
from dagora.network.table_prior import TablePrior
from dagora.stats.interventional import InterventionalStatistics


def test_rows_in_which_a_node_was_set_are_not_behind_its_parameters():
    rows = Table.from_numpy([[0, 0], [1, 1], [1, 0], [1, 1]], names=["a", "b"], discrete=["a", "b"])
    statistics = InterventionalStatistics(rows, Interventions.of_rows([None, None, None, "b"], rows.names))
    origin = origin_of(DAG("ab", [("a", "b")]), statistics, TablePrior())
    assert (origin.rows["a"].tolist(), origin.rows["b"].tolist(), origin.n_rows) == (4, [1, 2], 4)
