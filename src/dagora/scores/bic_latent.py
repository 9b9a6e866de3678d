"""Gaussian BIC of the normal variables behind ordered levels and ranks (`stats/latent_correlations`)."""

from __future__ import annotations

from dataclasses import replace

from dagora.scores.bic_gaussian import GaussianBIC
from dagora.scores.local_score import ScoreCapabilities
from dagora.stats.given_moments import GivenMoments
from dagora.stats.latent_correlations import LatentCorrelations
from dagora.stats.statistics import Statistics


class LatentBIC(GaussianBIC):
    """BIC of linear regressions of latent normal variables; `penalty` is a factor on a parameter's price."""

    def __init__(self, statistics: Statistics, *, penalty: float = 1.0) -> None:
        found = LatentCorrelations(statistics, "the score bic-latent")
        super().__init__(GivenMoments(found.schema.names, found.matrix, found.rows), penalty=penalty)
        self.schema, self._worth, self._moved = statistics.schema, (found.n_rows, found.rows), found.moved

    @property
    def capabilities(self) -> ScoreCapabilities:
        """Those of Gaussian BIC, and what was scored."""
        return replace(super().capabilities, messages=self._messages)

    def _messages(self) -> list[str]:
        """A line on the variables behind the columns, and one on the rows."""
        rows, worth = self._worth
        moved = self._moved
        apart = f"; correlations of pairs did not fit together and were moved by up to {moved:.2g}"
        what = "scored are normal variables behind ordered levels, and numbers by their ranks"
        return [what, f"the {rows:,} rows are worth {worth:,} of numbers{apart if moved else ''}"]
