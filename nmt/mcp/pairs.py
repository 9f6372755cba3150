"""Models by the languages that they translate between; a model is loaded when it is first asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import ConfigError, UnsupportedLanguageError
from nmt.model_folder.registry import languages_of, resolve_model, shipped_models, split_pair
from nmt.text.codes import nearest
from nmt.text.language import among
from nmt.translator import Translator

Pair = tuple[str, str]
"""Source and target, as codes of the models."""


@dataclass(frozen=True)
class _Named:
    folder: Path
    source: str
    target: str


class Pairs:
    """All pairs of languages, in the order in which their models were named; the first is the default.

    Args:
        models: folders, or names of models that ship, such as ``nllb@de:pt``; none: all that ship.
        device: as of ``Translator.load``.
        engine: the same.

    Raises:
        ModelFolderError: there is no such model.
        ConfigError: two models translate between the same languages.
    """

    def __init__(self, models: Sequence[str] = (), *, device: str = "auto", engine: str = "auto") -> None:
        self._device, self._engine = device, engine
        self._named: dict[Pair, _Named] = {}
        for one in models or shipped_models() or [""]:
            name, source, target = split_pair(one)
            folder = resolve_model(name or None, source=source, target=target)
            pair = languages_of(folder, source, target)
            if pair in self._named:
                raise ConfigError(f"two models translate {pair[0]} to {pair[1]}; name one")
            self._named[pair] = _Named(folder, *pair)
        self._loaded: dict[Pair, Translator] = {}
        self.lock = threading.Lock()
        """To be held while a translator works: one thread at a time may call it."""

    @property
    def all(self) -> list[Pair]:
        """The default first."""
        return list(self._named)

    def choose(self, source: str | None, target: str | None, texts: Sequence[str]) -> Pair:
        """The pair for texts; what is left out is told by their language, or else the default.

        Raises:
            UnsupportedLanguageError: nothing translates so.
        """
        read = None if source is None else nearest(source, [pair[0] for pair in self.all])
        written = None if target is None else nearest(target, [pair[1] for pair in self.all])
        found = [
            pair
            for pair in self.all
            if (source is None or pair[0] == read) and (target is None or pair[1] == written)
        ]
        if not found:
            there = " and ".join(f"{pair[0]} to {pair[1]}" for pair in self.all)
            raise UnsupportedLanguageError(f"source and target: there are models from {there} only")
        told = among("\n".join(texts), [pair[0] for pair in found]) if len(found) > 1 else None
        return next((pair for pair in found if pair[0] == told), found[0])

    def translator(self, pair: Pair) -> Translator:
        """Translator between the languages of a pair; hold ``lock`` while it works."""
        if pair not in self._loaded:
            named = self._named[pair]
            self._loaded[pair] = Translator.load(
                named.folder,
                source=named.source,
                target=named.target,
                device=self._device,
                engine=self._engine,
            )
        return self._loaded[pair]
