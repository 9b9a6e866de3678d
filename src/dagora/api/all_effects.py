"""`dagora.all_effects`: the total effects of all pairs of columns, averaged over graphs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagora.api.effect import averages, draw_graphs, effect_rows
from dagora.base.errors import OptionError
from dagora.base.wording import option
from dagora.data.columns.reading_options import split_reading, takes_reading
from dagora.data.interventions import GivenInterventions
from dagora.effects.all_pairs import AllEffects, average_all
from dagora.graph.knowledge import Knowledge, as_knowledge
from dagora.learners.source import read_rows


@takes_reading()
def all_effects(
    data: object,
    *,
    method: str | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    interventions: GivenInterventions | None = None,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - of reading, and of the method
) -> AllEffects:
    """Tell the total effects of all pairs of continuous columns, averaged over graphs.

    Parameters
    ----------
    {data}
    method : str, optional
        A sampler or "bootstrap", as for `effect`.
    {knowledge, interventions, seed}
    {reading}
    **options
        Options of the method, such as `draws` of a sampler.

    Returns
    -------
    AllEffects
        Matrices `.mean`, `.low`, `.high` and `.cause_probability`; `.pairs()` lists what matters most first.

    Examples
    --------
    >>> import numpy as np
    >>> a, noise = np.random.default_rng(0).standard_normal((2, 200))
    >>> found = all_effects({"a": a, "b": a + noise}, draws=200)
    >>> found.names, round(float(found.cause_probability.sum()), 6)
    (('a', 'b'), 1.0)
    """
    known = as_knowledge(knowledge, None)
    read, others = split_reading(options, known.mentioned)
    rows = read_rows(data, reading=read, interventions=interventions)
    effect_rows(rows)
    if not averages(method):
        raise OptionError(
            f"effects of all pairs are averages over graphs: {option('method', method)} learns one"
        )
    drawn, settings = draw_graphs(rows, method, known, seed, others)
    return average_all(drawn, rows, settings, seed)
