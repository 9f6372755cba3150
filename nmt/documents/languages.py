"""The languages of a document: what it says it is in, and what it says afterwards."""

from __future__ import annotations

from dataclasses import dataclass

_REGIONS = {"en": "US"}


@dataclass(frozen=True)
class Languages:
    """ISO 639-1 codes."""

    source: str
    target: str

    @property
    def region(self) -> str:
        """Of the target, where a format cannot do without: ISO 3166 code."""
        return _REGIONS.get(self.target, self.target.upper())
