"""What ``report.json`` says of a prepared corpus: counts by reason, tokens, lengths, the vocabulary's fit.

Nothing in it depends on the clock, the machine or the folders: the same corpora give the same report.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from training.clean import REASONS
from training.corpus import Corpus
from training.noise import Noiser
from training.recipe import TokenizerConfig
from training.shards import Side, token_dtype

PERCENTILES = (50, 95, 99, 100)
IDS_AT_ONCE = 1 << 22


def describe_source(corpus: Corpus, counts: Counter[str], noiser: Noiser | None) -> dict[str, Any]:
    """One training corpus: where from, pairs read, refused for each reason, kept, written, and disturbed."""
    dropped = {reason: counts[reason] for reason in REASONS}
    return {
        **corpus.describe(),
        "read": counts["read"],
        "dropped": dropped,
        "kept": counts["read"] - sum(dropped[reason] for reason in REASONS if reason != "too_many_tokens"),
        "weight": corpus.source.weight,
        "cap": corpus.source.cap,
        "written": counts["written"],
        **({"noise": noiser.describe()} if noiser else {}),
    }


def describe_split(folder: Path, split: str, languages: tuple[str, str], model: bytes) -> dict[str, Any]:
    """Pairs of a split, and for each language its words, tokens and token lengths (EOS not counted)."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    vocab_size = processor.get_piece_size()
    is_byte = np.array([processor.is_byte(id_) for id_ in range(vocab_size)])
    result: dict[str, Any] = {}
    for language in languages:
        side = Side.map(folder, f"{split}.{language}", token_dtype(vocab_size))
        lengths = np.diff(side.offsets)
        counts = np.zeros(vocab_size, dtype=np.int64)
        for start in range(0, len(side.tokens), IDS_AT_ONCE):
            counts += np.bincount(side.tokens[start : start + IDS_AT_ONCE], minlength=vocab_size)
        words = _count_words(folder / f"{split}.{language}")
        result["pairs"] = len(lengths)
        result[language] = {
            "words": words,
            "tokens": int(counts.sum()),
            "tokens_per_word": round(float(counts.sum()) / max(1, words), 3),
            "byte_tokens": int(counts[is_byte].sum()),
            "unknown_tokens": int(counts[processor.unk_id()]),
            "pieces_used": int((counts > 0).sum()),
            "tokens_at_percentile": {
                str(percent): int(np.percentile(lengths, percent, method="higher")) for percent in PERCENTILES
            },
        }
    return result


def describe_tokenizer(model: bytes, config: TokenizerConfig) -> dict[str, Any]:
    """The vocabulary's settings, the size it really has and its checksum."""
    size = sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size()
    return {**config.model_dump(mode="json"), "vocab_size": size, "sha256": hashlib.sha256(model).hexdigest()}


def _count_words(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(len(line.split()) for line in lines)
