"""A learner's entry in the registry, and the width and time that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from dagora.base.errors import DataError
from dagora.base.events import Budget
from dagora.base.extras import Need
from dagora.base.loading import load
from dagora.base.memory import free_memory
from dagora.base.options import Option
from dagora.base.wording import option
from dagora.learners.result import Outcome

# Seconds that it takes to begin and end a search, for each ordered pair of columns, on a slow machine.
SECONDS_A_PAIR = 2e-7
# Seconds that it takes to write a result and to end a process, kept free of a limit that is not short.
ENDING, LONG = 0.25, 5.0
# Seconds that may pass after the time limit.
ALLOWED = 0.3

Takes = Literal["score", "candidates", "statistics", "federation"]
Returns = Literal["dag", "cpdag", "pag"]
Growth = Literal["power", "exponential", "parent sets"]


@dataclass(frozen=True)
class Method:
    """A learner's entry; `learner` is imported only when the method is used.

    `takes` says what the learner is given: a `score` (any LocalScore), the `candidates` of one, the
    `statistics` themselves, or the `federation` of sites behind them. `needs_equivalence` says that the
    score must be equal for equivalent graphs, `needs_rows` that sums over the rows are not enough (a learner
    that takes a score is then given it with the rows, as `ScoredRows`), `needs` which packages must be
    installed. With `in_both_orders` the learner is given the score twice, as `ColumnOrders`: with the columns
    as they stand, and in the order of their names. `bytes_a_pair` is the
    most memory that it holds for each ordered pair of columns, however little time there is. A method with an
    objective of its own takes continuous columns only, unless its `any_kind`, or an option's, says otherwise.
    `by_tests` says that it decides by tests of independence, which rows drawn with replacement mislead.
    `screens` says that, on rows that are scanned, a run on a sample tells what to count early (`screening`).
    `in_time` says that it learns from series, and returns a graph in time (`LaggedGraph`). One that is
    `seldom` chosen is only named where a list must be short. `growth` says how its time grows with the number
    of columns, which estimates of the time go by: as a power of it, exponentially, or as the number of
    parent sets that can matter, which is between both unless the number of parents is limited.
    """

    name: str
    summary: str
    takes: Takes
    returns: Returns
    promise: str
    reference: str
    learner: str
    options: tuple[Option, ...] = ()
    needs_equivalence: bool = False
    needs_rows: bool = False
    in_both_orders: bool = False
    any_kind: bool = False
    by_tests: bool = False
    in_time: bool = False
    screens: bool = False
    needs: tuple[Need, ...] = ()
    seldom: bool = False
    growth: Growth = "power"
    bytes_a_pair: int = 40

    def check_width(self, columns: int) -> None:
        """Refuse a table so wide that the method could not hold its matrices.

        >>> from dagora.learners.registry import method_named
        >>> method_named("notears").check_width(1000)
        """
        free = free_memory()
        need = self.bytes_a_pair * columns**2
        if free is not None and need > free:
            most = math.isqrt(free // self.bytes_a_pair)
            raise DataError(
                f"the method {self.name} needs about {need / 2**30:.0f} GiB for {columns} columns, and "
                f"{free / 2**30:.1f} GiB are free, enough for {most}: leave columns out "
                f"({option('drop')}), or choose another method"
            )

    def time_to_search(self, columns: int, clock: Budget) -> Budget:
        """The time for the search itself: of a wide table, some is needed to begin and to end with it.

        A table so wide that there is too little for that is refused.

        >>> from dagora.learners.registry import method_named
        >>> method_named("tabu").time_to_search(100, Budget(1e-9)).left
        0.0
        """
        needed = SECONDS_A_PAIR * columns**2
        if needed - ALLOWED > clock.left:
            raise DataError(
                f"the method {self.name} takes {needed:.1f} s to begin and end with {columns} columns, and "
                f"{clock.left:.1f} s are left of the time limit: allow more time "
                f"({option('time_limit')}), or leave columns out ({option('drop')})"
            )
        ending = ENDING if (clock.limit or 0.0) >= LONG else 0.0
        return clock.but_for(needed / 2 + ending) if ending or needed > ALLOWED / 10 else clock

    def takes_any_kind(self, options: Mapping[str, object]) -> bool:
        """Whether it takes columns of any kind, with these options."""
        return self.any_kind or any(options.get(one.name) in one.any_kind for one in self.options)

    @property
    def own_objective(self) -> bool:
        """Whether it takes no score, having an objective of its own."""
        return self.takes in {"statistics", "federation"}

    def load(self) -> Callable[..., Outcome]:
        """Import the learner."""
        return cast("Callable[..., Outcome]", load(self.learner))
