"""Messages about a wrong command line: click's own in plain words, and hints."""

from __future__ import annotations

import click

from dagora.base.wording import nearest

# Words of click about values, as people would put them.
PLAINLY = (
    (" is not a valid integer range", " is no whole number"),
    (" is not a valid integer", " is no whole number"),
    (" is not a valid float range", " is no number"),
    (" is not a valid float", " is no number"),
)


def in_plain_words(error: click.UsageError) -> str:
    """One line about a wrong command line, with where to read more.

    >>> in_plain_words(click.BadParameter("'1h' is not a valid float."))
    "Invalid value: '1h' is no number"
    """
    where = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
    return f"{what_is_wrong(error)}{where}"


def what_is_wrong(error: click.UsageError) -> str:
    """The same without where to read more."""
    if isinstance(error, click.NoSuchOption):
        return about_option(error)
    message = error.format_message().rstrip(".")
    for said, plain in PLAINLY:
        message = message.replace(said, plain)
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "time_limit":
        message += ": give seconds, such as 60"
    takes_data = error.ctx is not None and "data" in {param.name for param in error.ctx.command.params}
    if message.startswith("Got unexpected extra argument") and takes_data:
        message += ": one DATA is read"
        if error.ctx is not None and error.ctx.info_name != "explore":
            message += "; for several files, name a folder or a pattern in quotes ('*.csv')"
    return message


def about_option(error: click.NoSuchOption) -> str:
    """The message about an option that a command does not have."""
    name = error.option_name.lstrip("-").replace("-", "_")
    said = f"there is no option '{error.option_name}'"
    if error.ctx is not None and takes_options(error.ctx.command) and name in options_of_methods():
        return f"{said}: options of methods and scores are written --option {name}=VALUE"
    known = error.ctx.command.params if error.ctx is not None else []
    flags = [flag for parameter in known for flag in parameter.opts if flag.startswith("--")]
    near = nearest(error.option_name, flags, likeness=0.75)
    return f"{said}: did you mean '{near}'?" if near else said


def takes_options(command: click.Command) -> bool:
    """Return True if a command has --option NAME=VALUE."""
    return any("--option" in parameter.opts for parameter in command.params)


def options_of_methods() -> set[str]:
    """The names of all options of methods, samplers and scores."""
    from dagora.learners.registry import METHODS
    from dagora.posterior.registry import SAMPLERS
    from dagora.scores.registry import SCORES

    return {option.name for entry in (*METHODS, *SAMPLERS, *SCORES) for option in entry.options}
