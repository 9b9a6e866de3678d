"""Policies and codebooks as the text of TOML files, with a comment for each part; policies in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from dagora.base.phrases import amount
from dagora.parties.horizontal.plan.codebook import Codebook, ColumnCoding
from dagora.parties.horizontal.plan.plan import COUNTS, LAGGED
from dagora.parties.horizontal.policy.policy import SitePolicy
from dagora.parties.transport.transport import one_line

_ROWS_TEXT = """\
# The most rows that all sites have together: the fewer, the finer continuous values are rounded. All sites
# and the coordinator need the same number."""


def write_codebook(policy: SitePolicy) -> str:
    """The text of the codebook file of a consortium whose sites have this policy."""
    sites = policy.sites
    listed = _sites_text(sites, "The sites, by the fingerprints of their certificates.") if sites else ""
    return f"""\
# What the sites of a consortium have agreed on.

{_ROWS_TEXT}
largest_rows = {policy.largest_rows}

# Tables of counts: the most columns and cells of each, no more than the sites' policies allow.
columns_per_table = {policy.columns_per_table}
cells_per_table = {policy.cells_per_table}

{_weight_text(policy)}{_step_text(policy)}{listed}{_columns_text(policy.codebook)}"""


def write_policy(policy: SitePolicy, drafted_from: str) -> str:
    """The text of a policy, with a comment for each of its lines."""
    return f"""\
# What this site may be asked. Whatever is not allowed here is refused.
# Drafted from {one_line(drafted_from)}: read every line before you use it.
# `dagora federate policy check` reads it back; `dagora federate log` prints what was answered.

# The coordinator, by the fingerprint of its certificate
# (openssl x509 -in party.pem -noout -fingerprint -sha256).
coordinator = {_toml_text(policy.coordinator)}

# What the sums are used for is the coordinator's word; these are the methods that it may name.
methods = {_toml_list(policy.methods)}

# Kinds of sums: "counts" of joint tables, "moments" (means and covariances), "basis" (moments of functions),
# "indicators" (moments of continuous columns, their squares, and indicators of levels),
# "lagged" (moments of windows of time: steps with the steps before them, of series),
# "fourth" (for effects: sums of products of up to four of the columns of a regression),
# "weights" (the sums of the weights of rows and of their squares),
# "release" (pairs of columns, one joint table, or moments; once, with noise).
questions = {_toml_list(policy.questions)}

# Methods that show the coordinator what this site alone has: "vote", "average", "best" (the weights learned
# from its rows; of a vote with pc or a search, the graph), "admm" (as much as the covariance of its rows),
# "admm-mlp" (as much as every value of its rows), "admm-dynamic" (as much as the covariance of the windows of
# its series). None, unless they stand here.
shows = {_toml_list(policy.shows)}

# Different answers of this site alone, for ever; the same question gets the answer in the log again. Weights
# of d columns are up to d (d - 1) / 2 numbers, and a covariance has d (d + 1) / 2: with two answers to chosen
# questions, assume that all are known. The rounds of a run of "admm" count as one, and each run counts, as it
# is answered from the rows that are there then: a row that was added between two runs is told in full.
shown_for_ever = {policy.shown_for_ever}

# All sites below take part, or nobody answers. A smaller number allows runs with fewer of them. The others
# and the coordinator together can always compute what this site has.
least_sites = {policy.least_sites or len(policy.sites)}

{_ROWS_TEXT}
largest_rows = {policy.largest_rows}

# Tables of counts: columns and cells of each. A site never sees the sum and cannot hide small counts in it:
# these limits, and noise, are the only means. Ten rows of all sites together for each cell is a usual rule.
columns_per_table = {policy.columns_per_table}
cells_per_table = {policy.cells_per_table}

# "basis": the most functions of each column; moments of b functions are moments up to the power 2b.
functions = {policy.functions}

{_weight_text(policy)}{_time_text(policy)}\
# Different sums in one run, and for ever (counted in the log beside this file).
tables_per_run = {policy.tables_per_run}
tables_for_ever = {policy.tables_for_ever}

# Releases with noise (differential privacy): the most of rho that they may spend for ever, their number (the
# log keeps each), how many sites may work together without weakening the noise, and the most rows that one
# person has. With noise = true, nothing without noise is answered.
noise = {str(policy.noise).lower()}
rho_for_ever = {policy.rho_for_ever:g}
releases_for_ever = {policy.releases_for_ever}
colluders = {policy.colluders}
rows_per_person = {policy.rows_per_person}

# Other sets of sites that you accept although these rows were summed with different sites before.
agreed_rosters = {_toml_list(policy.agreed_rosters)}

{_sites_text(policy.sites, "The sites, this one too, by the fingerprints of their certificates.")}\
{_columns_text(policy.codebook)}"""


def _weight_text(policy: SitePolicy) -> str:
    if not policy.codebook.largest_weight:
        return ""
    return f"""\
# Rows have weights, in one unit at all sites, and this is the largest: all sums are weighed, "weights" are
# their sum and that of their squares.
largest_weight = {policy.codebook.largest_weight!r}

"""


def _time_text(policy: SitePolicy) -> str:
    if not policy.lags:
        return ""
    return f"""\
# "lagged": the most steps of time that a window reaches back.
lags = {policy.lags}

{_step_text(policy)}"""


def _step_text(policy: SitePolicy) -> str:
    if not policy.step:
        return ""
    return f"""\
# The length of a step of time (dates count in days): all sites need the same.
step = {policy.step!r}

"""


def _toml_list(words: tuple[str, ...]) -> str:
    return json.dumps(list(words), ensure_ascii=False)


def _sites_text(sites: Mapping[str, str], comment: str) -> str:
    listed = "".join(f"{_key(name)} = {_toml_text(fingerprint)}\n" for name, fingerprint in sites.items())
    return f"# {comment}\n[sites]\n{listed}\n"


def _columns_text(codebook: Codebook) -> str:
    note = """\
# The columns and how they are written; every site needs the same. A continuous column has a range: values
# outside are moved to its ends, and a site with more than 1 % of them refuses. Levels that are not listed are
# refused, unless other = true makes them the level "other". Levels with ordered = true stand from the least
# to the most. A column with a grid (quantiles, evenly spaced in probability) is taken by its ranks among
# them, as normal scores. Ranges, grids and levels are seen by all parties: write what is known in public, not
# what only your rows show.
"""
    return note + "\n".join(map(_column_text, codebook))


def _column_text(coding: ColumnCoding) -> str:
    lines = ["[[column]]"]
    for key, value in coding.to_dict().items():
        lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_text(name)


def policy_in_words(policy: SitePolicy) -> list[str]:
    """Describe a policy to its owner, a line for each part."""
    lines = [f"coordinator: {policy.coordinator}"]
    least = policy.least_sites or max(3, len(policy.sites))
    lines.append(f"sites: {', '.join(policy.sites)}; at least {least} of them in every sum")
    own = f"{', '.join(policy.shows)}, {amount(policy.shown_for_ever, 'answer')} for ever"
    lines.append(
        f"methods: {', '.join(policy.methods)}; shown as its own: {own if policy.shows else 'nothing'}"
    )
    lines.append(f"sums: {', '.join(policy.questions) or 'none'}{' with noise only' if policy.noise else ''}")
    if COUNTS in policy.questions:
        lines.append(
            f"tables of at most {policy.columns_per_table} columns and {policy.cells_per_table} cells"
        )
    if LAGGED in policy.questions:
        lines.append(f"windows of time that reach at most {policy.lags} steps of {policy.step:.7g} back")
    if policy.codebook.largest_weight:
        lines.append(f"rows with weights of at most {policy.codebook.largest_weight:g}")
    lines.append(f"at most {policy.tables_per_run} sums in a run and {policy.tables_for_ever} for ever")
    lines.append(f"{len(policy.codebook.columns)} columns: {', '.join(policy.codebook.schema.names)}")
    return lines
