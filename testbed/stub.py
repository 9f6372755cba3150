"""A deterministic translator without a model: writes each line's words backwards, in backward order.

The translation can be undone, so that a test sees whether anything was lost. The alignment is the
anti-diagonal.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from nmt.alignment.attention_maps import BEGIN, END, HeadMaps, Heads
from nmt.alignment.pharaoh import Link
from nmt.config import GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.result import Alternative, SentenceTranslation, Translation
from nmt.spans import Span
from nmt.text.words import Token
from testbed.wishes import wishes_of

AlignmentKind = Literal["none", "links", "soft", "heads"]

SHARE = 0.8  # of a target word's attention on its partner


class StubTranslator:
    """Records the texts of each call; can be slow, wait at a gate, or fail."""

    def __init__(
        self, *, delay_s: float = 0.0, failure: Callable[[str], Exception | None] | None = None
    ) -> None:
        self.config = ModelFolderConfig(
            name="stub", model=TransformerConfig(vocab_size=100), library_version="0.0.0"
        )
        self.generation = GenerationConfig()
        self.has_formality = False
        self.delay_s = delay_s
        self.failure = failure
        self.calls: list[list[str]] = []
        self.options: list[GenerationConfig] = []
        self.wishes: list[dict[str, Any]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()

    def translate(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
    ) -> list[Translation]:
        generation = options.generation or self.generation
        self.wishes.append(wishes_of(options, keep))
        self.calls.append(list(texts))
        self.options.append(generation)
        self.threads.add(threading.current_thread().name)
        self.entered.set()
        assert self.gate.wait(30)
        time.sleep(self.delay_s)
        for text in texts:
            if self.failure and (error := self.failure(text)):
                raise error
        return [_translate(text, options.alignment, generation.n_best) for text in texts]


def backwards(text: str) -> str:
    """The stub's translation of ``text``; of that again, ``text``."""
    return _translate(text, "none", 1).text


def _translate(text: str, alignment: AlignmentKind, n_best: int) -> Translation:
    sentences: list[SentenceTranslation] = []
    source_tokens: list[Token] = []
    target_tokens: list[Token] = []
    links: list[Link] = []
    written: list[str] = []
    for line in re.split(r"(\n)", text):
        read = sum(len(part) for part in written)  # a line keeps its length
        written.append(line[::-1])
        words = [Token(m.group(), read + m.start(), read + m.end()) for m in re.finditer(r"\S+", line)]
        if not words:
            continue
        turned = [Token(m.group(), read + m.start(), read + m.end()) for m in re.finditer(r"\S+", line[::-1])]
        first, n = len(source_tokens), len(words)
        if alignment != "none":
            source_tokens += words
            target_tokens += turned
            links += [Link(first + n - 1 - i, first + i, SHARE if n > 1 else 1.0) for i in range(n)]
        tokens = Span(first, len(source_tokens))
        start, end = words[0].start, words[-1].end
        sentences.append(
            SentenceTranslation(
                source=Span(start, end),
                target=Span(turned[0].start, turned[-1].end),
                score=-0.5,
                truncated=False,
                source_tokens=tokens,
                target_tokens=tokens,
                attention=_anti_diagonal(n) if alignment in ("soft", "heads") else None,
                heads=_heads(words, turned) if alignment == "heads" else None,
                alternatives=_alternatives(line[::-1].strip(), n_best),
            )
        )
    result = "".join(written)
    return Translation(
        text=result,
        score=-0.5 if sentences else 0.0,
        sentences=tuple(sentences),
        source_tokens=tuple(source_tokens) if alignment != "none" else None,
        target_tokens=tuple(target_tokens) if alignment != "none" else None,
        links=tuple(links) if alignment != "none" else None,
        alternatives=_alternatives(result, n_best),
        truncated=False,
        repaired=False,
        n_source_tokens=len(text.split()),
        n_target_tokens=len(text.split()),
    )


def _alternatives(text: str, n_best: int) -> tuple[Alternative, ...]:
    n = n_best if n_best > 1 else 0
    return tuple(Alternative(text + " ?" * rank, -0.5 - rank) for rank in range(n))


def _anti_diagonal(n: int) -> tuple[tuple[float, ...], ...]:
    if n == 1:
        return ((1.0,),)
    rest = (1 - SHARE) / (n - 1)
    return tuple(tuple(SHARE if j == n - 1 - i else rest for j in range(n)) for i in range(n))


def _heads(words: Sequence[Token], turned: Sequence[Token]) -> HeadMaps:
    """Words are the pieces. Head h of layer l looks at column l + h, as far as there is one."""
    source, written = [word.text for word in words], [word.text for word in turned]

    def looking(n_rows: int, n_columns: int) -> Heads:
        return tuple(
            tuple(
                tuple(
                    tuple(float(j == min(layer + head, n_columns - 1)) for j in range(n_columns))
                    for _ in range(n_rows)
                )
                for head in range(4)
            )
            for layer in range(4)
        )

    n_source, n_target = len(source) + 1, len(written) + 1
    return HeadMaps(
        source=(*source, END),
        read=(BEGIN, *written),
        written=(*written, END),
        encoder=looking(n_source, n_source),
        decoder=looking(n_target, n_target),
        cross=looking(n_target, n_source),
    )
