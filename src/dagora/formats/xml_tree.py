"""XML that comes from outside, as a tree: without entities, and not nested deeper than any format needs.

Definitions of elements in a document type are skipped, because XMLBIF files bring their own. An entity is
refused where it is declared: a few of them, each made of others, unpack to more than memory holds.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from dagora.base.errors import FormatError
from dagora.base.files import as_utf8

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

DEEPEST = 60
DECLARED = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
# Encodings of one byte a character. What says ASCII is read as UTF-8, of which ASCII is a part.
ONE_BYTE = re.compile("iso8859-|cp125|koi8|mac-")


def decode_xml(content: bytes) -> str:
    """The text of an XML file in UTF-8, UTF-16, or an encoding of one byte that its first line declares.

    >>> decode_xml('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1"))[-8:]
    '<a>é</a>'
    >>> decode_xml('<?xml version="1.0"?><a>é</a>'.encode("utf-16"))[-8:]
    '<a>é</a>'
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    if content.startswith((b"<\0", b"\0<")):  # without a mark: the first character tells the order of bytes
        return content.decode("utf-16-le" if content.startswith(b"<") else "utf-16-be")
    declared = DECLARED.match(content)
    if declared is None:
        return as_utf8(content)
    name = declared[1].decode()
    try:
        known = codecs.lookup(name).name
    except LookupError:
        raise FormatError(f"has the encoding '{name}', which is not known; save the file as UTF-8") from None
    return content.decode(known) if ONE_BYTE.match(known) else as_utf8(content)


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


def only_child(element: Element, tag: str) -> Element | None:
    """The one element of its kind inside another; None where there is none, and of two none is chosen.

    >>> only_child(parse_xml("<table><for>a</for><for>b</for></table>"), "for")
    Traceback (most recent call last):
    dagora.FormatError: a <table> has 2 <for>, 'a' and 'b': only one can be read
    """
    found = element.findall(tag)
    if len(found) > 1:
        one, other = (f"'{' '.join(''.join(each.itertext()).split())[:40]}'" for each in found[:2])
        raise FormatError(
            f"a <{element.tag}> has {len(found)} <{tag}>, {one} and {other}: only one can be read"
        )
    return found[0] if found else None


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
