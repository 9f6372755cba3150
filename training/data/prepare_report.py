"""Report of a prepared corpus: counts by reason, tokens, lengths, the vocabulary's fit.

Nothing in it depends on the clock, the machine or the folders: the same corpora give the same report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.data.clean import REASONS
from training.data.corpus import Corpus
from training.data.prepare_encode import TOO_LONG, EncodedCorpus
from training.data.shards import token_dtype
from training.data.tokenizers import Tokenizers
from training.recipe import TokenizerConfig

PERCENTILES = (50, 95, 99, 100)
NUMBERS_AT_ONCE = 1 << 20
BYTE = re.compile("<0x[0-9A-F]{2}>")


def describe_source(corpus: Corpus, encoded: EncodedCorpus) -> dict[str, Any]:
    """One training corpus: where from, pairs read, refused for each reason, kept, written, and disturbed."""
    counts = encoded.counts
    dropped = {reason: counts[reason] for reason in REASONS}
    return {
        **corpus.describe(),
        "read": counts["read"],
        "dropped": dropped,
        "samples": {reason: encoded.samples.pairs(reason) for reason in REASONS if counts[reason]},
        "kept": counts["read"] - sum(dropped[reason] for reason in REASONS if reason != TOO_LONG),
        "weight": corpus.source.weight,
        "cap": corpus.source.cap,
        "written": counts["written"],
        **({"noise": encoded.noiser.describe()} if encoded.noiser else {}),
    }


def describe_split(
    folder: Path,
    split: str,
    languages: tuple[str, str],
    tokenizers: Tokenizers,
    n_words: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Pairs of a split, and for each language its words, tokens and token lengths (EOS not counted).

    Files are read a piece at a time; ``n_words`` saves counting the words of each language once more.
    """
    result: dict[str, Any] = {}
    for language, tokenizer in zip(languages, tokenizers.sides, strict=True):
        stem = f"{split}.{language}"
        dtype = token_dtype(tokenizers.vocab_size)
        counts = _count(folder / f"{stem}.tokens", dtype, tokenizer.vocab_size)
        is_byte = np.array([BYTE.fullmatch(piece) is not None for piece in tokenizer.pieces])
        n_of_length = _lengths(folder / f"{stem}.offsets")
        n_of_language = _count_words(folder / stem) if n_words is None else n_words[language]
        result["pairs"] = int(n_of_length.sum())
        result[language] = {
            "words": n_of_language,
            "tokens": int(counts.sum()),
            "tokens_per_word": round(float(counts.sum()) / max(1, n_of_language), 3),
            "byte_tokens": int(counts[is_byte].sum()),
            "unknown_tokens": int(counts[tokenizer.special.unk]),
            "pieces_used": int((counts > 0).sum()),
            "tokens_at_percentile": {
                str(percent): _percentile(n_of_length, percent) for percent in PERCENTILES
            },
        }
    return result


def describe_tokenizer(tokenizers: Tokenizers, checksum: str, config: TokenizerConfig) -> dict[str, Any]:
    """The vocabulary's settings, the size it really has and its checksum."""
    size = tokenizers.target.vocab_size
    return {**config.model_dump(mode="json"), "vocab_size": size, "sha256": checksum}


def _count(tokens: Path, dtype: np.dtype[Any], vocab_size: int) -> npt.NDArray[np.int64]:
    """How often each id occurs."""
    counts = np.zeros(vocab_size, dtype=np.int64)
    for ids in _pieces(tokens, dtype):
        counts += np.bincount(ids, minlength=vocab_size)
    return counts


def _lengths(offsets: Path) -> npt.NDArray[np.int64]:
    """How many sentences have each length in tokens."""
    n_of_length = np.zeros(1, dtype=np.int64)
    last = np.zeros(0, dtype="<i8")
    for piece in _pieces(offsets, np.dtype("<i8")):
        more = np.bincount(np.diff(np.concatenate([last, piece])))
        size = max(len(more), len(n_of_length))
        n_of_length = np.pad(n_of_length, (0, size - len(n_of_length))) + np.pad(more, (0, size - len(more)))
        last = piece[-1:]
    return n_of_length


def _percentile(n_of_length: npt.NDArray[np.int64], percent: int) -> int:
    """The least length that so many of a hundred sentences do not exceed (``method="higher"`` of numpy)."""
    rank = math.ceil((int(n_of_length.sum()) - 1) * percent / 100)
    return int(np.searchsorted(np.cumsum(n_of_length), rank, side="right"))


def _pieces(path: Path, dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
    with path.open("rb") as file:
        while piece := file.read(NUMBERS_AT_ONCE * dtype.itemsize):
            yield np.frombuffer(piece, dtype=dtype)


def _count_words(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(len(line.split()) for line in lines)
