"""Effects over sites that may not pool their rows, from secure sums: those of the pooled rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dagora.api.effect import notes_on_graph
from dagora.api.graph_source import GraphSource, class_of
from dagora.api.learn_federated import AT_SITES, FEWEST, FROM_ROWS, read_sites
from dagora.base.errors import OptionError
from dagora.data.columns.reading_options import ReadingOptions, takes_reading
from dagora.data.schema import Kind
from dagora.data.table import Table
from dagora.effects.contrast import Levels, Value, read_contrast
from dagora.effects.over_sites import SiteQuestion
from dagora.effects.result import Effect
from dagora.graph.any_graph import AnyGraph
from dagora.graph.interventions import with_knowledge
from dagora.graph.knowledge import Knowledge
from dagora.graph.knowledge_files import as_knowledge
from dagora.parties.horizontal.learners.tasks import TASKS
from dagora.parties.horizontal.methods_over_sites import privacy_terms
from dagora.parties.horizontal.plan.codebook import Codebook
from dagora.parties.horizontal.plan.drafting import codebook_of, draft_effect_plan
from dagora.parties.horizontal.plan.plan import MOST_CELLS
from dagora.parties.horizontal.session.federation import OpenFederation
from dagora.parties.horizontal.site_threads import largest_rows, run_plan


@takes_reading(*AT_SITES)
def effect_federated(
    sites: Mapping[str, object],
    x: str | Iterable[str],
    y: str,
    *,
    graph: GraphSource,
    levels: Levels | None = None,
    event: Value | None = None,
    given: Mapping[str, Value] | None = None,
    knowledge: Knowledge | Mapping[str, Any] | str | Path | None = None,
    seed: int = 0,
    secure: bool = True,
    minimum: int = FEWEST,
    codebook: Codebook | None = None,
    privacy: Mapping[str, object] | str | None = None,
    **reading: Any,  # noqa: ANN401
) -> Effect:
    """Tell the effect of setting `x` on `y` from the tables of several sites, as of pooled rows.

    Of continuous columns the interval is robust by the mean leverage of all rows in place of each row's.

    Parameters
    ----------
    sites : mapping from str to data
        Each site's name and its data, as for `learn_federated`.
    x : str or names
        What is set: one variable, or several at once.
    y : str
        The outcome; of a discrete one with more than two levels, "name=level" says what is looked at.
    graph : DAG, CPDAG, PAG, Result, network or file
        As for `effect`; one learned over the sites will do.
    levels : two values, or mapping of name to two values, optional
        The value to set, and that instead of which. Default: the second level instead of the first; one unit
        more of a continuous x.
    event : str, optional
        The level of a discrete y that is looked at. Default: the second of two.
    given : mapping of name to level, optional
        The effect among rows with these levels.
    {knowledge, seed}
    secure : bool, default True
        Run the masks and messages of a real run; else sums are in the clear.
    minimum : int, default 3
        Fewest sites.
    codebook : Codebook, optional
        As for `learn_federated`.
    privacy : mapping or str, optional
        Such as {"epsilon": 1}: everything is told from one release with noise, which the interval includes
        (docs/privacy.md).
    {reading}

    Returns
    -------
    Effect
        As of `effect`. The columns of a question are all discrete, or all continuous.

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> rows = {"ill": [0, 0, 1, 1] * 9, "drug": [0, 1, 0, 1] * 9, "death": [0, 0, 1, 0] * 9}
    >>> graph = DAG(rows, [("ill", "drug"), ("ill", "death"), ("drug", "death")])
    >>> sites = {"north": rows, "south": rows, "west": rows}
    >>> found = effect_federated(sites, "drug", "death", graph=graph)
    >>> found.adjustment, found.rows, round(found.estimate, 2)
    (('ill',), 108, -0.5)
    """
    source = class_of(graph)  # a bad graph is refused before data are read
    how = ReadingOptions(**reading, cuts=False, trends=False)
    parties = read_sites(sites, minimum if secure else 1, how)
    if any(site.weights is not None for site in parties):
        raise OptionError(
            "an effect over sites takes every row for one: give the tables without weights, or ask for the "
            "effect at one site"
        )
    book = codebook or codebook_of({site.name: site.table for site in parties})
    known = as_knowledge(knowledge, None).edges_only("an effect")
    question = read_question(source[0], book, x, y, levels, event, given, known)
    notes = notes_on_graph(source[1])
    if not question.sets:
        return question.answer(None, notes)
    if not secure and privacy is not None:
        raise OptionError("privacy goes with secure sums: leave secure=False out")
    if not secure:
        return question.answer(OpenFederation.over(parties, TASKS, question.codebook), notes, seed)
    terms = privacy_terms(privacy, question.codebook.schema, len(parties), joint=True)
    draft = partial(
        draft_effect_plan,
        question.codebook,
        sets=question.sets,
        settings=question.settings,
        cells_per_table=MOST_CELLS,
        largest_rows=largest_rows(parties, terms),
        privacy=terms,
    )
    with run_plan(parties, draft) as (session, _):
        if terms is None:
            return question.answer(session, notes, seed)
        notes += [] if codebook is not None else [FROM_ROWS]
        return question.answer_from_release(terms, session.release_sums(), notes, seed)


def read_question(
    graph: AnyGraph,
    book: Codebook,
    x: str | Iterable[str],
    y: str,
    levels: Levels | None,
    event: Value | None,
    given: Mapping[str, Value] | None,
    known: Knowledge,
) -> SiteQuestion:
    """The question that a plan asks, from the graph and the codebook alone."""
    book.refuse_ranks("an effect")
    no_rows = Table(
        book.schema,
        tuple(np.zeros(0, np.float64 if v.kind is Kind.CONTINUOUS else np.uint16) for v in book.schema),
    )
    contrast = read_contrast(no_rows, x, y, levels, event, given)
    return SiteQuestion.of(with_knowledge(graph, known), contrast, book)
