"""`dagora query`: ask a network."""

from __future__ import annotations

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import PseudoCountType
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo
from dagora.network.table_prior import PseudoCount

EXAMPLES = """\b
Examples:
  dagora query network.bif "P(cancer | smoker=yes)"
  dagora query network.bif "P(cancer=yes | do(smoker=no))" "MAP(cancer, cough | xray='not clear')"
  dagora query network.json "P(dose | effect=1.5)" --method sampling --samples 1000000 --seed 1

P(a, b | c=yes, x=1.5) is a joint distribution given a level and a value. P(a=yes | …) is the probability of
an event, MAP(a, b | …) the most probable levels together, MAP(* | …) those of all that is not given.
do(d=no) after the bar sets a variable instead of observing it. Names and levels with blanks, commas or
brackets stand in quotes.
"""


@click.command("query", cls=PagedCommand, short_help="Ask a network.", epilog=EXAMPLES)
@click.argument("network", shell_complete=completing.files)
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "sampling"]),
    default="auto",
    show_default=True,
    help="auto: exact, or by samples where a discrete variable depends on numbers that are not given.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Number of weighted samples.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the samples.")
@click.option("--memory", metavar="SIZE", help="Most memory of one table, such as 8GB.  [default: 2GiB]")
@click.option(
    "--pseudocount",
    type=PseudoCountType(),
    help="Added to every cell of the probability tables, instead of what was added when they were fitted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answers as one JSON object.")
@quiet_option()
def command(
    *,
    network: str,
    questions: tuple[str, ...],
    method: str,
    samples: int,
    seed: int,
    memory: str | None,
    pseudocount: PseudoCount | None,
    as_json: bool,
) -> None:
    """Answer questions about NETWORK, a file with parameters (.bif .json .xmlbif .net .xdsl .uai)."""
    from dagora.base.errors import QueryError
    from dagora.base.files import json_text
    from dagora.base.wording import render
    from dagora.formats.registry import read_network
    from dagora.network.inference.answer import Answer
    from dagora.network.inference.question import parse
    from dagora.network.inference.settings import check_settings
    from dagora.network.inference.sharing import ask_each
    from dagora.network.refit import with_pseudocount

    settings = check_settings(method, samples, seed, memory)
    asked = [parse(question) for question in questions]
    known = read_network(network)
    if pseudocount is not None:
        known = with_pseudocount(known, pseudocount)
    found = ask_each(known.model, asked, settings)
    answers = [answer for answer in found if isinstance(answer, Answer)]
    refused = {str(asked[k]): error for k, error in enumerate(found) if isinstance(error, QueryError)}
    if not answers:
        raise next(iter(refused.values()))
    if as_json:
        listed = [
            answer.to_dict()
            if isinstance(answer, Answer)
            else {"question": str(question), "error": render(str(answer))}
            for question, answer in zip(asked, found, strict=True)
        ]
        echo(json_text({"network": network, "answers": listed}))
    else:
        echo("\n\n".join(map(repr, answers)))
        if known.origin is not None:
            echo(f"\nparameters from {known.origin.describe()}", err=True)
    for question, error in refused.items():
        echo(f"dagora: error: no answer to {question}: {render(str(error))}", err=True)
    if refused:
        click.get_current_context().exit(2)
