"""The series that commands ask networks in time about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dagora.cli.data_options import Reading, show_overview, show_warnings
from dagora.cli.live_line import live_line

if TYPE_CHECKING:
    from dagora.data.incomplete import AnyTable
    from dagora.data.series import Timing


def read_all_series(
    reading: Reading, data: str, timing: Timing, wanted: Iterable[str], numbers_for: str
) -> AnyTable:
    """The table of a command with all its columns, from which a graph in time is to be learned."""
    from dagora.data.columns.reading_options import always
    from dagora.data.made_tables import without_design

    table = without_design(
        reading.any_table(
            data,
            wanted=(*wanted, *timing.columns),
            numbers=(timing.time,),
            numbers_for=numbers_for,
            why_not_model=always,
            in_time=timing.columns,
        )
    )
    if table.overview is not None and not live_line().silent:
        show_overview(table.overview, data)
    return table


def read_series(
    reading: Reading, network: str, data: str, timing: Timing, *, others: bool = False
) -> AnyTable:
    """The table of a command, read for the variables of a network; `others` keeps all columns."""
    from dagora.api.network_in_time import read_time_source
    from dagora.data.columns.reading_options import always
    from dagora.data.made_tables import without_design
    from dagora.network.time.time_network import TimeNetwork

    source = read_time_source(network, any_of_class=True)
    graph = source.graph if isinstance(source, TimeNetwork) else source[0]
    levels: dict[str, tuple[str, ...]] = {}
    numbers: list[str] = []
    if isinstance(source, TimeNetwork):
        own = source.window.model.levels
        levels = {name: tuple(own[name]) for name in graph.variables if name in own}
        numbers = [name for name in graph.variables if name not in own]
    wanted = (*graph.variables, *timing.columns)
    table = without_design(
        reading.any_table(
            data,
            wanted=wanted,
            only=None if others or isinstance(source, TimeNetwork) else frozenset(wanted),
            levels=levels,
            numbers=(*numbers, timing.time),
            why_not_model=always,
            in_time=timing.columns,
        )
    )
    if table.overview is not None and not live_line().silent:
        show_warnings(table.overview.warnings)
    return table
