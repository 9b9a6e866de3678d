"""Discrete networks in XMLBIF 0.3, the XML form of BIF (F. Cozman, 1998), as JavaBayes and Weka write it.

    <VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    <DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE></DEFINITION>

Tags may be in any case. What we write keeps names as they are, unless XML or a reader's trimming of blanks
would change them; then a property keeps the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagora.base.errors import FormatError
from dagora.formats.bif_originals import Originals, in_words, restored
from dagora.formats.bif_words import trimmed_words
from dagora.formats.parsed_tables import ParsedTables, by_parents, table_text
from dagora.formats.xml_tree import only_child, parse_xml, xml_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from dagora.network.networks import DiscreteNetwork

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'


def parse(text: str) -> DiscreteNetwork:
    """Read a network.

    >>> parse('''<BIF><NETWORK><NAME>n</NAME>
    ... <VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
    ... <DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE></DEFINITION></NETWORK></BIF>''').tables["a"]
    array([0.25, 0.75])
    """
    root = parse_xml(text)
    for element in root.iter():
        element.tag = element.tag.upper()
    network = only_child(root, "NETWORK")
    if root.tag != "BIF" or network is None:
        raise FormatError(f"must be a <BIF> with a <NETWORK>, not <{root.tag.lower()}>")
    parsed = ParsedTables((network.findtext("NAME") or "unknown").strip())
    originals = Originals()
    for variable in network.findall("VARIABLE"):
        name = text_of(variable, "NAME")
        kind = variable.get("TYPE", "nature").lower()
        if kind != "nature":
            raise FormatError(f"'{name}' is a {kind} variable: only those of nature (chance) can be read")
        found = [*variable.findall("OUTCOME"), *variable.findall("VALUE")]
        parsed.add_variable(name, [(level.text or "").strip() for level in found])
        originals.take(name, [one.text or "" for one in variable.findall("PROPERTY")], parsed.levels[name])
    originals.take(None, [one.text or "" for one in network.findall("PROPERTY")], ())
    for definition in network.findall("DEFINITION"):
        child = text_of(definition, "FOR")
        parents = [(given.text or "").strip() for given in definition.findall("GIVEN")]
        parsed.add_table(child, parents, text_of(definition, "TABLE").split())
    return restored(parsed.network(), originals)


def text_of(element: Element, tag: str) -> str:
    """The text of an element inside another, without the blanks around it."""
    found = only_child(element, tag)
    if found is None:
        raise FormatError(f"a <{element.tag}> has no <{tag}>")
    return "".join(found.itertext()).strip()


def render(network: DiscreteNetwork, *, originals: bool = True) -> str:
    """Write a network; with `originals`, properties keep names that had to be changed."""
    plain, found = in_words(network, trimmed_words, trimmed_words, trimmed_words, second_levels=False)
    kept = found if originals else Originals()
    lines = [HEAD + f"<NAME>{xml_text(plain.name)}</NAME>"]
    lines += [f"<PROPERTY>{xml_text(line)}</PROPERTY>" for line in kept.texts(None)]
    for node in plain.graph:
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{xml_text(node)}</NAME>"]
        lines += [f"  <OUTCOME>{xml_text(level)}</OUTCOME>" for level in plain.levels[node]]
        lines += [f"  <PROPERTY>{xml_text(line)}</PROPERTY>" for line in kept.texts(node)]
        lines.append("</VARIABLE>")
    for node, parents in by_parents(plain).items():
        lines += ["<DEFINITION>", f"  <FOR>{xml_text(node)}</FOR>"]
        lines += [f"  <GIVEN>{xml_text(parent)}</GIVEN>" for parent in parents]
        rows = "\n    ".join(table_text(plain.tables[node]))
        lines += [f"  <TABLE>\n    {rows}\n  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
