"""`dagora query`: ask a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dagora.cli import completing
from dagora.cli.help_pages import PagedCommand
from dagora.cli.learn_options import PseudoCountType
from dagora.cli.live_line import quiet_option
from dagora.cli.terminal import echo
from dagora.cli.uncertain_evidence import uncertain_options
from dagora.network.table_prior import PseudoCount

if TYPE_CHECKING:
    from dagora.network.inference.question import Question
    from dagora.network.inference.settings import QuerySettings
    from dagora.network.networks import Network

EXAMPLES = """\b
Examples:
  dagora query network.bif "P(cancer | smoker=yes)"
  dagora query network.bif "P(cancer=yes | do(smoker=no))" "MAP(cancer, cough | xray='not clear')"
  dagora query network.json "P(dose | effect=1.5)" --method sampling --samples 1000000 --seed 1
  dagora query network.json "P(sbp > 140 | 50 <= age < 60)" "P(death=yes | drug=A) - P(death=yes | drug=B)"
  dagora query network.bif "P(cancer)" --likelihood xray=clear:0.2,shadow:0.7 --soft smoker=yes:0.3,no:0.7
  dagora query network.bif "P(cancer=yes | cough=yes)" --sensitivity --picture tornado.svg

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
@uncertain_options()
@click.option(
    "--sensitivity",
    is_flag=True,
    help="How far each parameter, and each piece of evidence, moves the answer (one number, as of an event).",
)
@click.option(
    "--spread",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="With --sensitivity: share of its value by which each parameter is moved.  [default: 0.1]",
)
@click.option("--picture", metavar="FILE.svg", help="With --sensitivity: draw it (one question).")
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
    likelihood: tuple[tuple[str, dict[str, float]], ...],
    soft: tuple[tuple[str, dict[str, float]], ...],
    sensitivity: bool,
    spread: float | None,
    picture: str | None,
    as_json: bool,
) -> None:
    """Answer questions about NETWORK, a file with parameters (.bif .json .xmlbif .net .xdsl .uai)."""
    from dagora.base.errors import QueryError
    from dagora.base.files import json_text
    from dagora.base.wording import render
    from dagora.formats.registry import read_network
    from dagora.network.inference.answer import Answer
    from dagora.network.inference.question import with_uncertain
    from dagora.network.inference.question_reader import parse
    from dagora.network.inference.settings import check_settings
    from dagora.network.inference.sharing import ask_each
    from dagora.network.refit import with_pseudocount

    settings = check_settings(method, samples, seed, memory)
    check_sensitivity(questions, method, spread, picture, asked=sensitivity)
    uncertain = (once("--likelihood", likelihood), once("--soft", soft))
    asked = [with_uncertain(parse(question), *uncertain) for question in questions]
    known = read_network(network)
    if pseudocount is not None:
        known = with_pseudocount(known, pseudocount)
    if sensitivity:
        show_sensitivity(network, known, asked, settings, spread, picture, as_json=as_json)
        return
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


def once(flag: str, given: tuple[tuple[str, dict[str, float]], ...]) -> dict[str, dict[str, float]]:
    """The evidence by variable; refuse a variable that is named twice."""
    from dagora.base.errors import OptionError

    found = dict(given)
    if len(found) < len(given):
        raise OptionError(f"{flag} names a variable twice: say once what is known of it")
    return found


def check_sensitivity(
    questions: tuple[str, ...], method: str, spread: float | None, picture: str | None, *, asked: bool
) -> None:
    """Refuse options that do not go together, before anything is read."""
    from dagora.base.errors import OptionError
    from dagora.cli.outputs import check_picture

    for value, flag in ((spread, "--spread"), (picture, "--picture")):
        if value is not None and not asked:
            raise OptionError(f"{flag} goes with --sensitivity")
    if asked and method == "sampling":
        raise OptionError("--sensitivity needs exact answers: leave --method sampling out")
    if picture is not None:
        if len(questions) > 1:
            raise OptionError("--picture draws the sensitivity of one question, not of several")
        check_picture(picture)


def show_sensitivity(
    file: str,
    network: Network,
    asked: list[Question],
    settings: QuerySettings,
    spread: float | None,
    picture: str | None,
    *,
    as_json: bool,
) -> None:
    """Print the sensitivity of each answer, and draw it where a picture is asked for."""
    from dagora.base.files import json_text, write_whole
    from dagora.network.inference.sensitivity import SPREAD, sensitivity_of
    from dagora.report.tornado_chart import draw_tornado

    share = SPREAD if spread is None else spread
    found = [sensitivity_of(network.model, question, settings, share) for question in asked]
    if as_json:
        echo(json_text({"network": file, "sensitivity": [one.to_dict() for one in found]}))
    else:
        echo("\n\n".join(map(repr, found)))
    if picture is not None:
        write_whole(picture, draw_tornado(found[0]))
