"""Completion in the shell: methods, samplers, scores, their options, and files."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def beginning(incomplete: str, entries: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    """Names that begin with what was typed, each with its summary.

    >>> [item.value for item in beginning("ta", [("tabu", "a search"), ("pc", "tests")])]
    ['tabu']
    """
    return [CompletionItem(name, help=text) for name, text in entries if name.startswith(incomplete)]


def methods(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Methods of `learn`."""
    from dagora.learners.registry import METHODS

    return beginning(incomplete, [(method.name, method.summary) for method in METHODS])


def samplers(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Samplers of `sample`."""
    from dagora.posterior.registry import SAMPLERS

    return beginning(incomplete, [(sampler.name, sampler.summary) for sampler in SAMPLERS])


def scores(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Scores."""
    from dagora.scores.registry import SCORES

    return beginning(incomplete, [(score.name, score.summary) for score in SCORES])


def everything(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Methods, samplers and scores, for `methods`."""
    from dagora.api.methods import methods as catalogue

    return beginning(incomplete, {entry.name: entry.summary for entry in catalogue()}.items())


def options(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Options of the method or sampler and of the score that were named before, as NAME=."""
    from dagora.learners.registry import METHODS
    from dagora.posterior.registry import SAMPLERS
    from dagora.scores.registry import SCORES

    named = {str(ctx.params.get(name) or "").lower() for name in ("method", "score")}
    entries = [entry for entry in (*METHODS, *SAMPLERS, *SCORES) if entry.name in named]
    return beginning(
        incomplete, {f"{one.name}=": one.summary for entry in entries for one in entry.options}.items()
    )


def files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, by the shell itself."""
    return [CompletionItem(incomplete, type="file")]
