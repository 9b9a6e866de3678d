"""Methods over sites: the default, the sums that one needs, and what is refused before any site is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from dagora.base.errors import OptionError, RowsUnavailableError
from dagora.base.options import refuse_meaningless, refuse_missing
from dagora.base.wording import option
from dagora.data.columns.ordinal import rank_warning
from dagora.data.schema import Kind, Schema
from dagora.data.series import Timing
from dagora.learners.checks import needing_rows
from dagora.learners.in_windows import LAGS, check_lags, refuse_series
from dagora.learners.independence.features import FUNCTIONS
from dagora.learners.registry import method_named
from dagora.learners.result import Result
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.session.federation import Federation
from dagora.parties.horizontal.session.secure_statistics import SecureSeriesStatistics, SecureStatistics
from dagora.parties.privacy.terms import PrivacyTerms, agree_on_terms, parse_options
from dagora.scores.registry import default_score
from dagora.scores.usable_moments import refuse_discrete


def default_over_sites(schema: Schema, *, noisy: bool = False, scored: bool = False) -> str:
    """The method where none is asked for: `auto`, as on pooled rows.

    For a release with noise it is `notears` for continuous columns, unless a score is asked for, and else
    `ges`, which finds the best forest.

    >>> from dagora.data.schema import Variable
    >>> schema = Schema([Variable("x", Kind.CONTINUOUS)])
    >>> default_over_sites(schema), default_over_sites(schema, noisy=True)
    ('auto', 'notears')
    """
    if not noisy:
        return "auto"
    return "notears" if schema.kinds == {Kind.CONTINUOUS} and not scored else "ges"


def lags_of(method: str, settings: Mapping[str, Any]) -> int:
    """The number of lags of a method in time, or of windows that another learns from; 0 without time.

    >>> lags_of("dynotears", {"lags": 2}), lags_of("pcmci-plus", {}), lags_of("notears", {})
    (2, 1, 0)
    >>> lags_of("tabu", {"lags": 2})
    2
    """
    entry = method_named(method)
    if not entry.in_time:
        return check_lags(settings["lags"]) if settings.get("lags") is not None else 0
    known = next(option for option in entry.options if option.name == "lags")
    return cast("int", known.check(settings.get("lags", known.default)))


def window_lags(method: str, settings: Mapping[str, Any]) -> int:
    """The number of steps that windows of a method in time reach back; 0 for others.

    >>> window_lags("dynotears", {"lags": 2}), window_lags("pcmci-plus", {"lags": 2})
    (2, 4)
    """
    return method_named(method).reach * lags_of(method, settings)


def basis_functions(method: str, settings: Mapping[str, Any]) -> int:
    """The number of basis functions per column whose moments a method needs; 0 for most.

    >>> basis_functions("notears-sob", {"functions": 3}), basis_functions("notears", {})
    (3, 0)
    >>> basis_functions("pc", {"test": "features"})
    8
    """
    if settings.get("test") == "features":
        return FUNCTIONS
    for known in method_named(method).options:
        if known.name == "functions":
            return int(settings.get("functions", known.default))
    return 0


def statistics_over(federation: Federation, method: str, settings: Mapping[str, Any]) -> SecureStatistics:
    """The statistics for a method: sums over rows or, for a method in time, over windows of series."""
    lags = window_lags(method, settings)
    return SecureSeriesStatistics(federation, lags) if lags else SecureStatistics(federation)


def privacy_terms(
    options: Mapping[str, object] | str | None, schema: Schema, sites: int, *, joint: bool = False
) -> PrivacyTerms | None:
    """The terms of a release with noise, where one is asked for; options as a mapping or as written."""
    if options is None:
        return None
    chosen = parse_options(options) if isinstance(options, str) else dict(options)
    return agree_on_terms(schema, sites, joint, **chosen)


def check_over_sites(
    method: str | None,
    *,
    score: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of `learn`
) -> None:
    """Refuse what cannot be learned from sums over sites, before waiting for any site.

    >>> check_over_sites("best")
    Traceback (most recent call last):
    dagora.OptionError: the method best needs the option truth: the true graph, by which ...
    """
    if method is None:
        return
    entry = method_named(method)
    owner = f"the method {entry.name}"
    needing = needing_rows(entry, score, settings)
    if needing:
        raise RowsUnavailableError(
            f"{needing[0]} needs rows, which the sites keep: choose one that works on counts or moments"
        )
    refuse_missing(owner, entry.options, settings)
    refuse_meaningless(entry.options, settings)


def check_columns(
    method: str, score: str | None, schema: Schema, settings: Mapping[str, Any] | None = None
) -> None:
    """Refuse columns that a method or score cannot take, before waiting for any site.

    >>> from dagora.data.schema import Variable
    >>> check_columns("notears", None, Schema([Variable("a", Kind.DISCRETE, ("no", "yes"))]))
    Traceback (most recent call last):
    dagora.DataError: the method notears needs continuous columns, but 'a' is discrete: ...
    """
    entry = method_named(method)
    if not entry.in_time and lags_of(method, settings or {}):
        refuse_discrete(schema, "a method on series over sites")
    if entry.own_objective and not entry.takes_any_kind(settings or {}):
        # Others that take discrete columns need rows, and were refused as such.
        refuse_discrete(schema, f"the method {entry.name}")
    elif score is None:
        default_score(schema)


def check_release(
    method: str, score: str | None, max_parents: int | None, terms: PrivacyTerms, lags: int = 0
) -> None:
    """Refuse what cannot be learned from a release with noise, before anything is spent on it."""
    entry = method_named(method)
    if entry.in_time or lags:
        raise OptionError(
            f"there is no release with noise for the method {entry.name}: a person's steps are a whole "
            "series, and noise that hides a series of T steps is about T times that for a row, which drowns "
            "the moments"
        )
    if entry.takes == "federation" or basis_functions(method, {}):
        raise OptionError(
            f"the method {entry.name} does not work on a release with noise: choose ges, notears or a search"
        )
    if terms.release == "pairs" and entry.own_objective:
        raise OptionError(
            f"the method {entry.name} needs more than pairs of columns, which are all that is released with "
            "noise: choose ges or a search"
        )
    if terms.release == "pairs" and score not in (None, "bic"):
        raise OptionError(f"the score {score} does not know noise for privacy: use bic")
    if terms.release == "pairs" and (max_parents or 0) > 1:
        raise OptionError(
            f"{option('max_parents', max_parents)} asks for more than pairs of columns tell: set it to 1"
        )


def check_weighing(method: str, settings: Mapping[str, Any], *, noisy: bool) -> None:
    """Refuse what takes no sums of weights, before waiting for any site.

    >>> check_weighing("vote", {}, noisy=False)
    Traceback (most recent call last):
    dagora.OptionError: the method vote over sites takes every row for one: leave weights out, or choose ...
    """
    if noisy:
        who = "a release with noise"
    elif window_lags(method, settings) or lags_of(method, settings):
        who = "a method in time over sites"
    elif method_named(method).takes == "federation":
        who = f"the method {method} over sites"
    else:
        return
    raise OptionError(
        f"{who} takes every row for one: leave {option('weights')} out, or choose a method on counts or "
        "moments, such as auto, tabu or pc"
    )


def told_of_ranks(result: Result, book: Codebook) -> Result:
    """The result with a warning about columns that are taken by their ranks."""
    return replace(result, warnings=(*rank_warning(frozenset(book.ranked)), *result.warnings))


def timing_for(method: str | None, time: str | None, series: str | None) -> Timing | None:
    """The columns of time and series; a method that does not learn from sums over windows refuses.

    >>> timing_for("tabu", "day", None), timing_for("tabu", None, None)
    (Timing(time='day', series=None), None)
    >>> timing_for("vote", "day", None)
    Traceback (most recent call last):
    dagora.OptionError: the method vote takes rows as independent of each other: ...
    """
    timing = Timing.read(time, series)
    in_time = method is not None and method_named(method).in_time
    if in_time and timing is None:
        raise OptionError(
            f"the method {method} learns from series: {option('time')} says which column holds the time"
        )
    if timing is not None and method is not None:
        refuse_series(method_named(method))
        if not in_time and (method_named(method).takes == "federation" or basis_functions(method, {})):
            raise OptionError(
                f"the method {method} takes rows as independent of each other: choose dynotears or a search "
                f"for series, or leave {option('time')} out"
            )
    return timing


def over_windows(method: str | None, timing: Timing | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with a number of lags where a method for rows learns from windows of series.

    >>> over_windows("tabu", Timing("day"), {}), over_windows("dynotears", Timing("day"), {})
    ({'lags': 1}, {})
    """
    rows = method is None or not method_named(method).in_time
    return {"lags": LAGS, **settings} if timing is not None and rows else dict(settings)
