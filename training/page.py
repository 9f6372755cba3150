"""Templates of the pages that training writes: escaped, and an unknown name in one is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates() -> Environment:
    """Those in ``training/templates``."""
    return Environment(
        loader=PackageLoader("training"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
