"""The tokenizer's files of a Hugging Face checkpoint: SentencePiece models, order of pieces, languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.config import LanguagePieces
from nmt.errors import ModelFolderError
from nmt.importers.languages import chosen, language_code
from nmt.importers.settings import read_json
from nmt.model_folder.vocabulary import StoredVocabulary
from nmt.tokenizer import pieces_of

NLLB = "NllbTokenizer"
MADE_UP = "madeupword"
"""Pieces that fill a vocabulary up to the size of the embedding."""
_TO_LANGUAGE = re.compile(r">>([^<>]+)<<")


@dataclass(frozen=True)
class TokenizerFiles:
    """Of both sides of a checkpoint."""

    file: Path
    """SentencePiece model of the target."""
    source_file: Path | None
    pieces: tuple[str, ...]
    source_pieces: tuple[str, ...] | None
    """None: those of the target."""
    unk: int
    bos: int
    """Of the first pair, where a language begins the target; else of no meaning."""
    source_pad: int | None
    languages: tuple[str, str]
    language_pieces: LanguagePieces | None
    control: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def n_source(self) -> int | None:
        """Pieces of a source vocabulary of its own."""
        return None if self.source_pieces is None else len(self.source_pieces)

    def padded(self, vocab_size: int) -> StoredVocabulary:
        """As a model folder stores it, filled up to the rows of the embedding.

        Raises:
            ModelFolderError: there are more pieces than rows.
        """
        if len(self.pieces) > vocab_size:
            raise ModelFolderError(
                f"{len(self.pieces)} pieces, but config.json says vocab_size {vocab_size}; the files are of "
                "different models"
            )
        fill = tuple(f"{MADE_UP}{index}" for index in range(vocab_size - len(self.pieces)))
        return StoredVocabulary(
            target=(*self.pieces, *fill), source=self.source_pieces, control=(*self.control, *fill)
        )


def marian_tokenizer(
    folder: Path, config: Mapping[str, Any], source: str | None, target: str | None
) -> TokenizerFiles:
    """``source.spm``, ``target.spm``, ``vocab.json`` and, where the sides differ, ``target_vocab.json``."""
    files = [_present(folder / name) for name in ("target.spm", "source.spm")]
    settings = read_json(folder / "tokenizer_config.json") if _has(folder, "tokenizer_config.json") else {}
    joint = by_id(folder / "vocab.json", read_json(_present(folder / "vocab.json")))
    is_separate = bool(settings.get("separate_vocabs")) or not config.get(
        "share_encoder_decoder_embeddings", True
    )
    of_target, of_source = joint, None
    if is_separate:
        path = _present(folder / "target_vocab.json")
        of_target, of_source = by_id(path, read_json(path)), joint
        if config.get("vocab_size") != len(joint):
            raise ModelFolderError(
                f"{folder / 'vocab.json'}: {len(joint)} pieces, but config.json says "
                f"{config.get('vocab_size')}"
            )
        for piece in ("</s>", "<unk>"):
            if of_target.index(piece) != joint.index(piece):
                raise ModelFolderError(
                    f"{path}: {piece} has another id than in vocab.json, which is not supported"
                )
    languages, named = marian_languages(folder, settings, of_source or of_target, source, target)
    return TokenizerFiles(
        files[0],
        files[1],
        of_target,
        of_source,
        unk=of_target.index("<unk>"),
        bos=0,
        source_pad=None if of_source is None else of_source.index("<pad>"),
        languages=languages,
        language_pieces=named,
        control=() if named is None else tuple(named.target.values()),
    )


def marian_languages(
    folder: Path,
    settings: Mapping[str, Any],
    pieces: Sequence[str],
    source: str | None,
    target: str | None,
) -> tuple[tuple[str, str], LanguagePieces | None]:
    """A model of several targets has a piece for each, ``>>fra<<``, that stands before the source."""
    where = str(folder)
    read = chosen(where, source, settings.get("source_lang"), "--from")
    found = {match[1]: match[0] for match in map(_TO_LANGUAGE.fullmatch, pieces) if match}
    by_code: dict[str, str] = {}
    for code, piece in found.items():
        if (known := language_code(code)) is not None:
            by_code.setdefault(known, piece)
    said = settings.get("target_lang")
    if not by_code:
        return (read, chosen(where, target, said, "--to")), None
    if language_code(str(said)) not in by_code:
        said = next(iter(by_code))
    written = chosen(where, target, said, "--to")
    if written not in by_code:
        raise ModelFolderError(f"{where}: the model writes {', '.join(by_code)}, not {written}")
    return (read, written), LanguagePieces(source={read: ""}, target=by_code, target_is_bos=False)


def multilingual_tokenizer(folder: Path, source: str | None, target: str | None) -> TokenizerFiles:
    """``sentencepiece.bpe.model`` and, of M2M-100, ``vocab.json``; pieces of languages come after others.

    NLLB keeps fairseq's order: <s>, <pad>, </s>, <unk>, then SentencePiece's own after its three marks.
    """
    model = _present(folder / "sentencepiece.bpe.model")
    settings = read_json(_present(folder / "tokenizer_config.json"))
    named = _language_pieces(folder, settings)
    if settings.get("legacy_behaviour"):
        raise ModelFolderError(
            f"{folder / 'tokenizer_config.json'}: legacy_behaviour puts the language after the source, which "
            "is not supported; if the model was trained with the language first, as NLLB-200 was, set it to "
            "false there"
        )
    if settings.get("tokenizer_class", "").startswith(NLLB):
        theirs = pieces_of(model)
        plain: tuple[str, ...] = ("<s>", "<pad>", "</s>", "<unk>", *theirs[3:])
        after: tuple[str, ...] = ("<mask>",)
    else:
        plain, after = by_id(folder / "vocab.json", read_json(_present(folder / "vocab.json"))), ()
    pieces = (*plain, *named, *after)
    by_code: dict[str, str] = {}
    for piece in named:
        code = language_code(piece.strip("_") if piece.startswith("__") else piece)
        by_code.setdefault(code or piece.strip("_"), piece)
    languages = tuple(
        chosen(str(folder), asked, said, option)
        for asked, said, option in (
            (source, settings.get("src_lang") or "en", "--from"),
            (target, settings.get("tgt_lang") or "fr", "--to"),
        )
    )
    for language in languages:
        if language not in by_code:
            raise ModelFolderError(
                f"{folder}: the model has no language {language}; it has {', '.join(by_code)}"
            )
    return TokenizerFiles(
        model,
        None,
        pieces,
        None,
        unk=plain.index("<unk>"),
        bos=pieces.index(by_code[languages[1]]),
        source_pad=None,
        languages=(languages[0], languages[1]),
        language_pieces=LanguagePieces(source=by_code, target=by_code, target_is_bos=True),
        control=(*named, *after, *(piece for piece in ("<s>", "<pad>", "</s>") if piece in plain)),
    )


def _language_pieces(folder: Path, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of languages, in the order of their ids."""
    listed: list[Any] = []
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        values = settings if name.startswith("tokenizer") else {}
        if name.startswith("special") and _has(folder, name):
            values = read_json(folder / name)
        for key in ("additional_special_tokens", "extra_special_tokens"):
            if isinstance(values.get(key), list):
                listed = listed or values[key]
    pieces = tuple(one["content"] if isinstance(one, dict) else str(one) for one in listed)
    pieces = tuple(piece for piece in pieces if piece != "<mask>")
    if not pieces:
        raise ModelFolderError(
            f"{folder}: neither special_tokens_map.json nor tokenizer_config.json lists the pieces of "
            "languages (additional_special_tokens)"
        )
    return pieces


def by_id(path: Path, ids: Mapping[str, Any], needed: Sequence[str] = ("</s>", "<unk>")) -> tuple[str, ...]:
    """The pieces of a vocabulary file in the order of their ids.

    Raises:
        ModelFolderError: an id is missing or there twice, or a piece that is needed is absent.
    """
    pieces = tuple(sorted(ids, key=lambda piece: int(ids[piece])))
    if [ids[piece] for piece in pieces] != list(range(len(pieces))):
        raise ModelFolderError(f"{path}: the ids are not 0 to {len(pieces) - 1}, each once")
    for piece in needed:
        if piece not in ids:
            raise ModelFolderError(f"{path}: has no piece {piece}")
    return pieces


def _present(path: Path) -> Path:
    if not path.is_file():
        raise ModelFolderError(f"{path}: missing; this is no checkpoint that can be imported, or half of one")
    return path


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_file()
