"""Checks of a request: seed, time limit, score, options, and what a method and its data have in common."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Protocol

from dagora.base.errors import OptionError
from dagora.base.options import Option, check_options
from dagora.base.wording import option
from dagora.data.schema import Kind
from dagora.graph.ancestral.pag import PAG
from dagora.graph.cpdag import CPDAG
from dagora.learners.method import Method
from dagora.learners.registry import methods_with
from dagora.learners.source import Source
from dagora.scores.registry import Score, default_score, default_score_of, score_named
from dagora.stats.capabilities import capabilities_of

TESTS_OF_LEVELS = frozenset({"x2", "g2", "g2-seen"})


def check_circumstances(seed: int, time_limit: float | None, jobs: int) -> float | None:
    """Refuse a seed, time limit or number of jobs that is not valid; return the time limit."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError(option="seed", value=seed, must="be a whole number, 0 or more")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise OptionError(option="jobs", value=jobs, must="be a whole number, 1 or more")
    number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and 0 < time_limit <= sys.float_info.max):
        raise OptionError(option="time_limit", value=time_limit, must="be a positive number of seconds")
    return time_limit


def choose_score(method: Method, name: str | None, source: Source) -> Score | None:
    """Find the score of a run: the named one, else the default for the columns; None where none is used.

    Where levels have a declared order, and all columns allow it, the default is the score that uses it.
    """
    if source.scored is not None and name is not None:
        raise OptionError(f"a .jkl file brings its own scores: leave {option('score')} out")
    if name is not None:
        return named_score(method, name)
    if method.own_objective or source.scored is not None:
        return None
    if source.declared_order.usable:
        return score_named("bic-latent")
    return default_score(source.statistics.schema)


def order_said(source: Source) -> str:
    """A sentence on a declared order of levels, where the default score uses it or could have; else empty."""
    plain = default_score(source.statistics.schema).name
    return source.declared_order.said("bic-latent", option("score", plain))


def reason_against_model(
    method: Method, score: str | None, kinds: frozenset[Kind], *, marked: bool = False
) -> str:
    """The reason why missing values of columns of some kinds cannot be modelled; empty if they can.

    `marked` says that variables were set in some rows.

    >>> from dagora.learners.registry import method_named
    >>> reason_against_model(method_named("auto"), None, frozenset({Kind.DISCRETE}))
    ''
    >>> reason_against_model(method_named("auto"), "bdeu", frozenset({Kind.DISCRETE}))
    'the score bdeu needs complete rows'
    """
    if marked:
        return f"{option('interventions')} needs complete rows"
    if method.tests_seen_rows:
        return ""
    if method.own_objective:
        return f"the method {method.name} needs complete rows"
    chosen = default_score_of(kinds) if score is None else score_named(score)
    return "" if chosen.observed else f"the score {chosen.name} needs complete rows"


def numbers_for(method: Method | None, score: str | None, options: Mapping[str, object] | None = None) -> str:
    """Name the method or score that takes continuous columns only; empty if neither does.

    >>> numbers_for(None, "bge"), numbers_for(None, "bdeu")
    ('the score bge', '')
    """
    if score is not None:
        chosen = score_named(score)
        return f"the score {chosen.name}" if chosen.kind is Kind.CONTINUOUS else ""
    numbers_only = method is not None and method.own_objective and not method.takes_any_kind(options or {})
    return f"the method {method.name}" if method is not None and numbers_only else ""


def needing_rows(method: Method | None, score: str | None, options: Mapping[str, object]) -> list[str]:
    """Name what needs the rows themselves: the method, the score, or values of options.

    >>> needing_rows(None, "gp", {}), needing_rows(None, "bic", {})
    (['the score gp'], [])
    """
    found = [] if method is None else [f"the method {method.name}"] * method.needs_rows
    if score is not None:
        chosen = score_named(score) if method is None else named_score(method, score)
        found += [f"the score {score}"] * chosen.needs_rows
    for known in () if method is None else method.options:
        value = options.get(known.name)
        found += [f"{known.name}={value}"] * (value in known.needs_rows)
    return found


def orders_numbers(score: str | None, options: Mapping[str, object] | None = None) -> bool:
    """Return False if a score or a test takes discrete columns only, so that few whole numbers stay levels.

    >>> orders_numbers(None), orders_numbers("bdeu"), orders_numbers(None, {"test": "x2"})
    (True, False, False)
    """
    if (options or {}).get("test") in TESTS_OF_LEVELS:
        return False
    return score is None or score_named(score).kind is not Kind.DISCRETE


def refuse_interventions(method: Method, source: Source) -> None:
    """Refuse interventions if the method would count every row for every variable."""
    if source.interventions is not None and method.own_objective:
        raise OptionError(
            f"the method {method.name} has an objective of its own, which knows of no interventions: choose "
            "one that searches on scores, such as auto or ges"
        )


def require_time(method: Method, source: Source) -> None:
    """Refuse rows without a time to a method in time."""
    if method.in_time and capabilities_of(source.rows).lagged is None:
        raise OptionError(
            f"the method {method.name} learns from series: {option('time')} says which column holds the time"
        )


def named_score(method: Method, name: str) -> Score:
    """Find a score by name; refuse one that the method cannot use."""
    if method.own_objective:
        raise OptionError(f"the method {method.name} has an objective of its own and takes no score")
    chosen = score_named(name)
    if method.needs_equivalence and not chosen.equivalent:
        raise OptionError(
            f"the method {method.name} needs a score-equivalent score (the same for all graphs of an "
            f"equivalence class), and {chosen.name} is not"
        )
    return chosen


class HasOptions(Protocol):
    """A method or a sampler, which declares options of its own."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options."""


def split_options(
    method: HasOptions, score: Score | None, options: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Check options, fill in defaults, and return those of the method and those of the score.

    An option that both have is meant for both: `published` with rbnets and gp2. The result's message then
    names both.
    """
    of_score = score.options if score else ()
    names = {option.name for option in of_score}
    own = {option.name for option in method.options}
    owner = f"the method {method.name}" + (f" with the score {score.name}" if score else "")
    checked = check_options(owner, (*method.options, *of_score), options, methods_with)
    for key, value in checked.items():
        if isinstance(value, CPDAG):
            checked[key] = value.extension()
        elif isinstance(value, PAG):
            raise OptionError(
                f"option '{key}' takes a DAG or CPDAG, not a PAG, which allows for hidden causes"
            )
    return (
        {key: value for key, value in checked.items() if key in own or key not in names},
        {key: value for key, value in checked.items() if key in names},
    )
