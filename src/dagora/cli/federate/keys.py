"""`dagora federate keys`: a certificate for each party."""

from __future__ import annotations

from pathlib import Path

import click

from dagora.base.extras import CRYPTOGRAPHY_FOR_SITES
from dagora.base.phrases import split_list
from dagora.cli.help_pages import PagedCommand
from dagora.cli.live_line import quiet_option
from dagora.cli.party_options import DAYS, as_bad_input
from dagora.cli.terminal import echo

COORDINATOR = "coordinator"


@click.command("keys", cls=PagedCommand, short_help="Make a certificate for each party.")
@click.argument("folder")
@click.option("--sites", required=True, metavar="A,B,C", help="Names of the sites.")
@DAYS
@quiet_option()
def keys(*, folder: str, sites: str, days: int) -> None:
    """Make a certificate authority and one certificate per party in FOLDER.

    Give FOLDER/NAME to that party only, and FOLDER/ca.key to nobody.
    """
    CRYPTOGRAPHY_FOR_SITES.require("dagora federate")
    from dagora.parties.transport.certificates import make_certificates

    listed = site_names(sites)
    with as_bad_input():
        make_certificates(folder, [COORDINATOR, *listed], days=days)
    for name in (COORDINATOR, *listed):
        echo(str(Path(folder) / name))


def site_names(listed: str) -> list[str]:
    """Split and check the names of the sites."""
    from dagora.base.errors import OptionError
    from dagora.parties.transport.transport import check_name

    with as_bad_input():
        sites = [check_name(name) for name in split_list(listed)]
    if len(set(sites)) != len(sites) or COORDINATOR in sites:
        raise OptionError(f"--sites takes different names other than '{COORDINATOR}', not '{listed}'")
    if len(sites) < 2:
        raise OptionError("--sites takes at least two names, with commas between them")
    return sites


def check_number(option: str, sites: int, minimum: int) -> None:
    """Refuse fewer sites than a sum must have, before anybody waits for them."""
    from dagora.base.errors import OptionError

    if sites < minimum:
        two = ": with two sites each can compute the other's part; --minimum 2 accepts that"
        raise OptionError(
            f"{option} names {sites} sites, fewer than --minimum {minimum}{two if sites == 2 else ''}"
        )


MINIMUM = click.option(
    "--minimum",
    type=click.IntRange(2),
    default=3,
    show_default=True,
    help="Least number of sites in a sum. With 2, each site can compute the other's part.",
)
