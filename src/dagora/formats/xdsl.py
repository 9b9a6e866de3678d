"""Discrete networks in XDSL, the format of GeNIe and SMILE (BayesFusion).

    <cpt id="wet"><state id="no"/><state id="yes"/><parents>rain</parents>
      <probabilities>0.9 0.1 0.2 0.8</probabilities></cpt>

The first parent runs slowest, the node itself fastest, as SMILE, GeNIe and pgmpy have it. pyAgrum (3.3) lets
the first parent run fastest of the parents, and says in a comment that it wrote the file: such a file is read
in its order. Deterministic nodes are read as tables of zeros and ones. Identifiers are ASCII letters, digits
and underscores; other names become such words, and a property of the node keeps the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.bif_originals import Originals, in_words, restored
from dagora.formats.bif_words import identifier_words
from dagora.formats.parsed_tables import ParsedTables, by_parents, table_text
from dagora.formats.xml_tree import only_child, parse_xml, xml_attribute, xml_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from dagora.network.networks import DiscreteNetwork

OTHER_NODES = {
    "noisymax": "noisy-MAX",
    "noisyadder": "noisy adder",
    "decision": "decision",
    "utility": "utility",
    "mau": "utility",
    "equation": "equation",
}
PREFIX = "original_"
OF_PYAGRUM = "<!-- This network was created by pyAgrum"


def parse(text: str) -> DiscreteNetwork:
    """Read a network.

    >>> parse('''<smile id="n"><nodes><cpt id="a"><state id="x"/><state id="y"/>
    ... <probabilities>0.25 0.75</probabilities></cpt></nodes></smile>''').levels
    {'a': ('x', 'y')}
    """
    root = parse_xml(text)
    nodes = only_child(root, "nodes")
    if root.tag != "smile" or nodes is None:
        raise FormatError(f"must be a <smile> with <nodes>, not <{root.tag}>")
    if root.find("dynamic") is not None:
        raise FormatError("is a dynamic network: only those without time can be read")
    parsed = ParsedTables(root.get("id", "unknown"))
    originals = Originals()
    originals.take(None, kept_texts(root), ())
    chance = in_order(list(chance_nodes(nodes)), root)
    for node in chance:
        name = node.get("id", "")
        if not name:
            raise FormatError(f"a <{node.tag}> has no id")
        parsed.add_variable(name, [state.get("id", "") for state in node.findall("state")])
        originals.take(name, kept_texts(node), parsed.levels[name])
    turned = OF_PYAGRUM in text[:1000]
    for node in chance:
        name, parents = node.get("id", ""), (text_of(node, "parents") or "").split()
        parents = parents[::-1] if turned else parents
        if node.tag == "deterministic":
            parsed.add_table(name, parents, sure_numbers(parsed, node))
        else:
            words = text_of(node, "probabilities")
            if words is None:
                raise FormatError(f"'{name}' has no <probabilities>")
            parsed.add_table(name, parents, words.split())
    return restored(parsed.network(), originals)


def text_of(node: Element, tag: str) -> str | None:
    """The text of an element of a node; None where there is none."""
    found = only_child(node, tag)
    return None if found is None else "".join(found.itertext())


def chance_nodes(nodes: Element) -> Iterator[Element]:
    """Nodes with tables; any other kind of node is refused by name."""
    for node in nodes:
        if node.tag in {"cpt", "deterministic"}:
            yield node
        elif node.get("id") is not None:
            kind = OTHER_NODES.get(node.tag, node.tag)
            raise FormatError(
                f"'{node.get('id')}' is a node of the kind {kind}: only <cpt> and <deterministic> can be read"
            )


def in_order(chance: list[Element], root: Element) -> list[Element]:
    """The nodes in the order that they had before they were written, parents first."""
    for text in kept_texts(root):
        name, _, content = text.partition(": ")
        if name == "original order":
            place = {word: k for k, word in enumerate(content.split())}
            return sorted(chance, key=lambda node: place.get(node.get("id", ""), len(place)))
    return chance


def sure_numbers(parsed: ParsedTables, node: Element) -> list[str]:
    """The table of a deterministic node, whose levels are listed by the configurations of its parents."""
    name = node.get("id", "")
    places = {level: place for place, level in enumerate(parsed.levels[name])}
    words: list[str] = []
    for result in (text_of(node, "resultingstates") or "").split():
        if result not in places:
            raise FormatError(f"'{name}' has no level named '{result}'")
        words += ["1" if place == places[result] else "0" for place in range(len(places))]
    return words


def kept_texts(element: Element) -> list[str]:
    """The properties of a node that keep originals, as lines of text."""
    return [
        f"{one.get('id', '').replace('_', ' ')}: {one.text or ''}"
        for one in element.findall("property")
        if one.get("id", "").startswith(PREFIX)
    ]


def render(network: DiscreteNetwork, *, originals: bool = True) -> str:
    """Write a network; with `originals`, properties keep names that had to be changed."""
    plain, found = in_words(network, identifier_words, identifier_words, identifier_words)
    kept = found if originals else Originals()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id="{plain.name}">']
    lines += properties(kept, None, "  ")
    if plain.graph.order != tuple(plain.graph):
        lines.append(f'  <property id="original_order">{" ".join(plain.graph)}</property>')
    lines.append("  <nodes>")
    for node in plain.graph.order:
        lines.append(f'    <cpt id="{node}">')
        lines += [f'      <state id="{level}" />' for level in plain.levels[node]]
        if parents := by_parents(plain)[node]:
            lines.append(f"      <parents>{' '.join(parents)}</parents>")
        lines.append(f"      <probabilities>{' '.join(table_text(plain.tables[node]))}</probabilities>")
        lines += [*properties(kept, node, "      "), "    </cpt>"]
    lines += ["  </nodes>", *shown_names(plain, kept), "</smile>"]
    return "\n".join(lines) + "\n"


def properties(originals: Originals, word: str | None, indent: str) -> list[str]:
    """The properties that keep the originals of a variable, or of the network (None)."""
    found = []
    for text in originals.texts(word):
        name, _, content = text.partition(": ")
        found.append(f'{indent}<property id="{name.replace(" ", "_")}">{xml_text(content)}</property>')
    return found


def shown_names(plain: DiscreteNetwork, originals: Originals) -> list[str]:
    """The part that GeNIe draws from: where nodes stand, and the names that it shows."""
    lines = ["  <extensions>", f'    <genie version="1.0" app="dagora" name={xml_attribute(plain.name)}>']
    for place, node in enumerate(plain.graph.order):
        left, top = 40 + 140 * (place % 8), 40 + 90 * (place // 8)
        name = " ".join(originals.names.get(node, node).split())
        shown = xml_text(name) if name.isprintable() else node
        lines += [
            f'      <node id="{node}">',
            f"        <name>{shown}</name>",
            '        <interior color="e5f6f7" />',
            '        <outline color="0000bb" />',
            '        <font color="000000" name="Arial" size="8" />',
            f"        <position>{left} {top} {left + 100} {top + 50}</position>",
            "      </node>",
        ]
    return [*lines, "    </genie>", "  </extensions>"]
