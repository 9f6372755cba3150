"""How large a document may be. Checked before anything is unpacked: no small file becomes a large one.

A zip is judged by its directory (``nmt.documents.package``) and read no further than that directory promises.
"""

from __future__ import annotations

from dataclasses import dataclass

from nmt.errors import TextTooLongError


@dataclass(frozen=True)
class DocumentLimits:
    """Limits of one document; a message names the one that was reached."""

    max_bytes: int = 20_000_000
    """Of the file as it comes."""
    max_members: int = 5_000
    """Of a zip (docx, odt, epub)."""
    max_uncompressed_bytes: int = 200_000_000
    """Of all members of a zip together."""
    max_ratio: int = 250
    """Uncompressed to compressed bytes of a zip member over a million bytes; real ones stay under 100."""
    max_characters: int = 2_000_000
    """Of all texts to translate together."""

    def check(self, name: str, value: int) -> None:
        """Compare ``value`` with the limit ``name``.

        Raises:
            TextTooLongError: it is over the limit.
        """
        limit: int = getattr(self, name)
        if value > limit:
            raise TextTooLongError(
                f"the document has {_WHAT[name]} of {value:,}, over {name} = {limit:,}: {_NEXT_STEP[name]}"
            )


_WHAT = {
    "max_bytes": "a size in bytes",
    "max_members": "a number of archive members",
    "max_uncompressed_bytes": "an unpacked size in bytes",
    "max_ratio": "a compression ratio",
    "max_characters": "a number of characters to translate",
}
_NEXT_STEP = {
    "max_bytes": "split it, or take out large pictures",
    "max_members": "split it, or save it again with the program that made it",
    "max_uncompressed_bytes": "split it, or take out large pictures",
    "max_ratio": "it looks like a decompression bomb; save it again with the program that made it",
    "max_characters": "split it",
}
