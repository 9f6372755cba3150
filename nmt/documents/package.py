"""The zip of a document (Open Packaging Conventions; ODF 1.3 part 2; EPUB OCF) and the XML in it.

Members that are not rewritten are copied as they are, so that properties, pictures and styles cannot change.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import PurePosixPath

from lxml import etree

from nmt.documents.limits import DocumentLimits
from nmt.documents.xml import parse_xml
from nmt.errors import InputError

_LARGE_BYTES = 1_000_000
_ENCRYPTED = 0x1


class Package:
    """The members of an office document.

    Args:
        data: the file.
        limits: checked from the zip's directory, before anything is unpacked.

    Raises:
        InputError: it is no zip, a broken or an encrypted one, or a member's name leaves the archive.
        TextTooLongError: it is over a limit.
    """

    def __init__(self, data: bytes, limits: DocumentLimits) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
            raise InputError(
                "the document is not a zip, as docx, xlsx, odt, epub and the like are; save it again"
            ) from None
        members = self._zip.infolist()
        limits.check("max_members", len(members))
        limits.check("max_uncompressed_bytes", sum(member.file_size for member in members))
        for member in members:
            if member.file_size > _LARGE_BYTES:
                limits.check("max_ratio", member.file_size // max(1, member.compress_size))
            _check_member(member)
        self._members = {member.filename: member for member in members}
        if len(self._members) != len(members):
            raise InputError("the document's zip holds two members of one name; save it again")
        for name in self._members:
            self.read(name)  # one that is broken must not be found after everything was translated

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The unpacked member ``name``.

        Raises:
            InputError: there is none, or it is broken.
        """
        if name not in self._members:
            raise InputError(f"the document has no part {name}: it is of another kind than its name says")
        try:
            return self._zip.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
            raise InputError(f"the document's part {name[:100]} is broken; save it again") from None

    def read_xml(self, name: str) -> etree._Element:
        """The root of the XML member ``name``; the same errors, and those of ``parse_xml``."""
        return parse_xml(self.read(name), f"the document's part {name[:100]}")

    @property
    def names(self) -> Sequence[str]:
        """Of the members, in their order."""
        return list(self._members)

    def replace(self, changed: Mapping[str, etree._Element | bytes]) -> bytes:
        """A file with other content in the members ``changed``; all others, and their order, as they are."""
        result = BytesIO()
        with zipfile.ZipFile(result, "w") as target:
            for name, member in self._members.items():
                copied = zipfile.ZipInfo(name, member.date_time)
                copied.compress_type = member.compress_type
                copied.external_attr = member.external_attr
                copied.create_system = member.create_system
                new = changed.get(name)
                if new is None:
                    new = self.read(name)
                target.writestr(copied, new if isinstance(new, bytes) else _to_bytes(new))
        return result.getvalue()


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name or ":" in name:
        raise InputError("a member of the document's zip points out of the archive; the file is not trusted")
    if member.flag_bits & _ENCRYPTED:
        raise InputError("the document is encrypted; save it without a password")


def _to_bytes(root: etree._Element) -> bytes:
    return etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)
