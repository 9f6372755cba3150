"""The tokenizers of a model folder: one for both sides, or one for each; and which languages they name.

An imported model may have pieces in an order of its own (``vocabulary.json``), another SentencePiece model
for the source (``source.model``), and pieces that say which languages are meant (``language_pieces`` of its
configuration).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from nmt.config import ModelFolderConfig, SpecialIds, StrictModel, TransformerConfig
from nmt.errors import ModelFolderError, UnsupportedLanguageError
from nmt.text.codes import nearest
from nmt.tokenizer import Tokenizer, Vocabulary

TOKENIZER, SOURCE_TOKENIZER, VOCABULARY = "tokenizer.model", "source.model", "vocabulary.json"


class StoredVocabulary(StrictModel):
    """``vocabulary.json``: pieces in the order of their ids."""

    target: tuple[str, ...]
    source: tuple[str, ...] | None = None
    """None: those of the target."""
    control: tuple[str, ...] = ()
    """Pieces that stand for no text, beside those of ``special_ids``."""


def load_tokenizers(folder: Path, config: ModelFolderConfig) -> tuple[Tokenizer, Tokenizer | None]:
    """The tokenizer of the target, and that of the source where it is another.

    Raises:
        ModelFolderError: a file is missing, unreadable, or of another model than the configuration.
    """
    if not (folder / VOCABULARY).exists():
        tokenizer = Tokenizer.load(folder / TOKENIZER)
        _check(folder / TOKENIZER, tokenizer, config)
        return tokenizer, None
    stored = _read(folder / VOCABULARY)
    control = frozenset(stored.control)
    special = config.special_ids
    n_source = config.model.vocab_size
    if isinstance(config.model, TransformerConfig):
        n_source = config.model.source_vocab_size or n_source
    found = len(stored.source or stored.target), len(stored.target)
    if found != (n_source, config.model.vocab_size) or max(special.pad, special.bos) >= found[1]:
        raise ModelFolderError(
            f"{folder / VOCABULARY}: {found[0]} and {found[1]} pieces, but config.json says {n_source} and "
            f"{config.model.vocab_size}; the two files are of different models"
        )
    tokenizer = Tokenizer.load(folder / TOKENIZER, Vocabulary(stored.target, special, control))
    of_source = folder / (SOURCE_TOKENIZER if (folder / SOURCE_TOKENIZER).exists() else TOKENIZER)
    vocabulary = Vocabulary(stored.source or stored.target, _of_source(config.special_ids), control)
    prefix = source_prefix(config, vocabulary, config.source_language, config.target_language)
    return tokenizer, Tokenizer.load(of_source, vocabulary, prefix)


def stored_vocabulary(folder: Path) -> StoredVocabulary | None:
    """The order of pieces of an imported model; None: that of the SentencePiece model."""
    return _read(folder / VOCABULARY) if (folder / VOCABULARY).exists() else None


def pairs_of(config: ModelFolderConfig) -> list[tuple[str, str]]:
    """The language pairs of a model, its own first."""
    own = config.source_language, config.target_language
    named = config.language_pieces
    if named is None:
        return [own]
    others = [
        (source, target)
        for source in named.source
        for target in named.target
        if source != target and (source, target) != own
    ]
    return [own, *others]


def pair_among(
    pairs: Sequence[tuple[str, str]], source: str | None, target: str | None
) -> tuple[str, str] | None:
    """The pair that is meant; None of either: any, the first pair's where it has it. None: there is none."""
    read = source and nearest(source, {pair[0] for pair in pairs})
    written = target and nearest(target, {pair[1] for pair in pairs})
    if (source and read is None) or (target and written is None):
        return None
    fitting = [pair for pair in pairs if pair[0] == (read or pair[0]) and pair[1] == (written or pair[1])]
    preferred = [pair for pair in fitting if pair[0] == pairs[0][0] or pair[1] == pairs[0][1]]
    return next(iter(preferred or fitting), None)


def between(
    config: ModelFolderConfig, source: str | None, target: str | None, tokenizer: Tokenizer
) -> ModelFolderConfig:
    """The configuration for a pair of a model's languages; None: as it is.

    Raises:
        UnsupportedLanguageError: the model does not translate between them.
    """
    own = config.source_language, config.target_language
    asked = pair_among(pairs_of(config), source, target)
    if asked == own:
        return config
    named = config.language_pieces
    if named is None or asked is None:
        wanted = f"{(source or own[0])[:20]!r} to {(target or own[1])[:20]!r}"
        raise UnsupportedLanguageError(
            f"the model {config.name} translates {own[0]} to {own[1]}"
            + (f" and {len(pairs_of(config)) - 1} other pairs" if named else "")
            + f", not {wanted}"
        )
    special = config.special_ids
    if named.target_is_bos:
        id_ = tokenizer.piece_id(named.target[asked[1]])
        assert id_ is not None, "checked when the folder was loaded"
        special = special.model_copy(update={"bos": id_})
    update = {"source_language": asked[0], "target_language": asked[1], "special_ids": special}
    return config.model_copy(update=update)


def source_prefix(
    config: ModelFolderConfig, vocabulary: Vocabulary, source: str, target: str
) -> tuple[int, ...]:
    """Ids that stand before each source sentence: the pieces of the languages, where the model has any.

    Raises:
        UnsupportedLanguageError: the model does not read or write such a language.
    """
    named = config.language_pieces
    if named is None:
        return ()
    for language, known, verb in ((source, named.source, "read"), (target, named.target, "write")):
        if language not in known:
            raise UnsupportedLanguageError(
                f"the model {config.name} does not {verb} {language[:20]!r}; it {verb}s {', '.join(known)}"
            )
    pieces = [named.source[source]] + ([] if named.target_is_bos else [named.target[target]])
    return tuple(vocabulary.pieces.index(piece) for piece in pieces if piece)


def _check(path: Path, tokenizer: Tokenizer, config: ModelFolderConfig) -> None:
    if tokenizer.vocab_size != config.model.vocab_size or tokenizer.special != config.special_ids:
        raise ModelFolderError(
            f"{path}: {tokenizer.vocab_size} pieces and {tokenizer.special}, but config.json says "
            f"{config.model.vocab_size} and {config.special_ids}; the two files are of different models"
        )


def _of_source(special: SpecialIds) -> SpecialIds:
    """The ids of a source that has a vocabulary of its own: its BOS is never read."""
    if special.source_pad is None:
        return special
    return SpecialIds(pad=special.source_pad, unk=special.unk, bos=special.source_pad, eos=special.eos)


def _read(path: Path) -> StoredVocabulary:
    try:
        return StoredVocabulary.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError, ValidationError) as error:
        raise ModelFolderError(f"{path}: no vocabulary: {str(error)[:200]}") from None
