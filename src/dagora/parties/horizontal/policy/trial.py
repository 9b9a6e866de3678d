"""The policy of a trial, in which one person has all the tables and plays all parties."""

from __future__ import annotations

from dagora.parties.horizontal.plan.drafting import MOST_COLUMNS_PER_TABLE, NO_LIMIT
from dagora.parties.horizontal.plan.plan import MOST_CELLS, MOST_FUNCTIONS, QUESTIONS, Plan
from dagora.parties.horizontal.policy.policy import ANY, Policy


def trial_policy(plan: Plan) -> Policy:
    """A policy that allows everything to the parties of a plan, and only to them."""
    return Policy(
        coordinator=plan.coordinator,
        sites=plan.sites,
        codebook=plan.codebook,
        questions=QUESTIONS,
        least_sites=len(plan.sites),
        shows=(ANY,),
        functions=MOST_FUNCTIONS,
        lags=plan.lags,
        step=plan.step,
        columns_per_table=MOST_COLUMNS_PER_TABLE,
        cells_per_table=MOST_CELLS,
        largest_rows=plan.largest_rows,
        tables_per_run=NO_LIMIT,
        tables_for_ever=NO_LIMIT,
        rho_for_ever=1e9,
        place="the policy of a trial",
    )
