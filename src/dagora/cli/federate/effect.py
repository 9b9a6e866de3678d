"""`dagora federate effect`: what happens if a variable is set, from sums over sites that keep their rows."""

from __future__ import annotations

import click

from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.cli import completing
from dagora.cli.effect import read_levels, split_pair
from dagora.cli.effect_options import GIVEN, KNOWLEDGE, LEVELS
from dagora.cli.federate.keys import MINIMUM
from dagora.cli.federate.planning import (
    CODEBOOK,
    KEYS,
    PRIVACY,
    SITES,
    WRITE_PLAN,
    convene,
    with_certificates,
)
from dagora.cli.federate.waiting import meet_sites, save_plan
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.party_options import listening_host, listening_port, seconds_option
from dagora.cli.terminal import echo

EXAMPLES = """\b
Examples: the coordinator's line; each site runs `dagora federate client` as always
  dagora federate effect --keys keys/coordinator --from drug --to death --graph graph.json
  dagora federate effect --keys keys/coordinator --from dose --to pressure --graph net.json --json
  dagora federate effect --keys keys/coordinator --from x --to y --graph g.json --privacy epsilon=1
  dagora federate effect --keys keys/coordinator --from drug --to death --graph g.json --write-plan p.json
"""


@click.command(
    "effect",
    cls=PagedCommand,
    short_help="Tell the effect of setting a variable, over sites.",
    epilog=EXAMPLES,
)
@click.option(
    "--from", "causes", multiple=True, required=True, metavar="NAME", help="What is set (repeatable)."
)
@click.option(
    "--to",
    "outcome",
    required=True,
    metavar="NAME[=LEVEL]",
    help="The outcome, and of a discrete one the level.",
)
@click.option(
    "--graph",
    required=True,
    metavar="GRAPH",
    shell_complete=completing.files,
    help="The graph, a file; a network of `dagora federate coordinator -o` knows what directions are open.",
)
@LEVELS
@GIVEN
@KNOWLEDGE
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random numbers.")
@KEYS
@CODEBOOK
@SITES
@MINIMUM
@PRIVACY
@listening_host("host")
@listening_port(7100)
@seconds_option("--wait", 300.0, "Seconds to wait for all sites to connect.")
@seconds_option("--patience", 120.0, "Seconds to wait for each answer of a site.")
@WRITE_PLAN
@click.option("-o", "--output", metavar="FILE.json", help="Write the answer as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@quiet_option("Show no progress.")
def effect(
    *,
    causes: tuple[str, ...],
    outcome: str,
    graph: str,
    levels: tuple[str, ...],
    given: tuple[str, ...],
    knowledge: str | None,
    seed: int,
    folder: str,
    codebook: str | None,
    sites: str | None,
    minimum: int,
    privacy: str | None,
    host: str,
    port: int,
    wait: float,
    patience: float,
    write_plan: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Wait for the sites, then tell from sums over them what happens to one variable if another is set.

    The plan names the question, the graph (a long one, or one with hidden causes, by a hash) and, without
    noise for privacy, the column sets that are asked for: joint counts of discrete columns, or sums of
    products of continuous ones. Estimates are those of `dagora effect` on the pooled
    rows, and so are intervals, but for the leverage of single rows of continuous columns.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.api.effect import notes_on_graph
    from dagora.api.effect_federated import read_question
    from dagora.api.graph_source import class_of
    from dagora.base.files import json_text, write_whole
    from dagora.cli.outputs import check_target
    from dagora.graph.knowledge_files import as_knowledge
    from dagora.parties.horizontal.methods_over_sites import privacy_terms
    from dagora.parties.horizontal.plan.drafting import draft_effect_plan
    from dagora.parties.horizontal.session.coordinator_session import CoordinatorSession

    if output is not None:
        check_target(output)
    known, pairs = as_knowledge(knowledge, None).edges_only("an effect"), read_levels(causes, levels)
    class_, directions = class_of(graph)
    identity, consortium, listed, _ = convene(folder, codebook, sites, minimum)
    conditions = dict(split_pair(pair, "--given", consortium.codebook.schema.names) for pair in given)
    question = read_question(class_, consortium.codebook, causes, outcome, pairs, None, conditions, known)
    found = None if question.sets else question.answer(None, notes_on_graph(directions))
    if found is None:
        terms = privacy_terms(privacy, question.codebook.schema, len(listed), joint=True)
        plan = draft_effect_plan(
            question.codebook,
            listed,
            question.sets,
            coordinator=identity.fingerprint(identity.certificate),
            settings=question.settings,
            columns_per_table=consortium.columns_per_table,
            cells_per_table=consortium.cells_per_table,
            largest_rows=consortium.largest_rows,
            privacy=terms,
        )
        if write_plan:
            save_plan(plan, write_plan)
            return
        transport = meet_sites(identity, plan, host, port, wait, patience)
        plan = with_certificates(plan, transport.fingerprints)
        with CoordinatorSession(transport, plan, identity, patience=patience) as session:
            echo("dagora: all sites are connected", err=True)
            if terms is None:
                found = question.answer(session, notes_on_graph(directions), seed)
            else:
                found = question.answer_from_release(
                    terms, session.release_sums(), notes_on_graph(directions), seed
                )
    if output is not None:
        write_whole(output, found.to_json())
    echo(json_text(found.to_dict()) if as_json else found.to_text())
