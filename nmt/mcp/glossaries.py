"""Glossaries of files, by name, each for one pair of languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import ConfigError, InputError
from nmt.mcp.pairs import Pair, Pairs
from nmt.text.glossary import Glossary

_PAIR = re.compile(r"(?P<name>.+)\.(?P<source>[A-Za-z]{2,3})-(?P<target>[A-Za-z]{2,3})")


@dataclass(frozen=True)
class Named:
    """A glossary and the languages that it is for."""

    pair: Pair
    glossary: Glossary


class Glossaries:
    """Files read by ``Glossary.read``. ``terms.tsv`` is called "terms", and is for the default pair.

    ``terms.fr-en.tsv`` is called "terms.fr-en", and is for French to English.

    Raises:
        InputError: a file cannot be read.
        ConfigError: two have the same name, or there is no model between the languages of one.
    """

    def __init__(self, files: Sequence[Path], pairs: Pairs) -> None:
        self._named: dict[str, Named] = {}
        for file in files:
            if file.stem in self._named:
                raise ConfigError(f"--glossary {file}: there are two of the name {file.stem}; rename one")
            found = _PAIR.fullmatch(file.stem)
            pair = (found["source"].lower(), found["target"].lower()) if found else pairs.all[0]
            if pair not in pairs.all:
                raise ConfigError(f"--glossary {file}: there is no model from {pair[0]} to {pair[1]}")
            self._named[file.stem] = Named(pair, Glossary.read(file, source=pair[0], target=pair[1]))

    def __iter__(self) -> Iterator[tuple[str, Named]]:
        return iter(self._named.items())

    def get(self, name: str) -> Named:
        """One of them.

        Raises:
            InputError: there is none of this name.
        """
        if name not in self._named:
            there = ", ".join(self._named) or "none: start the server with --glossary FILE"
            raise InputError(f"glossary: there is none of this name; there are {there}")
        return self._named[name]
