"""A site's log as text, for its owner."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dagora.base.errors import DagoraError, FormatError
from dagora.base.phrases import amount, printable
from dagora.parties.horizontal.log.log_events import History
from dagora.parties.horizontal.plan.plan import (
    BASIS,
    COUNTS,
    FOURTH,
    INDICATORS,
    LAGGED,
    MOMENTS,
    RELEASE,
    WEIGHTS,
    RunPlan,
)
from dagora.parties.transport.certificates import fingerprint_of

# The number of tables that are named; the rest is only counted.
NAMED = 8


def log_in_words(events: Sequence[Mapping[str, Any]], *, everything: bool = False) -> Iterator[str]:
    """One or more lines for each event; control characters are spelt out."""
    yield from map(printable, _lines(events, everything=everything))


def _lines(events: Sequence[Mapping[str, Any]], *, everything: bool) -> Iterator[str]:
    names: Sequence[str] = ()
    plans: dict[str, RunPlan] = {}
    answers = 0
    for event in events:
        when = event.get("time", "")
        kind = event["event"]
        if kind == "handover":
            yield f"{when}  {handover_in_words(event)}"
        elif kind == "plan":
            plans[event.get("hash", "")] = plan = plans.get(event.get("again", "")) or _plan_of(event)
            names, answers = plan.codebook.schema.names, 0
            first, *others = plan_in_words(plan, event["plan_digest"])
            yield f"{when}  accepted {first}, on {event['rows']} rows"
            yield from (f"    {line}" for line in others)
        elif kind == "signed":
            digest = event["plan_digest"][:16]
            yield f"{when}  signed plan {digest}, on {event['rows']} rows, and was asked nothing yet"
        elif kind in {"answer", "shown"}:
            answers += 1
            yield f"{when}  answer {answers}: {answer_in_words(event, names, everything=everything)}"
        elif kind == "refused":
            yield f"{when}  refused: {event['reason']}"
        else:
            yield f"{when}  ended: {event['reason']}"


def plan_in_words(plan: RunPlan, digest: str = "") -> list[str]:
    """Describe a plan: coordinator, sites, columns, kinds of sums and their limits; `digest` if it is cut."""
    lines = [
        f"a plan for {plan.method} over {len(plan.codebook.columns)} columns with {', '.join(plan.sites)}"
    ]
    lines.append(
        f"plan {(digest or plan.digest.hex())[:16]}, coordinator {plan.coordinator or 'not named yet'}"
    )
    lines.append(f"columns: {', '.join(plan.codebook.schema.names)}")
    if "question" in plan.settings:
        lines.append(f"the question, as the coordinator words it: {plan.settings['question']}")
    if COUNTS in plan.questions and plan.sets:
        lines.append(f"counts of these tables and no others: {sets_in_words(plan.sets)}")
    elif COUNTS in plan.questions:
        lines.append(
            f"at most {plan.tables} tables of counts, each of at most {plan.columns_per_table} columns and "
            f"{plan.largest_table} cells"
        )
    if MOMENTS in plan.questions:
        lines.append("means, variances and covariances of the continuous columns")
    if BASIS in plan.questions:
        lines.append(f"means and covariances of {plan.functions} functions of each continuous column")
    if INDICATORS in plan.questions:
        lines.append("means and covariances of continuous columns, their squares, and indicators of levels")
    if LAGGED in plan.questions:
        lines.append(
            f"means and covariances of windows of {plan.lags + 1} steps of time (each {plan.step:.7g} long) "
            "of the continuous columns"
        )
    if WEIGHTS in plan.questions:
        lines.append(
            "rows count by their weights, of at most "
            f"{plan.codebook.largest_weight:g}; also asked: the sums of the weights and of their squares"
        )
    if FOURTH in plan.questions:
        listed = ", ".join(f"{names[0]} on {' + '.join(names[1:])}" for names in plan.sets)
        lines.append(f"sums of products of up to four columns of regressions: {listed}")
    if plan.shows:
        asked = [
            f"{task} ({question_in_words(question)})"
            if (question := plan.shown_questions.get(task))
            else task
            for task in plan.shows
        ]
        rounds = " (in rounds; each run counts as one more answer)" if plan.shows_rounds else ""
        lines.append(f"shown as this site's own, not summed: {', '.join(asked)}{rounds}")
    if plan.privacy is not None:
        lines += plan.privacy.describe()
    return list(map(printable, lines))


def sets_in_words(sets: Sequence[Sequence[str]]) -> str:
    """Tables by their columns.

    >>> sets_in_words([("a", "b"), ("a",)])
    'a × b, a'
    """
    return ", ".join(" × ".join(names) for names in sets)


def question_in_words(question: Mapping[str, Any], *, everything: bool = False) -> str:
    """The settings of a question to a site alone.

    >>> question_in_words({"model": "pc", "alpha": 0.01, "seconds": -1.0, "seed": 0, "knowledge": {}})
    'model pc, alpha 0.01, no time limit, seed 0, no knowledge'
    >>> question_in_words({"sha256": 64 * "0"})
    'told by its hash 0000000000000000'
    """
    if set(question) == {"sha256"}:
        return f"told by its hash {question['sha256']}"[:33]
    parts = []
    for name, value in question.items():
        if name == "seconds":
            parts.append(f"{value:g} s" if isinstance(value, float) and value >= 0 else "no time limit")
        elif name == "knowledge" and isinstance(value, dict):
            parts.append(knowledge_in_words(value, everything=everything))
        elif isinstance(value, dict):
            parts.append(f"{name} of sizes {value.get('sizes')}")
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts)


def knowledge_in_words(knowledge: Mapping[str, Any], *, everything: bool = False) -> str:
    """The edges and tiers that a question to a site alone has.

    >>> knowledge_in_words({"forbidden": [["a", "b"]], "tiers": [["a"], ["b", "c"]]})
    'forbidden a → b, tiers a < b c'
    """
    parts = []
    for name, value in knowledge.items():
        listed = [" → ".join(map(str, some)) for some in value] if isinstance(value, list) else [str(value)]
        if name == "tiers" and isinstance(value, list):
            listed = [" < ".join(" ".join(map(str, tier)) for tier in value)]
        named = listed if everything else listed[:NAMED]
        more = f" and {len(listed) - len(named)} more" if len(listed) > len(named) else ""
        parts.append(f"{name.replace('_', ' ')} {', '.join(named)}{more}")
    return ", ".join(parts) or "no knowledge"


def handover_in_words(event: Mapping[str, Any]) -> str:
    """A sentence on the counts before a file of a log begins, and on whose key signed them."""
    so_far = History.of([event])
    signed = fingerprint_of(b64decode(event["certificate"]))
    return (
        f"goes on from {event['file']}, signed by {signed}; so far {amount(len(so_far.sums), 'sum')}, "
        f"{amount(len(so_far.rho), 'release')} with noise (rho {so_far.spent:.4g}) and "
        f"{amount(len(so_far.shown), 'answer')} of its own"
    )


def answer_in_words(event: Mapping[str, Any], names: Sequence[str], *, everything: bool = False) -> str:
    """Describe an answer that left the site, in one line.

    >>> answer_in_words({"event": "answer", "asks": "counts", "tables": [[0, 1]], "numbers": 4}, ["a", "b"])
    'into the sum: counts of 1 table (a × b), 4 cells'
    """
    if event["event"] == "shown":
        asked = "the same question as before, and the same answer"
        if "again" not in event:
            asked = question_in_words(event.get("question", {}), everything=everything)
        size = f"{event['bytes']} bytes" if event["bytes"] else "no answer"
        return f"shown as its own: {event['task']}{f' ({asked})' if asked else ''}, {size}"
    if event["asks"] == COUNTS:
        tables = event["tables"]
        named = tables if everything else tables[:NAMED]
        listed = ", ".join(
            " × ".join(_name(column, names) for column in table) or "all rows" for table in named
        )
        more = f" and {len(tables) - len(named)} more" if len(tables) > len(named) else ""
        plural = "" if len(tables) == 1 else "s"
        return (
            f"into the sum: counts of {len(tables)} table{plural} ({listed}{more}), {event['numbers']} cells"
        )
    noise = f", with noise (rho {event['rho']:.4g})" if "rho" in event else ""
    if "again" in event:
        noise = ", the same as before"
    what = {MOMENTS: "sums and products of the continuous columns", BASIS: "sums and products of functions"}
    what[INDICATORS] = "sums and products of columns, squares and indicators of levels"
    what[RELEASE] = "a release"
    what[WEIGHTS] = "the weights of rows, and their squares"
    if event["asks"] == FOURTH:
        listed = ", ".join(" × ".join(_name(column, names) for column in some) for some in event["tables"])
        what[FOURTH] = f"products of up to four columns of {listed}"
    if event["asks"] == LAGGED:
        what[LAGGED] = (
            f"sums and products of {amount(event['windows'], 'window')} of {event['lags'] + 1} steps of time"
        )
    return f"into the sum: {what.get(event['asks'], event['asks'])}, {event['numbers']} numbers{noise}"


def summarise(events: Iterable[Mapping[str, Any]]) -> str:
    """Count the answers of one run, in one line."""
    listed = list(events)
    tables = sum(len(event["tables"]) for event in listed if event.get("asks") == COUNTS)
    sums = sum(event["event"] == "answer" and event.get("asks") != COUNTS for event in listed)
    own = sum(event["event"] == "shown" and event["bytes"] > 0 for event in listed)
    parts = [
        f"{number} {one if number == 1 else many}"
        for number, one, many in (
            (tables, "table of counts", "tables of counts"),
            (sums, "sum of moments", "sums of moments"),
            (own, "answer of its own", "answers of its own"),
        )
        if number
    ]
    return f"answered {', '.join(parts) or 'nothing'}"


def _name(column: int, names: Sequence[str]) -> str:
    return names[column] if 0 <= column < len(names) else f"column {column}"


def _plan_of(event: Mapping[str, Any]) -> RunPlan:
    try:
        return RunPlan.from_dict(event.get("plan"))
    except DagoraError as error:
        raise FormatError(f"the log holds a plan that cannot be read: {error.text}") from None
