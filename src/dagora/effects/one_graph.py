"""The effect by a graph that identifies it: zero, or adjusted for a valid set.

Of the valid sets, the one of least variance is taken whose columns are there. Where strata of it lack rows
with one of the values compared, a smaller set is taken if that has more support.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from dagora.base.errors import DataError, OptionError
from dagora.base.phrases import some_of
from dagora.effects.assumptions import GRAPH_IS_CAUSAL, PAG_IS_RIGHT
from dagora.effects.contrast import EffectContrast
from dagora.effects.effect_source import EffectSource, OfferedSet
from dagora.effects.result import Effect
from dagora.effects.sensitivity import HiddenCause, e_values
from dagora.effects.set_estimate import Interval, SetEstimate
from dagora.graph.adjustment import Adjustment
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import AnyGraph, require_any_graph
from dagora.graph.dag import DAG

MOST_SETS = 200  # minimal sets that are looked at for one whose columns are there
ENOUGH = 0.99  # share of supported rows above which no other set is tried


def effect_if_identified(
    found: Adjustment, rows: EffectSource, contrast: EffectContrast, seed: int = 0
) -> Effect:
    """The effect by a graph whose verdict is "zero" or "adjustment"."""
    assumed = assumptions_of(require_any_graph(found.graph))
    if found.verdict == "zero":
        return Effect(
            contrast, "zero", zero(contrast), rows=rows.n_rows, assumptions=assumed, notes=found.notes
        )
    chosen = choose_set(found, rows, contrast)
    estimate = chosen.estimate(seed)
    estimate.refuse_untold()
    return Effect(
        contrast,
        "adjustment",
        estimate.estimates,
        chosen.names,
        estimate.how,
        chosen.n_rows,
        estimate.support,
        assumptions=(*assumed, *estimate.assumes),
        hidden_cause=None if isinstance(found.graph, PAG) else hidden_cause(estimate),
        notes=(*found.notes, *chosen.notes),
    )


def hidden_cause(estimate: SetEstimate) -> HiddenCause | None:
    """The strength that a hidden common cause would need: for a slope, or for a risk ratio."""
    ratio = estimate.estimates.get("ratio")
    if ratio is None or not 0 < ratio.low <= ratio.value <= ratio.high < math.inf:
        return estimate.hidden_cause
    return HiddenCause(ratios=e_values(ratio.value, ratio.low, ratio.high))


def zero(contrast: EffectContrast) -> dict[str, Interval]:
    """No effect, on every scale."""
    return {scale: Interval(*[float(scale != "difference")] * 3) for scale in contrast.scales}


def assumptions_of(graph: AnyGraph) -> tuple[str, ...]:
    """The assumptions of an effect by a graph."""
    return (PAG_IS_RIGHT if isinstance(graph, PAG) else GRAPH_IS_CAUSAL,)


def refuse_descendants(graph: AnyGraph, contrast: EffectContrast) -> None:
    """Refuse to condition on what x may change."""
    for name in contrast.given:
        if Adjustment(graph, contrast.x, name).verdict != "zero":
            x = " and ".join(contrast.x)
            raise OptionError(
                f"'{name}' may depend on {x}: an effect given it cannot be computed by adjustment"
            )


def choose_set(found: Adjustment, rows: EffectSource, contrast: EffectContrast) -> OfferedSet:
    """The set to adjust for: of least variance, or one with more support."""
    best: OfferedSet | None = None
    largest = -1.0
    for names in list(usable_sets(found, rows.names, contrast))[:2]:
        offered = rows.offer(require_any_graph(found.graph), contrast, names)
        if offered.share > largest + 1 - ENOUGH:
            best, largest = offered, offered.share
        if offered.share >= ENOUGH:
            break
    if best is None:
        raise DataError(no_set(found, rows.names, contrast))
    return best


def usable_sets(
    found: Adjustment, there: Collection[str], contrast: EffectContrast
) -> Iterator[tuple[str, ...]]:
    """Valid sets whose columns are there and that stay valid with what is given, the best first."""
    known, given = set(there), list(contrast.given)
    for names in dict.fromkeys(offered_sets(found, contrast, known)):
        if set(names) <= known and (not given or found.is_valid([*names, *given])):
            yield names


def offered_sets(found: Adjustment, contrast: EffectContrast, known: set[str]) -> Iterator[tuple[str, ...]]:
    """Valid sets in the order in which they are tried."""
    if found.optimal is not None:
        yield found.optimal
    if found.minimal is not None:
        yield found.minimal
    if not {*(found.optimal or ()), *(found.minimal or ())} <= known:
        yield from found.minimal_sets(MOST_SETS)
    if contrast.given and isinstance(found.graph, DAG) and len(contrast.x) == 1:
        parents = found.graph.parents(contrast.x[0])
        yield tuple(name for name in parents if name != contrast.y)


def no_set(found: Adjustment, there: Collection[str], contrast: EffectContrast) -> str:
    """Why there is no set to adjust for."""
    lacking = [name for name in found.optimal or found.minimal or () if name not in there]
    if lacking:
        return f"no valid adjustment set is in the table, which lacks {some_of(lacking)}"
    given = ", ".join(contrast.given)
    return f"no valid adjustment set is left where the effect is given {given}"
