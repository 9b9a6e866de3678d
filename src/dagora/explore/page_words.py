"""The page's names for options, used in the library's messages there.

What cannot be chosen on the page is named as the command names it, with the command.
"""

from __future__ import annotations

import shlex

from dagora.base.wording import Words

TITLES = {
    "missing": "missing values",
    "na": "words that mean missing",
    "counts": "column that counts rows",
    "weights": "column of survey weights",
    "group": "column of groups",
    "discretise": "cut numbers",
    "bins": "into",
    "separator": "cells of text files are separated by",
    "table": "sheet of a spreadsheet",
    "decimal": "decimals come after a",
    "within_groups": "look within groups",
    "ranks": "take numbers by their ranks",
    "join": "join levels that differ only in case",
    "max_parents": "most parents",
    "method": "method",
    "score": "score",
    "seed": "seed",
    "time_limit": "seconds at most",
    "bootstrap": "bootstrap samples",
}
"""The label of a field of the page, by the option that it sets."""

CHOICES = {
    "missing": {"model": "model", "drop": "drop their rows", "level": "make them a level", "error": "refuse"},
    "discretise": {"quantile": "at quantiles", "width": "into equal widths", "mean": "at the mean"},
    "decimal": {"point": "point", "comma": "comma"},
    "separator": {",": "comma", ";": "semicolon", "\\t": "tab", "|": "bar", " ": "blank"},
}
"""The page's words for the values of an option."""

UNSET = {
    "missing": "model, where the method can",
    "discretise": "no",
    "decimal": "what the file shows",
    "separator": "what its first lines show",
    "table": "the only one",
    "weights": "none: rows count alike",
    "group": "none: rows are independent",
    "counts": "none: each row counts once",
}
"""The page's words for the default of an option."""


def page_option(name: str, value: str | None = None, _literal: str = "") -> str:
    """Name an option as the page does, with a value if there is one to choose.

    >>> page_option("missing", "drop"), page_option("drop", "age"), page_option("discrete", "ward")
    ('“missing values: drop their rows”', "untick 'age'", '“type of ward: discrete”')
    >>> page_option("time_limit"), page_option("drop"), page_option("lags", "2")
    ('“seconds at most”', 'untick them', '`dagora learn --lags 2`')
    """
    if name == "drop":
        return "untick them" if value is None else f"untick '{value}'"
    if name in {"discrete", "continuous", "ordinal"} and ":" not in (value or ""):
        return f"“type: {name}”" if value is None else f"“type of {value}: {name}”"
    if name not in TITLES:
        said = "" if value is None else f" {shlex.quote(value)}"
        return f"`dagora learn --{name.replace('_', '-')}{said}`"
    if value is None:
        return f"“{TITLES[name]}”"
    return f"“{TITLES[name]}: {CHOICES.get(name, {}).get(value, value)}”"


def page_setting(name: str, value: str | None, _literal: str) -> str:
    """Name an option of a method or score as the page does.

    >>> from dagora.base.wording import render, setting
    >>> render(setting("ess", 10), PAGE)
    '“options: ess = 10”'
    """
    return f"“options: {name}”" if value is None else f"“options: {name} = {value}”"


PAGE = Words(page_option, page_setting)
