"""Directions that are served: a model for each, each with an engine and a scheduler of its own.

When one engine dies or is busy, the other directions go on, but for those of the same model folder, which
share its process (``service.work.engine.shared``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmt.config import GenerationConfig, ModelFolderConfig
from nmt.errors import ConfigError, UnsupportedLanguageError
from nmt.options import TranslationOptions
from nmt.text.codes import nearest
from nmt.text.language import among
from service.http.metrics import Metrics
from service.settings import Settings
from service.work.engine.base import Engine
from service.work.scheduler import Scheduler
from service.work.source_language import AUTO


@dataclass(frozen=True)
class Direction:
    """One model, and the queue before it."""

    scheduler: Scheduler

    @property
    def engine(self) -> Engine:
        """Engine of the direction."""
        return self.scheduler.engine

    @property
    def model(self) -> ModelFolderConfig:
        """Name, languages and shape of the model."""
        return self.engine.config

    @property
    def generation(self) -> GenerationConfig:
        """How the model searches when a request does not say."""
        return self.engine.generation

    @property
    def source(self) -> str:
        """The language that it reads, as ISO 639-1 code."""
        return self.model.source_language

    @property
    def target(self) -> str:
        """The language that it writes."""
        return self.model.target_language


class Directions:
    """All directions, in the order in which their models were named; the first is the default.

    Args:
        engines: at least one, no two of the same languages.
        metrics: counts what each does.
        settings: the limits of each queue.

    Raises:
        ConfigError: two models translate between the same languages.
    """

    def __init__(self, engines: Sequence[Engine], metrics: Metrics, settings: Settings) -> None:
        refuse_equal([engine.config for engine in engines])
        self._all = tuple(
            Direction(
                Scheduler(
                    engine,
                    metrics,
                    queue_max_requests=settings.queue_max_requests,
                    queue_max_tokens=settings.queue_max_tokens,
                )
            )
            for engine in engines
        )

    def __iter__(self) -> Iterator[Direction]:
        return iter(self._all)

    @property
    def default(self) -> Direction:
        """Direction where a request leaves open from and to what."""
        return self._all[0]

    @property
    def languages(self) -> list[str]:
        """All languages, of the default direction first."""
        return list(dict.fromkeys(code for one in self._all for code in (one.source, one.target)))

    @property
    def sources(self) -> list[str]:
        """Languages that are read."""
        return list(dict.fromkeys(one.source for one in self._all))

    @property
    def targets(self) -> list[str]:
        """Languages that are written."""
        return list(dict.fromkeys(one.target for one in self._all))

    def writing(self, target: str) -> list[Direction]:
        """The directions to a language."""
        return [one for one in self._all if one.target == target]

    def of(self, options: TranslationOptions) -> Direction:
        """The direction of a request that was checked already, and so names both languages."""
        [found] = self.fitting(*options.languages)
        return found

    def fitting(self, source: str, target: str | None) -> list[Direction]:
        """Directions from ``source`` (``AUTO``: any) to ``target`` (None: any), at least one.

        A code of a region finds the language: "en-GB" is "en" where that is what there is.

        Raises:
            UnsupportedLanguageError: there is none; the message says what there is, not what was asked.
        """
        read = source if source == AUTO else nearest(source, self.sources)
        written = None if target is None else nearest(target, self.targets) or target
        found = [one for one in self._all if read in (AUTO, one.source) and written in (None, one.target)]
        if not found:
            pairs = " and ".join(f"from {one.source} to {one.target}" for one in self._all)
            raise UnsupportedLanguageError(
                f"this server translates {pairs} only; set source and target accordingly"
            )
        return found

    async def choose(self, source: str, target: str | None, texts: Sequence[str]) -> Direction:
        """The direction for texts; where their language decides, it is told from all of them together.

        Args:
            source: of the request, or ``AUTO``.
            target: of the request, if it has one.
            texts: to be translated.

        Raises:
            UnsupportedLanguageError: as ``fitting``.
        """
        found = self.fitting(source, target)
        if len(found) == 1 or source != AUTO:
            return found[0]
        return await asyncio.to_thread(_reading, found, "\n".join(texts))

    def is_ready(self, stuck_after_s: float) -> bool:
        """True if every model takes work."""
        return all(one.scheduler.is_ready(stuck_after_s) for one in self._all)

    def start(self) -> None:
        """Start every engine."""
        for one in self._all:
            one.scheduler.start()

    async def stop(self, timeout_s: float) -> None:
        """All at once take nothing more and finish what was admitted, in at most ``timeout_s``."""
        await asyncio.gather(*(asyncio.to_thread(one.scheduler.stop, timeout_s) for one in self._all))


def refuse_equal(models: Sequence[ModelFolderConfig]) -> None:
    """Raises ``ConfigError`` when two models translate between the same languages."""
    seen: dict[tuple[str, str], str] = {}
    for model in models:
        pair = model.source_language, model.target_language
        if pair in seen:
            raise ConfigError(
                f"the models {seen[pair]} and {model.name} both translate {pair[0]} to {pair[1]}; name one"
            )
        seen[pair] = model.name


def _reading(found: Sequence[Direction], text: str) -> Direction:
    """The first of several directions that reads the language of ``text``; else the first of all."""
    read = among(text, [one.source for one in found])
    return next((one for one in found if one.source == read), found[0])
