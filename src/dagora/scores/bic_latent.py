"""Gaussian BIC of the normal variables behind ordered levels and ranks (`stats/latent_correlations`)."""

from __future__ import annotations

from dataclasses import replace

from dagora.base.phrases import some_of
from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.local_score import ScoreCapabilities
from dagora.stats.given_moments import GivenMoments
from dagora.stats.latent_correlations import is_ordered, latent_correlations, rising
from dagora.stats.statistics import Statistics

MOST_ORDERS, MOST_LEVELS = 10, 12  # that a message names


class LatentBIC(GaussianBIC):
    """BIC of linear regressions of latent normal variables; `penalty` is a factor on a parameter's price."""

    def __init__(
        self, statistics: Statistics, *, penalty: float = 1.0, ordinal: str | None = None, ranks: bool = True
    ) -> None:
        table = statistics.rows()
        declared = [name.strip() for name in (ordinal or "").split(",") if name.strip()]
        self._found = latent_correlations(table, "the score bic-latent", declared, ranks=ranks)
        super().__init__(GivenMoments(table.names, self._found.matrix, self._found.rows), penalty=penalty)
        self._declared = [name for name in declared if not is_ordered(table.schema[table.schema.index(name)])]
        self._schema, self._ranks, self._all_rows = statistics.schema, ranks, table.n_rows

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of Gaussian BIC, and what was scored."""
        return replace(super().capabilities, messages=self._messages)

    def _messages(self) -> list[str]:
        """A line on the variables behind the columns."""
        numbers = "numbers by their ranks" if self._ranks else "numbers as they are"
        moved = self._found.moved
        worth = f"; the {self._all_rows:,} rows are worth {self._found.rows:,} of numbers"
        apart = f"; correlations of pairs did not fit together and were moved by up to {moved:.2g}"
        orders = some_of(
            (f"'{name}' as {self._order(name)}" for name in self._declared), MOST_ORDERS, between="; "
        )
        scored = f"scored are normal variables behind ordered levels, and {numbers}{worth}"
        return [
            scored + (apart if moved else ""),
            *([f"levels were taken in this order: {orders}"] if orders else []),
        ]

    def _order(self, name: str) -> str:
        """The levels of a column, in their order."""
        variable = self._schema[self._schema.index(name)]
        return some_of(
            (f"'{variable.levels[code]}'" for code in rising(variable)), MOST_LEVELS, between=" < "
        )
