"""Interface of a translator in the service; ``nmt.translator.Translator`` is one, the tests' double too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from nmt.config import GenerationConfig, ModelFolderConfig
from nmt.options import DEFAULTS, TranslationOptions
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.translator import Translation


class TextTranslator(Protocol):
    """Translates texts; called from one thread only."""

    @property
    def config(self) -> ModelFolderConfig:
        """Name and languages of the model."""
        ...

    @property
    def generation(self) -> GenerationConfig:
        """How the model searches when a request does not say."""
        ...

    @property
    def has_formality(self) -> bool:
        """Whether the model can choose how people are addressed."""
        ...

    def translate(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
    ) -> list[Translation]:
        """One translation for each text, in order; a text's translation does not depend on its neighbours."""
        ...
