"""`dagora federate`: rows spread over sites that may not pool them."""

from dagora.cli.federate.group import command

__all__ = ["command"]
