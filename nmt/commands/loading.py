"""How a command reaches what does its work: by name, when it runs."""

from __future__ import annotations

import importlib
from typing import Any

from nmt.errors import ConfigError

OWN_PACKAGES = ("nmt", "training", "service")


def load(target: str, extra: str | None = None) -> Any:  # noqa: ANN401 - whatever the module holds
    """Import ``package.module:name`` now.

    Raises:
        ConfigError: a package of ``extra`` is not installed.
    """
    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if extra is None or missing.partition(".")[0] in OWN_PACKAGES:
            raise
        raise ConfigError(f"{missing} is not installed: run pip install 'passerelle[{extra}]'") from None
