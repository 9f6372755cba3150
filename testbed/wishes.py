"""What a translator was asked for beyond languages, search and alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nmt.options import DEFAULTS, TranslationOptions
from nmt.spans import Span

OWN = ("source", "target", "alignment", "generation")


def wishes_of(options: TranslationOptions, keep: Sequence[Sequence[Span]] | None = None) -> dict[str, Any]:
    """The other options that are not as they are by default, and ``keep`` if it is given."""
    found = {
        name: value
        for name, value in dict(options).items()
        if name not in OWN and value != getattr(DEFAULTS, name)
    }
    return found if keep is None else {**found, "keep": keep}
