"""The sub-words of a prepared corpus: one tokenizer for both sides, or those of an imported model.

An imported model may have a SentencePiece model for each side and an order of pieces of its own. The corpus
then holds, beside ``tokenizer.model``, the files that a model folder has for it: ``vocabulary.json``,
``source.model`` and ``config.json``, which names the pair of languages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nmt.config import ModelFolderConfig
from nmt.model_folder.registry import CONFIG, config_of
from nmt.model_folder.vocabulary import (
    SOURCE_TOKENIZER,
    TOKENIZER,
    VOCABULARY,
    between,
    load_tokenizers,
)
from nmt.tokenizer import Tokenizer


@dataclass(frozen=True)
class Tokenizers:
    """Of both sides; one and the same where they share it."""

    source: Tokenizer
    target: Tokenizer

    @classmethod
    def load(cls, folder: Path) -> Tokenizers:
        """Read a prepared corpus' or a model's folder.

        Raises:
            ModelFolderError: a file is missing, unreadable or at odds with another.
        """
        if not is_imported(folder):
            both = Tokenizer.load(folder / TOKENIZER)
            return cls(both, both)
        target, source = load_tokenizers(folder, config_of(folder))
        return cls(source or target, target)

    @property
    def sides(self) -> tuple[Tokenizer, Tokenizer]:
        """Source and target."""
        return self.source, self.target

    @property
    def vocab_size(self) -> int:
        """Of the larger side: each id of the corpus is below."""
        return max(tokenizer.vocab_size for tokenizer in self.sides)


def is_imported(folder: Path) -> bool:
    """Whether pieces have an order of their own there."""
    return (folder / VOCABULARY).exists()


def config_in(folder: Path) -> ModelFolderConfig | None:
    """The configuration of the imported model whose sub-words a corpus has; None: it has others."""
    return config_of(folder) if is_imported(folder) else None


def subword_files(tokenizer_file: Path, languages: tuple[str, str]) -> dict[str, bytes]:
    """What a prepared corpus keeps of a ready model's sub-words: names and contents.

    Args:
        tokenizer_file: ``tokenizer.model``, with what an imported model has beside it.
        languages: of source and target; of a model of several the pair that is meant.

    Raises:
        UnsupportedLanguageError: an imported model does not translate between them.
    """
    folder = tokenizer_file.parent
    files = {TOKENIZER: tokenizer_file.read_bytes()}
    if not is_imported(folder):
        return files
    config = config_of(folder)
    target, _ = load_tokenizers(folder, config)
    chosen = between(config, *languages, target)
    files |= {
        name: (folder / name).read_bytes()
        for name in (VOCABULARY, SOURCE_TOKENIZER)
        if (folder / name).exists()
    }
    return files | {CONFIG: chosen.model_dump_json(indent=2).encode() + b"\n"}


def checksum(files: Mapping[str, bytes]) -> str:
    """SHA-256 of what decides the ids: of ``tokenizer.model`` alone where there is nothing else."""
    parts = [files[name] for name in (TOKENIZER, SOURCE_TOKENIZER, VOCABULARY) if name in files]
    if len(parts) > 1:
        parts = [hashlib.sha256(part).digest() for part in parts]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def checksum_in(folder: Path) -> str:
    """``checksum`` of what a folder has."""
    names = (TOKENIZER, SOURCE_TOKENIZER, VOCABULARY)
    return checksum({name: (folder / name).read_bytes() for name in names if (folder / name).exists()})
