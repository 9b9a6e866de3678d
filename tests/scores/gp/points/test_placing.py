"""Where points find their bases, and that they are there afterwards."""

import numpy as np

from dagora.scores.gp.points.basis_pool import FIRST_ROOM, BasisPool
from dagora.scores.gp.points.compression import cell_of, level_of
from dagora.scores.gp.points.placing import OUTSIDE, Places, PointOrder, place
from tests.scores.gp.problems import wavy_columns


def placed_points(parameters, parents):
    placed = PointOrder.nothing(*parents.shape)
    largest = place(parameters, parents, Places.nowhere(9), placed)
    return placed, largest


def test_every_parent_has_a_level_that_serves_it_and_the_table_of_its_length_scale():
    rng = np.random.default_rng(0)
    parameters, parents = rng.uniform(-3.4, 3.4, size=(300, 4)), np.tile([5, 2, 8], (300, 1))
    placed, largest = placed_points(parameters, parents)
    own = np.take_along_axis(parameters[:, :3], placed.order, axis=1)
    assert (np.diff(own, axis=1) >= 0).all()
    assert np.array_equal(np.sort(placed.order, axis=1), np.tile([0, 1, 2], (300, 1)))
    assert np.array_equal(placed.levels[:, 0], level_of(np.exp(own[:, 0])))
    assert (level_of(np.exp(own)) <= placed.levels).all()
    assert (placed.levels <= placed.levels[:, :1]).all()
    assert np.array_equal(placed.cells, cell_of(own))
    assert placed.lacking.all()
    assert largest == 0  # nothing is made


def test_points_out_of_bounds_lack_nothing():
    parameters = np.log([[1e-3, 0.5], [1.0, 1e-7], [1e30, 0.5], [1.0, 1e30]])
    placed, _ = placed_points(parameters, np.zeros((4, 1), dtype=np.int64))
    assert (placed.levels[:, 0] == OUTSIDE).all()
    assert not placed.lacking.any()


def test_a_pool_makes_what_is_lacking_once_and_moves_nothing_when_it_grows():
    pool = BasisPool(wavy_columns(80))
    first = np.log([[2.0, 0.5]])
    placed, _ = pool.place(first, np.array([[1]]))
    level, cell = placed.levels[0, 0], placed.cells[0, 0]
    at, rank = pool.places.series[level, level, 1, cell], pool.places.ranks[level, level]
    kept = pool.numbers[at : at + rank * rank].copy()
    assert np.array_equal(kept, pool.views(int(level)).level.series(1, int(cell))[0])
    points = np.log(np.random.default_rng(1).uniform(0.2, 9.0, size=(60, 4)))
    placed, largest = pool.place(points, np.tile([0, 2, 3], (60, 1)))
    assert not placed.lacking.any()
    assert largest > rank
    assert len(pool.numbers) > FIRST_ROOM  # it grew
    assert pool.places.series[level, level, 1, cell] == at
    assert np.array_equal(pool.numbers[at : at + rank * rank], kept)
    used = pool._used
    pool.place(points, np.tile([0, 2, 3], (60, 1)))
    assert pool._used == used
