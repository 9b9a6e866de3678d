"""The formats by file extension, and the functions that read and write files.

Every format reads and writes graphs; JSON and the formats of tables (BIF, XMLBIF, Hugin, XDSL, UAI) also hold
the parameters of a network. Each extension may be followed by `.gz`. Errors begin with the file's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.base.files import PathLike, as_utf8, naming, read_text, require_path, write_whole
from dagora.base.phrases import some_of
from dagora.base.wording import by_door
from dagora.formats import (
    adjacency_csv,
    bif,
    dagitty,
    dot,
    graphml,
    hugin,
    json_format,
    tetrad,
    uai,
    xdsl,
    xmlbif,
)
from dagora.formats.xml_tree import decode_xml
from dagora.graph.ancestral.pag import PAG
from dagora.graph.any_graph import require_any_graph
from dagora.graph.directions import without_arrows
from dagora.network.networks import DiscreteNetwork, GaussianNetwork, MixedNetwork, Network, require_network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dagora.graph.any_graph import AnyGraph
    from dagora.graph.cpdag import Graph
    from dagora.graph.dag import Edge
    from dagora.network.time.time_network import TimeNetwork

# Open directions that one sentence names.
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Format:
    """A format's name, its extensions, and the functions that parse and render text.

    `parse` returns a network where the text holds parameters, else a graph.
    """

    name: str
    extensions: tuple[str, ...]
    parse_graph: Callable[[str], AnyGraph]
    parse: Callable[[str], AnyGraph | Network]
    render_graph: Callable[[Graph], str]
    render_network: Callable[[Network, bool], str] | None = None
    render_pag: Callable[[PAG], str] | None = None
    needs_tables: bool = False
    """True where a file is a discrete network with its tables, and can be nothing else."""
    keeps_origin: bool = False
    """True where a file says what the parameters rest on."""
    keeps_names: bool = True
    decode: Callable[[bytes], str] = as_utf8
    """From the bytes of a file to its text."""


def _network_in_json(network: Network, originals: bool) -> str:  # noqa: ARG001 (JSON holds any name)
    return json_format.render_network(network)


def _only_graphs(
    name: str,
    extensions: tuple[str, ...],
    parse: Callable[[str], AnyGraph],
    render: Callable[[Graph], str],
    render_pag: Callable[[PAG], str] | None = None,
    decode: Callable[[bytes], str] = as_utf8,
) -> Format:
    return Format(name, extensions, parse, parse, render, render_pag=render_pag, decode=decode)


def _tables(
    name: str,
    extensions: tuple[str, ...],
    parse: Callable[[str], DiscreteNetwork],
    render: Callable[..., str],
    *,
    keeps_origin: bool = False,
    keeps_names: bool = True,
    decode: Callable[[bytes], str] = as_utf8,
) -> Format:
    """A format of discrete networks with their tables."""

    def parse_graph(text: str) -> AnyGraph:
        return parse(text).graph

    def render_graph(graph: Graph) -> str:
        if graph.undirected:
            raise FormatError(
                f"{name} holds networks with parameters, which a graph with undirected edges cannot have"
            )
        raise FormatError(
            f"{name} needs parameters and not only a graph; fit them by giving data, or use another format"
        )

    def render_network(network: Network, originals: bool) -> str:
        if not isinstance(network, DiscreteNetwork):
            raise FormatError(f"{name} holds discrete networks only; write others as .json")
        return render(network, originals=originals)

    return Format(
        name,
        extensions,
        parse_graph,
        parse,
        render_graph,
        render_network,
        needs_tables=True,
        keeps_origin=keeps_origin,
        keeps_names=keeps_names,
        decode=decode,
    )


FORMATS = (
    Format(
        "JSON",
        (".json",),
        json_format.parse_graph,
        json_format.parse,
        json_format.render_graph,
        _network_in_json,
        json_format.render_pag,
        keeps_origin=True,
    ),
    _tables("BIF", (".bif",), bif.parse, bif.render, keeps_origin=True),
    _only_graphs("DOT", (".dot", ".gv"), dot.parse_graph, dot.render_graph, dot.render_pag),
    _only_graphs("GraphML", (".graphml",), graphml.parse_graph, graphml.render_graph, decode=decode_xml),
    _only_graphs("DAGitty", (".dagitty",), dagitty.parse_graph, dagitty.render_graph, dagitty.render_pag),
    _only_graphs("Tetrad", (".tetrad",), tetrad.parse_graph, tetrad.render_graph, tetrad.render_pag),
    _only_graphs("CSV", (".csv",), adjacency_csv.parse_graph, adjacency_csv.render_graph),
    _tables("XMLBIF", (".xmlbif", ".bifxml", ".xml"), xmlbif.parse, xmlbif.render, decode=decode_xml),
    _tables("Hugin", (".net",), hugin.parse, hugin.render),
    _tables("XDSL", (".xdsl",), xdsl.parse, xdsl.render, decode=decode_xml),
    _tables("UAI", (".uai",), uai.parse, uai.render, keeps_names=False),
)


LOST = {
    DiscreteNetwork: "probability tables and levels",
    GaussianNetwork: "regressions",
    MixedNetwork: "probability tables, levels and regressions",
}


def find_format(path: PathLike) -> Format:
    """Return the format that a path's extension names.

    >>> find_format("alarm.bif.gz").name
    'BIF'
    >>> find_format("alarm.doc")
    Traceback (most recent call last):
    dagora.FormatError: alarm.doc: unknown extension '.doc'; known are .json .bif .dot ...
    """
    file = require_path(path)
    suffix = Path(file.stem).suffix if file.suffix.lower() == ".gz" else file.suffix
    for known in FORMATS:
        if suffix.lower() in known.extensions:
            return known
    listed = " ".join(extension for known in FORMATS for extension in known.extensions)
    fault = f"unknown extension '{suffix}'" if suffix else "the name has no extension"
    raise FormatError(f"{path}: {fault}; known are {listed} (each also with .gz){instead_of(suffix)}")


def instead_of(suffix: str) -> str:
    """The way to write files that are no graphs.

    >>> from dagora.base.wording import render
    >>> render(instead_of(".png"))
    '; pictures are .svg: result.plot() draws one'
    """
    if suffix.lower() in {".png", ".svg", ".pdf", ".jpg", ".jpeg"}:
        return by_door(
            python="; pictures are .svg: result.plot() draws one",
            command="; pictures are .svg: `dagora learn --picture FILE.svg`, `dagora convert GRAPH FILE.svg`",
        )
    if suffix.lower() in {".html", ".htm"}:
        return by_door(python="; write_report writes a page", command="; --report FILE.html writes a page")
    return ""


def read_graph(path: PathLike) -> AnyGraph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path
        The ending names the format: .json .bif .dot .gv .graphml .dagitty .tetrad .csv .xmlbif .net .xdsl
        .uai (each also with .gz).

    Returns
    -------
    DAG, CPDAG or PAG
        A PAG if its marks are in the file (JSON, DOT, DAGitty, Tetrad), a CPDAG if an edge is undirected.

    Examples
    --------
    >>> read_graph("missing.bif")
    Traceback (most recent call last):
    dagora.FormatError: missing.bif: no such file
    """
    known = find_format(path)
    text = read_text(path, decode=known.decode)
    with naming(path):
        return known.parse_graph(text)


def write_graph(graph: AnyGraph, path: PathLike) -> None:
    """Write a graph to a file, whole or not at all.

    Parameters
    ----------
    graph : DAG, CPDAG or PAG
        The marks of a PAG need JSON, DOT, DAGitty or Tetrad.
    path : path
        The ending names the format: .json .dot .gv .graphml .dagitty .tetrad .csv (each also with .gz).

    Returns
    -------
    None

    Examples
    --------
    >>> from dagora.graph.dag import DAG
    >>> write_graph(DAG("ab"), "graph.bif")
    Traceback (most recent call last):
    dagora.FormatError: graph.bif: BIF needs parameters and not only a graph; fit them ...
    """
    known = find_format(path)
    require_any_graph(graph)
    with naming(path):
        text = render_pag(known, graph) if isinstance(graph, PAG) else known.render_graph(graph)
    write_whole(path, text)


def render_pag(known: Format, graph: PAG) -> str:
    """A PAG in a format that can hold its marks.

    >>> render_pag(find_format("graph.csv"), PAG("ab"))
    Traceback (most recent call last):
    dagora.FormatError: CSV cannot hold the marks of a PAG: write .json, .dot or .dagitty
    """
    if known.render_pag is None:
        raise FormatError(f"{known.name} cannot hold the marks of a PAG: write .json, .dot or .dagitty")
    return known.render_pag(graph)


def read_network(path: PathLike) -> Network:
    """Read a graph with its parameters from a file.

    Parameters
    ----------
    path : path
        A .json, .bif, .xmlbif, .net, .xdsl or .uai file (also with .gz).

    Returns
    -------
    DiscreteNetwork, GaussianNetwork or MixedNetwork

    Examples
    --------
    >>> read_network("graph.dot")
    Traceback (most recent call last):
    dagora.FormatError: graph.dot: DOT files hold no parameters; use .json or .bif
    """
    known = _network_format(path)
    text = read_text(path, decode=known.decode)
    with naming(path):
        content = known.parse(text)
        if not isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork):
            why = json_format.reason_without_parameters(text) if known.name == "JSON" else None
            stated = f" ({why})" if why else ""
            way = by_door(
                python="fit(graph, data) returns a network",
                command="`dagora learn DATA -o network.json` writes a network",
            )
            raise FormatError(f"holds a graph without parameters{stated}; fit them by giving data: {way}")
    return content


def write_network(network: Network | TimeNetwork, path: PathLike, *, originals: bool = True) -> None:
    """Write a graph with its parameters to a file, whole or not at all.

    Parameters
    ----------
    network : DiscreteNetwork, GaussianNetwork, MixedNetwork or TimeNetwork
        From `fit` or `read_network`. Of a network in time, its window is written.
    path : path
        A .json file; for a discrete network also .bif, .xmlbif, .net, .xdsl or .uai (each also with .gz).
    originals : bool, default True
        Files other than JSON get names and levels that other programs can read; keep the original ones in
        comments or properties, from which `read_network` restores them.

    Returns
    -------
    None

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from dagora.graph.dag import DAG
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("heads", "tails")}, {"coin": np.array([0.5, 0.5])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(coin, Path(folder, "coin.bif"))
    ...     read_network(Path(folder, "coin.bif")).levels["coin"]
    ('heads', 'tails')
    """
    known = _network_format(path)
    whole = require_network(getattr(network, "window", network))
    with naming(path):
        text = known.render_network(whole, originals) if known.render_network else ""
    write_whole(path, text)


def convert(source: PathLike, target: PathLike) -> list[str]:
    """Convert a file to another format; return a sentence for each thing that was lost.

    Parameters are kept where both formats hold them. Attributes that say nothing about the graph (colours,
    positions, comments) are not carried over.
    """
    writer, content = find_format(target), read_content(source)
    if not isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork):
        write_graph(content, target)
        return []
    if writer.render_network is not None:
        write_network(content, target)
        return left_out(content, target)
    write_graph(content.graph, target)
    lost = LOST[type(content)]
    return [
        f"{target}: the {lost} were left out: {writer.name} holds only the graph.",
        *describe_arrows(target, _open_edges(content)),
    ]


def left_out(network: Network, target: PathLike) -> list[str]:
    """A sentence for each thing besides the parameters that the format of a file cannot hold.

    >>> import numpy as np
    >>> from dagora.graph.dag import DAG
    >>> coin = DiscreteNetwork(DAG(["coin"]), {"coin": ("heads", "tails")}, {"coin": np.array([0.5, 0.5])})
    >>> left_out(coin, "coin.uai")
    ['coin.uai: names were left out: UAI numbers variables and levels (V0, V1, …; 0, 1, …).']
    """
    writer = find_format(target)
    notes = []
    if not writer.keeps_names:
        notes.append(
            f"{target}: names were left out: {writer.name} numbers variables and levels (V0, V1, …; 0, 1, …)."
        )
    if network.origin is not None and not writer.keeps_origin:
        notes.append(
            f"{target}: what the parameters rest on was left out (rows, intervals, open directions): "
            f"{writer.name} has no place for it."
        )
    return notes


def describe_arrows(path: PathLike, open_edges: Sequence[Edge]) -> list[str]:
    """A sentence about arrows in a file whose format cannot say that their direction is open.

    >>> describe_arrows("x.dot", [("a", "b")])
    ['x.dot: the data do not determine the direction of a — b, which has an arrow there']
    """
    if not open_edges:
        return []
    named = some_of([f"{tail} — {head}" for tail, head in open_edges], MOST_NAMED)
    have = "which has an arrow there" if len(open_edges) == 1 else "which have arrows there"
    return [f"{path}: the data do not determine the direction of {named}, {have}"]


def read_determined(source: PathLike) -> AnyGraph:
    """Read the graph of a file, with an arrow only where the file does not say that the direction is open."""
    content = read_content(source)
    if not isinstance(content, DiscreteNetwork | GaussianNetwork | MixedNetwork):
        return content
    return without_arrows(content.graph, _open_edges(content))


def read_content(source: PathLike) -> AnyGraph | Network:
    """Read a network where a file holds parameters, else a graph."""
    known = find_format(source)
    text = read_text(source, decode=known.decode)
    with naming(source):
        return known.parse(text)


def _open_edges(network: Network) -> tuple[Edge, ...]:
    directions = None if network.origin is None else network.origin.directions
    return () if directions is None else directions.undetermined


def _network_format(path: PathLike) -> Format:
    known = find_format(path)
    if known.render_network is None:
        raise FormatError(f"{path}: {known.name} files hold no parameters; use .json or .bif")
    return known
