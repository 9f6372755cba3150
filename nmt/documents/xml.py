"""XML of a stranger: no entity is expanded, no external thing is fetched, no depth exhausts the stack.

defusedxml reads it first and refuses declarations of entities; lxml then builds the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler

from defusedxml import DefusedXmlException
from defusedxml.sax import parseString
from lxml import etree

from nmt.errors import InputError

_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[>]*>")


@dataclass(frozen=True)
class XmlFile:
    """An XML file as a tree and as text, for changes of the text where the tree says."""

    root: etree._Element
    text: str
    encoding: str

    def encode(self, text: str) -> bytes:
        """``text`` in the encoding that the file declares."""
        return text.encode(self.encoding, "xmlcharrefreplace")


def read_xml(data: bytes) -> XmlFile:
    """A file whose document type, if it has one, declares no entity; errors as of ``parse_xml``."""
    root = parse_xml(data, doctype=True)
    encoding = root.getroottree().docinfo.encoding or "UTF-8"
    try:
        return XmlFile(root, data.decode(encoding), encoding)
    except (LookupError, UnicodeDecodeError):
        raise InputError(f"the document is not {encoding[:20]}, as it says; save it as UTF-8") from None


def parse_xml(data: bytes, what: str = "the document", *, doctype: bool = False) -> etree._Element:
    """The root element of ``data``.

    Args:
        data: XML with its declaration; that says the encoding.
        what: what error messages begin with.
        doctype: let a document type declaration pass, as long as it declares no entity.

    Raises:
        InputError: it is no well-formed XML, declares entities or is nested more than 256 deep.
    """
    if doctype:  # the file that it names is not wanted, and none of its entities
        data = _DOCTYPE.sub(lambda found: b" " * len(found.group()), data, count=1)
    try:
        parseString(data, ContentHandler(), forbid_dtd=not doctype)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        return etree.fromstring(data, parser)
    except DefusedXmlException:
        raise InputError(f"{what} declares XML entities or a document type; remove them") from None
    except SAXParseException as error:
        where = f"line {error.getLineNumber()}, column {error.getColumnNumber()}"
        raise InputError(f"{what} is not well-formed XML at {where}; correct it") from None
    except (etree.XMLSyntaxError, LookupError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        where = f" at line {line}" if line else ""
        raise InputError(f"{what} cannot be read as XML{where}: malformed or nested too deeply") from None
