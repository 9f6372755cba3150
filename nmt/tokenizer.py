"""SentencePiece (Kudo and Richardson 2018): text <-> sub-word ids, and every piece knows its character span.

Ids never include BOS or EOS; ``Batch`` adds those. A model may have an order of pieces of its own (OPUS-MT,
NLLB): ids are then places in its vocabulary, not in the SentencePiece model.

Spans are in characters (Unicode code points), half open, and leave out white space: the piece ``▁chat`` of
"un chat" spans 3-7. A piece that is white space alone, such as a bare ``▁``, has an empty span at the start
of what follows it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sentencepiece

from nmt.config import SpecialIds
from nmt.errors import InputError, ModelFolderError

WORD_START = "\u2581"
"""SentencePiece writes a space, and the start of a text, as this character."""
WORTH_THREADS = 32
"""Texts at least for which threads cost less than they save: starting one takes as long as many texts."""


@dataclass(frozen=True)
class Piece:
    """One sub-word token and the characters that it stands for: ``text[start:end]``."""

    id: int
    text: str
    """The piece as SentencePiece writes it, with ``▁`` for a space and ``<0xE9>`` for a byte."""
    start: int
    end: int


@dataclass(frozen=True)
class Vocabulary:
    """A model's own order of pieces, where that is not the order of its SentencePiece model."""

    pieces: tuple[str, ...]
    special: SpecialIds
    control: frozenset[str] = frozenset()
    """Further pieces that stand for no text: those of languages, say."""


class Tokenizer:
    """A trained SentencePiece model: text to ids and back.

    Ours have byte fallback, so that any text has an encoding; of others a character may be unknown.

    Args:
        model_bytes: a SentencePiece model.
        name: begins error messages.
        vocabulary: None: ids are those of the SentencePiece model.
        prefix: ids that begin each encoding: a piece that names a language.

    Raises:
        ModelFolderError: ``model_bytes`` are not a SentencePiece model, or one that lacks a special piece.
    """

    def __init__(
        self,
        model_bytes: bytes,
        *,
        name: str = "tokenizer",
        vocabulary: Vocabulary | None = None,
        prefix: Sequence[int] = (),
    ) -> None:
        try:
            # One thread: a pool costs more than it saves on the few sentences of a request.
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model_bytes, num_threads=1)
        except (RuntimeError, ValueError):
            raise ModelFolderError(
                f"{name}: not a SentencePiece model ({len(model_bytes)} bytes); copy the file again"
            ) from None
        self.prefix = tuple(prefix)
        self._is_plain = vocabulary is None
        if vocabulary is not None:
            self._take(vocabulary)
            return
        ids = {
            "pad": self._processor.pad_id(),
            "unk": self._processor.unk_id(),
            "bos": self._processor.bos_id(),
            "eos": self._processor.eos_id(),
        }
        absent = [key for key, id_ in ids.items() if id_ < 0]
        if absent:
            raise ModelFolderError(
                f"{name}: the SentencePiece model has no {', '.join(absent)} piece; "
                "train it with pad_id=0, unk_id=1, bos_id=2, eos_id=3"
            )
        self.special = SpecialIds(**ids)
        self.vocab_size: int = self._processor.get_piece_size()
        self.pieces: list[str] = [self._processor.id_to_piece(id_) for id_ in range(self.vocab_size)]
        self._characters = frozenset("".join(piece for piece in self.pieces if not piece.startswith("<")))

    def _take(self, vocabulary: Vocabulary) -> None:
        """Ids are places in ``vocabulary``."""
        self.special = vocabulary.special
        self.pieces = list(vocabulary.pieces)
        self.vocab_size = len(self.pieces)
        marks = (self.special.pad, self.special.bos, self.special.eos)
        self._control = vocabulary.control | {self.pieces[id_] for id_ in marks}
        self._ids = {piece: id_ for id_, piece in enumerate(self.pieces)}
        size = self._processor.get_piece_size()
        known = [self._processor.id_to_piece(id_) for id_ in range(size)]
        self._id_of_theirs = [self._ids.get(piece, self.special.unk) for piece in known]
        self._characters = frozenset("".join(piece for piece in known if not piece.startswith("<")))

    @classmethod
    def load(cls, path: Path, vocabulary: Vocabulary | None = None, prefix: Sequence[int] = ()) -> Tokenizer:
        """Read ``tokenizer.model``.

        Raises:
            ModelFolderError: the file is missing, unreadable or not a SentencePiece model.
        """
        try:
            model_bytes = path.read_bytes()
        except OSError as error:
            raise ModelFolderError(f"{path}: {error.strerror or error}") from None
        return cls(model_bytes, name=str(path), vocabulary=vocabulary, prefix=prefix)

    def piece_id(self, piece: str) -> int | None:
        """The id of a piece of the vocabulary; None: it has no such piece."""
        if not self._is_plain:
            return self._ids.get(piece)
        id_: int = self._processor.piece_to_id(piece)
        return id_ if self._processor.id_to_piece(id_) == piece else None

    def knows(self, character: str) -> bool:
        """Whether a character, or its lower case, is part of some piece: others are spelled out in bytes.

        Control and format characters count as known: normalisation takes them away.
        """
        if unicodedata.category(character) in {"Cc", "Cf"}:
            return True
        normal = unicodedata.normalize("NFKC", character)
        return self._characters.issuperset(normal) or self._characters.issuperset(normal.lower())

    def encode(self, text: str) -> list[int]:
        """Text -> ids, without BOS and EOS. Raises ``InputError`` on a lone surrogate."""
        return [*self.prefix, *self.subwords(text)]

    def subwords(self, text: str) -> list[int]:
        """Text -> ids of what it holds, without the prefix. Raises ``InputError`` on a lone surrogate."""
        refuse_lone_surrogates(text)
        ids: list[int] = self._processor.encode(text)
        return ids if self._is_plain else self._own_ids(ids, text)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """``encode`` of each text; of many in one call, which starts threads of its own."""
        for text in texts:
            refuse_lone_surrogates(text)
        if len(texts) < WORTH_THREADS or not self._is_plain:
            return [self.encode(text) for text in texts]
        ids: list[list[int]] = self._processor.encode(list(texts))
        return ids

    def _own_ids(self, theirs: Sequence[int], text: str) -> list[int]:
        """Ids of the SentencePiece model as ids of the vocabulary, which may know what that does not."""
        if self._processor.unk_id() not in theirs:
            return [self._id_of_theirs[id_] for id_ in theirs]
        unk = self.special.unk
        return [self._ids.get(piece, unk) for piece in self._processor.encode(text, out_type=str)]

    def sample(self, text: str, alpha: float, nbest: int = -1) -> list[int]:
        """A random segmentation of ``text``; draws follow ``seed_sampling``.

        Args:
            text: what to encode.
            alpha: BPE model: probability to skip a merge, 0 gives ``encode`` (BPE dropout, Provilkov et al.
                2020). Unigram model: inverse temperature (sub-word regularisation, Kudo 2018), 0 is uniform.
            nbest: unigram model: sample among so many best segmentations; -1 among all. BPE ignores it.
        """
        refuse_lone_surrogates(text)
        ids: list[int] = self._processor.encode(text, enable_sampling=True, alpha=alpha, nbest_size=nbest)
        return ids if self._is_plain else [*self.prefix, *(self._id_of_theirs[id_] for id_ in ids)]

    def encode_pieces(self, text: str) -> list[Piece]:
        """Pieces of ``text``, the same ids as ``encode``; spans index ``text`` as given.

        Several pieces share one span where normalisation or byte fallback made several out of one character.
        """
        refuse_lone_surrogates(text)
        pieces = self._pieces(self._processor.encode(text, return_type="offset_mapping"), text)
        if self._is_plain:
            return pieces
        unk = self.special.unk
        named = [replace(piece, id=self._ids.get(piece.text, unk)) for piece in pieces]
        return [*(Piece(id_, self.pieces[id_], 0, 0) for id_ in self.prefix), *named]

    def decode(self, ids: Sequence[int]) -> str:
        """Ids -> text. Special ids vanish; bytes that form no character become U+FFFD.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        self._check_ids(ids)
        if not self._is_plain:
            return self.decode_pieces(ids)[0]
        text: str = self._processor.decode(list(ids))
        return text

    def decode_pieces(self, ids: Sequence[int]) -> tuple[str, list[Piece]]:
        """Ids -> the text of ``decode`` and one piece for each id, with spans in that text.

        The spans cover every character of the text but white space, in order. The bytes of one character
        share its span; a special id has an empty one.
        """
        self._check_ids(ids)
        if not self._is_plain:
            return self._decode_own(ids)
        mapping = self._processor.decode(list(ids), return_type="offset_mapping")
        text: str = mapping["text"]
        return text, self._pieces(mapping, text)

    def _decode_own(self, ids: Sequence[int]) -> tuple[str, list[Piece]]:
        """Pieces that the SentencePiece model lacks, of the source's say, stand for what they spell."""
        written = [(id_, self.pieces[id_]) for id_ in ids if self.pieces[id_] not in self._control]
        mapping = self._processor.decode([piece for _, piece in written], return_type="offset_mapping")
        text = mapping["text"].replace(WORD_START, " ")
        found = iter(self._pieces(mapping, text))
        pieces, end = [], 0
        for id_ in ids:
            piece = self.pieces[id_]
            start = end
            if piece not in self._control:
                one = next(found)
                start, end = one.start, one.end
            pieces.append(Piece(id_, piece, start, end))
        return text, pieces

    def _check_ids(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            if not 0 <= id_ < self.vocab_size:
                raise ValueError(f"id {id_} is outside the vocabulary of {self.vocab_size} pieces")

    def _pieces(self, mapping: Mapping[str, Any], text: str) -> list[Piece]:
        """SentencePiece gives a character to the last of its pieces; give it to all, without white space."""
        rows = list(zip(mapping["ids"], mapping["pieces"], mapping["offsets"], strict=True))
        pieces: list[Piece] = []
        following_end = 0
        for id_, piece, (start, end) in reversed(rows):
            if start == end and self._stands_for_text(id_, piece):
                end = max(end, following_end)  # begins a character that a later piece completes
            elif start < end:
                following_end = end
            pieces.append(Piece(id_, piece, *_without_white_space(text, start, end)))
        return pieces[::-1]

    def _stands_for_text(self, id_: int, piece: str) -> bool:
        return piece.strip(WORD_START) != "" and not self._processor.is_control(id_)


def pieces_of(path: Path) -> list[str]:
    """The pieces of any SentencePiece model, in the order of their ids.

    Raises:
        ModelFolderError: the file is no such model.
    """
    try:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, ValueError, OSError):
        raise ModelFolderError(f"{path}: not a SentencePiece model; copy the file again") from None
    return [processor.id_to_piece(id_) for id_ in range(processor.get_piece_size())]


def seed_sampling(seed: int) -> None:
    """Seed ``Tokenizer.sample``: SentencePiece has one generator for the process, not one for each model."""
    sentencepiece.set_random_generator_seed(seed)


def refuse_lone_surrogates(text: str, name: str = "") -> None:
    """Raise ``InputError`` when ``text`` holds half of a UTF-16 pair, which stands for no character.

    The message begins with ``name`` and gives the position, but nothing of the text.
    """
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name}character {error.start} (counted from 0) is U+{ord(text[error.start]):04X}, half of a"
            " surrogate pair and no character by itself; send valid Unicode"
        ) from None


def _without_white_space(text: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a span to leave out white space at both ends; an empty one goes to the old end."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
