"""The answer about an effect in one sentence, with what it assumes."""

from __future__ import annotations

from dagora.base.phrases import was_or_were
from dagora.effects.contrast import EffectContrast, value_text
from dagora.effects.result import Effect
from dagora.effects.set_estimate import Interval, shown_number


def effect_in_words(effect: Effect) -> str:
    """The effect of setting x on y, its interval and its conditions, in one or two sentences.

    >>> contrast = EffectContrast(("drug",), "death", ("yes",), ("no",), "yes")
    >>> found = {"difference": Interval(-0.19, -0.24, -0.14)}
    >>> effect_in_words(Effect(contrast, "adjustment", found, (), assumptions=("no cause is missing",)))
    'If no cause is missing, then setting drug to yes instead of no lowers P(death=yes) by 0.19 \
(95 % interval: 0.14 to 0.24).'
    """
    given = "".join(f" among rows with {name}={level}" for name, level in effect.contrast.given.items())
    said = f"setting {set_in_words(effect.contrast)} {_outcome(effect, given)}"
    beside = "" if effect.where_set is None else f" {_beside(effect.where_set, given)}"
    if not effect.assumptions:
        return f"{said[:1].upper()}{said[1:]}.{beside}"
    first, *others = effect.assumptions
    more = ", and if what else is assumed holds" if others else ""
    return f"If {first.partition(';')[0]}{more}, then {said}.{beside}"


def set_in_words(contrast: EffectContrast) -> str:
    """The variables that are set, and their values, in words.

    >>> set_in_words(EffectContrast(("dose",), "pressure", (1.0,), (0.0,), per_unit=True))
    'dose one unit higher'
    """
    if contrast.per_unit:
        return " and ".join(f"{name} one unit higher" for name in contrast.x)
    values = zip(contrast.x, contrast.to, contrast.base, strict=True)
    return " and ".join(
        f"{name} to {value_text(to)} instead of {value_text(base)}" for name, to, base in values
    )


def _beside(where_set: Effect, given: str) -> str:
    """The effect by the rows alone in which x was set."""
    x = f"{' and '.join(where_set.x)} {was_or_were(where_set.x)}"
    told = change_in_words(where_set.estimates["difference"], f"{where_set.contrast.outcome}{given}")
    return f"By the {where_set.rows} rows alone in which {x} set by lot, it {told}."


def _outcome(effect: Effect, given: str) -> str:
    outcome = f"{effect.contrast.outcome}{given}"
    if effect.verdict == "zero":
        return f"does not change {outcome}: no directed path leads there"
    if effect.verdict == "not identified":
        if effect.range is None:
            return f"changes {outcome} by an amount that is not identified: {effect.reason}"
        low, high = map(shown_number, effect.range)
        return (
            f"changes {outcome} by something between {low} and {high}: the data alone do not tell which, as "
            f"{effect.reason.partition(';')[0]}"
        )
    told = change_in_words(effect.estimates["difference"], outcome)
    over = effect.over_graphs
    if over is None:
        return told
    cause = f"{' or '.join(effect.x)} is a cause of {effect.y}"
    return f"{told}, averaged over graphs; {cause} with probability {over.cause_probability:.2f}"


def change_in_words(found: Interval, outcome: str) -> str:
    """The amount by which an outcome is raised or lowered, with its interval, in words.

    >>> change_in_words(Interval(0.01, -0.02, 0.04), "the mean of y")
    'changes the mean of y by 0.01 (95 % interval: −0.02 to 0.04, which holds zero)'
    """
    if found.low <= 0 <= found.high:
        value, low, high = map(shown_number, (found.value, found.low, found.high))
        sure = ", which holds zero" if found.low < found.high else ""
        return f"changes {outcome} by {value} (95 % interval: {low} to {high}{sure})"
    verb = "raises" if found.value > 0 else "lowers"
    value, low, high = map(shown_number, (abs(found.value), *sorted((abs(found.low), abs(found.high)))))
    return f"{verb} {outcome} by {value} (95 % interval: {low} to {high})"
