"""A Translator that says what it is told to, for tests of what stands around translation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt.alignment.aligner import Alignment
from nmt.alignment.pharaoh import Link
from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.errors import ConfigError
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.result import Alternative, SentenceTranslation, Span, Translation
from nmt.text.words import whitespace_words, words
from testbed.wishes import wishes_of


class StubTranslator:
    """Translates by ``rule``; word i is linked to word i. Remembers the texts and options of each call."""

    def __init__(
        self,
        rule: Callable[[str], str] = str.upper,
        *,
        name: str = "stub",
        attends: bool = True,
        truncates: Callable[[str], bool] = lambda text: False,
    ) -> None:
        model = TransformerConfig(vocab_size=8, d_model=8, n_heads=2)
        self.config = ModelFolderConfig(name=name, model=model, library_version="0.0.0")
        self.generation = GenerationConfig(beam_size=3)
        self.calls: list[tuple[list[str], GenerationConfig]] = []
        self.wishes: dict[str, object] = {}
        self.align_options: tuple[str, AlignmentConfig | None] | None = None
        self._rule, self._attends, self._truncates = rule, attends, truncates

    def translate(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
    ) -> list[Translation]:
        if options.alignment != "none" and not self._attends:
            raise ConfigError("the model has no attention")
        generation = options.generation or self.generation
        self.wishes = wishes_of(options)
        self.calls.append((list(texts), generation))
        return [self._translate(text, options.alignment, generation) for text in texts]

    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        extraction: str = "argmax",
        attention: AlignmentConfig | None = None,
    ) -> list[Alignment]:
        self.align_options = (extraction, attention)
        return [self._align(*pair) for pair in pairs]

    def _translate(self, text: str, alignment: str, options: GenerationConfig) -> Translation:
        target = self._rule(text)
        source_tokens, target_tokens = tuple(words(text)), tuple(words(target))
        n = min(len(source_tokens), len(target_tokens))
        rows = tuple(
            tuple(float(i == j) if n else 0.0 for j in range(len(source_tokens)))
            for i in range(len(target_tokens))
        )
        sentence = SentenceTranslation(
            source=Span(0, len(text)),
            target=Span(0, len(target)),
            score=-0.5,
            truncated=self._truncates(text),
            source_tokens=Span(0, len(source_tokens)),
            target_tokens=Span(0, len(target_tokens)),
            attention=rows if alignment == "soft" else None,
        )
        alternatives = [target, *(f"{target} ({rank})" for rank in range(2, options.n_best + 1))]
        return Translation(
            text=target,
            score=-0.5,
            sentences=(sentence,) if text.strip() else (),
            source_tokens=None if alignment == "none" else source_tokens,
            target_tokens=None if alignment == "none" else target_tokens,
            links=None if alignment == "none" else tuple(Link(i, i, 1.0) for i in range(n)),
            alternatives=tuple(
                Alternative(alternative, -0.5 - rank) for rank, alternative in enumerate(alternatives)
            )
            if options.n_best > 1
            else (),
            truncated=self._truncates(text),
            repaired=False,
            n_source_tokens=len(text.split()),
            n_target_tokens=len(target.split()),
        )

    @staticmethod
    def _align(source: str, target: str) -> Alignment:
        sources, targets = whitespace_words(source), whitespace_words(target)
        links = tuple(Link(i, i, 1.0) for i in range(min(len(sources), len(targets))))
        return Alignment(tuple(sources), tuple(targets), links, ())
