"""XML that comes from outside, as a tree: without entities, and not nested deeper than any format needs.

Definitions of elements in a document type are skipped, because XMLBIF files bring their own. An entity is
refused where it is declared: a few of them, each made of others, unpack to more than memory holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.parsers import expat

from dagora.base.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

DEEPEST = 60


def parse_xml(text: str) -> Element:
    """The root element.

    >>> parse_xml("<a><b>text</b></a>").findtext("b")
    'text'
    >>> parse_xml('<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>')
    Traceback (most recent call last):
    dagora.FormatError: line 1: declares an entity, which is not read; write its text instead
    """
    from xml.etree.ElementTree import TreeBuilder

    tree = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FormatError(f"line {parser.CurrentLineNumber}: has elements nested deeper than {DEEPEST}")
        tree.start(tag.rpartition(":")[2], attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        tree.end(tag.rpartition(":")[2])

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = tree.data
    parser.EntityDeclHandler = refuse_entity(parser)
    try:
        parser.Parse(text, True)
        return tree.close()
    except expat.ExpatError as error:
        raise FormatError(f"line {error.lineno}: is not XML: {expat.ErrorString(error.code)}") from None
    except (AssertionError, ValueError, UnicodeEncodeError) as error:
        raise FormatError(f"is not XML: {' '.join(str(error).split())}") from None


def refuse_entity(parser: expat.XMLParserType) -> Callable[..., None]:
    """A handler of declarations of entities, which refuses them."""

    def refuse(*_: object) -> None:
        raise FormatError(
            f"line {parser.CurrentLineNumber}: declares an entity, which is not read; write its text instead"
        )

    return refuse


def xml_text(text: str) -> str:
    """Text as it stands between two tags."""
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """Text as a quoted attribute; tabs and line breaks are escaped, else they are read as spaces."""
    from xml.sax.saxutils import escape

    return '"' + escape(text, {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}) + '"'
