"""A policy in words, for its owner."""

from __future__ import annotations

from dagora.parties.horizontal.plan.plan import COUNTS, LAGGED
from dagora.parties.horizontal.policy.policy import Policy


def policy_in_words(policy: Policy) -> list[str]:
    """What a policy allows, a line for each part."""
    lines = [f"coordinator: {policy.coordinator}"]
    least = policy.least_sites or max(3, len(policy.sites))
    lines.append(f"sites: {', '.join(policy.sites)}; at least {least} of them in every sum")
    lines.append(
        f"methods: {', '.join(policy.methods)}; shown as its own: {', '.join(policy.shows) or 'nothing'}"
    )
    lines.append(f"sums: {', '.join(policy.questions) or 'none'}{' with noise only' if policy.noise else ''}")
    if COUNTS in policy.questions:
        lines.append(
            f"tables of at most {policy.columns_per_table} columns and {policy.cells_per_table} cells"
        )
    if LAGGED in policy.questions:
        lines.append(f"windows of time that reach at most {policy.lags} steps of {policy.step:.7g} back")
    lines.append(f"at most {policy.tables_per_run} sums in a run and {policy.tables_for_ever} for ever")
    lines.append(f"{len(policy.codebook.columns)} columns: {', '.join(policy.codebook.schema.names)}")
    return lines
