"""The owner's policy: what a site may be asked, by whom and with whom; everything else is refused.

A plan is checked against it before the site signs, and each question against the plan. What is counted for
ever is read from the site's log. A refusal says to the owner which line of the policy forbids what; the
coordinator learns only that the plan was refused. No check looks at rows, not even at their number, so that a
coordinator that offers one plan after the other learns nothing about them from the refusals.

A policy cannot withhold small counts, since a site never sees the sum. Only limits on tables and cells, or
noise, protect them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dagora.base.errors import DagoraError
from dagora.base.phrases import amount, comma_list
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.plan import (
    COUNTS,
    FOURTH,
    INDICATORS,
    LARGEST_ROWS,
    RELEASE,
    SHOWN_ONCE,
    RunPlan,
)

ANY = "any"
# One answer may tell nearly all of a covariance, and two all of it.
SHOWN_FOR_EVER = 1
# A site keeps its part of each release.
RELEASES_FOR_EVER = 100


class PolicyError(DagoraError):
    """A plan that the owner's policy forbids; the message is for the owner alone."""


@dataclass(frozen=True)
class SitePolicy:
    """The questions that a site's owner allows, with their limits.

    `sites` and `coordinator` are fingerprints of certificates. All of `sites` must take part, unless
    `least_sites` allows fewer. All of them together have at most `largest_rows` rows, which settles how
    continuous values are rounded. Tables have at most `columns_per_table` columns and `cells_per_table`
    cells; moments are of at most `functions` functions of a column, and windows reach at most `lags` steps of
    length `step` back. `tables_per_run` and `tables_for_ever` count distinct sums. `shows` are methods for
    which the site may show answers of its own, and `shown_for_ever` the number of distinct ones; each run of
    a method that goes on in rounds is one. With `noise`, only releases with noise are answered. There are at
    most `releases_for_ever` of these, which
    spend at most `rho_for_ever`; their noise must be enough even if `colluders` sites reveal theirs, and for
    a person with `rows_per_person` rows.
    `agreed_rosters` are other sets of sites that the owner accepts although an earlier run had other sites.
    `lines` are the places of the keys in the owner's file.
    """

    coordinator: str
    sites: Mapping[str, str]
    codebook: Codebook
    methods: tuple[str, ...] = (ANY,)
    questions: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    shown_for_ever: int = SHOWN_FOR_EVER
    least_sites: int = 0
    largest_rows: int = LARGEST_ROWS
    functions: int = 0
    lags: int = 0
    step: float = 0.0
    columns_per_table: int = 3
    cells_per_table: int = 4096
    tables_per_run: int = 0
    tables_for_ever: int = 0
    noise: bool = False
    rho_for_ever: float = 0.1
    releases_for_ever: int = RELEASES_FOR_EVER
    colluders: int = 0
    rows_per_person: int = 1
    agreed_rosters: tuple[str, ...] = ()
    place: str = "the policy"
    lines: Mapping[str, int] = field(default_factory=dict)

    def check(self, plan: RunPlan, site: str, history: History) -> None:
        """Refuse a plan that the policy does not allow; the first reason is given."""
        self._check_parties(plan, site, history)
        self._check_columns(plan)
        self._check_questions(plan, history)

    def _check_parties(self, plan: RunPlan, site: str, history: History) -> None:
        if plan.coordinator != self.coordinator:
            self._refuse(
                "coordinator", f"the plan comes from another coordinator ({plan.coordinator or 'unnamed'})"
            )
        if site not in plan.sites:
            self._refuse("sites", "the plan does not name this site")
        for name, fingerprint in plan.sites.items():
            if name not in self.sites:
                self._refuse("sites", f"the plan names site '{name}', which is not listed here")
            if self.sites[name] != fingerprint:
                self._refuse("sites", f"the plan names another certificate for site '{name}' ({fingerprint})")
        # With two sites, each can compute the other's part: that needs a word of the owner.
        least = self.least_sites or max(3, len(self.sites))
        if len(plan.sites) < least:
            self._refuse(
                "least_sites" if self.least_sites else "sites",
                f"the plan is for {len(plan.sites)} sites, and {least} must take part",
            )
        if history.rosters and plan.roster_digest not in history.rosters | set(self.agreed_rosters):
            self._refuse(
                "agreed_rosters",
                f"these rows were summed with other sites before ({comma_list(sorted(plan.sites))} now), and "
                "the difference of two sums shows what one site has; if you accept that, add "
                f'"{plan.roster_digest}" to agreed_rosters',
            )

    def _check_columns(self, plan: RunPlan) -> None:
        weight = plan.codebook.largest_weight
        if weight != self.codebook.largest_weight:
            what = f"weighs rows up to {weight:g}" if weight else "takes rows to count alike"
            self._refuse("largest_weight", f"the plan {what}")
        if plan.largest_rows != self.largest_rows:
            self._refuse("largest_rows", f"the plan is for at most {plan.largest_rows} rows in all")
        for coding in plan.codebook:
            own = self.codebook.get(coding.name)
            if own is None:
                self._refuse("column", f"the plan asks about '{coding.name}', which is not listed here")
            elif own != coding:
                self._refuse(
                    "column",
                    f"the plan writes column '{coding.name}' in another way: {difference(own, coding)}",
                )

    def _check_questions(self, plan: RunPlan, history: History) -> None:
        if ANY not in self.methods and plan.method not in self.methods:
            self._refuse("methods", f"the plan is for the method {plan.method}")
        for question in plan.questions:
            if question not in self.questions:
                self._refuse("questions", f"the plan asks for {question}")
        if plan.functions > self.functions:
            self._refuse("functions", f"the plan asks for {plan.functions} functions of each column")
        if plan.lags > self.lags:
            self._refuse("lags", f"the plan asks for windows that reach {plan.lags} steps of time back")
        if plan.lags and plan.step != self.step:
            self._refuse("step", f"the plan is about steps of time of the length {plan.step:.7g}")
        if plan.shows:
            self._check_shown(plan, history)
        if plan.privacy is None and self.noise:
            self._refuse("noise", "the plan asks for sums without noise")
        if plan.privacy is not None:
            self.may_spend(history, plan.privacy.rho, plan.digest.hex())
        if plan.privacy is not None and plan.privacy.colluders < self.colluders:
            self._refuse(
                "colluders", f"the plan's noise holds if {plan.privacy.colluders} sites work together"
            )
        if plan.privacy is not None and plan.privacy.rows_per_person < self.rows_per_person:
            self._refuse(
                "rows_per_person", f"the plan's noise is for {plan.privacy.rows_per_person} rows per person"
            )
        if COUNTS in plan.questions and plan.columns_per_table > self.columns_per_table:
            self._refuse(
                "columns_per_table", f"the plan may ask for tables of {plan.columns_per_table} columns"
            )
        discrete = sum(not coding.continuous for coding in plan.codebook)
        if INDICATORS in plan.questions and self.columns_per_table < min(2, discrete):
            self._refuse("columns_per_table", "the plan asks for indicators, which are tables of two columns")
        if {COUNTS, FOURTH, RELEASE} & set(plan.questions) and plan.largest_table > self.cells_per_table:
            self._refuse("cells_per_table", f"the plan may ask for tables of {plan.largest_table} cells")
        if plan.privacy is None:
            asked = plan.tables + len(set(plan.questions) - {COUNTS, FOURTH})
            asked += len(plan.sets) if FOURTH in plan.questions else 0
            if asked > self.tables_per_run:
                self._refuse("tables_per_run", f"the plan may ask for {asked} sums")
            full = len(history.sums) >= self.tables_for_ever
            if full and not history.has_sums_of(plan.codebook.digest, plan.roster_digest):
                self._refuse("tables_for_ever", f"{len(history.sums)} different sums were answered already")

    def _check_shown(self, plan: RunPlan, history: History) -> None:
        if plan.method not in self.shows and ANY not in self.shows:
            self._refuse("shows", f"the method {plan.method} shows answers of this site alone")
        if {task for task in plan.shows if task in SHOWN_ONCE} - set(plan.shown_questions):
            self._refuse("shows", "the plan does not say what it asks this site alone")
        new = plan.new_answers(history.shown)
        if new and len(history.shown) + new > self.shown_for_ever:
            more = "; each run tells of the rows that are there" if plan.shows_rounds else ""
            self._refuse(
                "shown_for_ever",
                f"{amount(len(history.shown), 'different answer')} of this site alone left already{more}",
            )

    def may_count(self, history: History, new: int) -> None:
        """Refuse sums that would pass the limit for ever."""
        if len(history.sums) + new > self.tables_for_ever:
            self._refuse(
                "tables_for_ever",
                f"{len(history.sums)} different sums were answered already, and {new} more are asked for",
            )

    def may_spend(self, history: History, rho: float, plan: str) -> None:
        """Refuse a release that would pass the limits for ever; one made before costs nothing."""
        if plan in history.rho:
            return
        if len(history.rho) >= self.releases_for_ever:
            self._refuse("releases_for_ever", f"{len(history.rho)} releases with noise were made already")
        if history.spent + rho > self.rho_for_ever * (1 + 1e-9):
            self._refuse(
                "rho_for_ever",
                f"releases with noise have spent {history.spent:.4g} already, and {rho:.4g} more is asked",
            )

    def _refuse(self, key: str, reason: str) -> None:
        where = f"{self.place}, line {self.lines[key]}" if key in self.lines else self.place
        raise PolicyError(f"{where} ({key}): {reason}")


def difference(own: ColumnCoding, planned: ColumnCoding) -> str:
    """Describe the difference of two codings of a column.

    >>> difference(ColumnCoding("x", low=0.0, high=1.0), ColumnCoding("x", low=0.0, high=2.0))
    'from 0 to 2, and here from 0 to 1'
    """
    return f"{_in_words(planned)}, and here {_in_words(own)}"


def _in_words(coding: ColumnCoding) -> str:
    if coding.continuous:
        return f"from {coding.low:g} to {coding.high:g}"
    if coding.cuts:
        return f"cut at {', '.join(f'{cut:g}' for cut in coding.cuts[:5])}"
    levels = ", ".join(coding.levels[:5]) + (", …" if len(coding.levels) > 5 else "")
    return f"with the levels {levels}{' and other' if coding.other else ''}"
