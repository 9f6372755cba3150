"""Learn the sub-word vocabulary: SentencePiece (Kudo and Richardson 2018), one for both languages.

BPE (Sennrich et al. 2016) or the unigram language model (Kudo 2018), with byte fallback: a character that has
no piece is spelled in UTF-8 bytes, so that ``unk`` never occurs. Deterministic: one thread, and our own
seeded choice of sentences. They are fed through an iterator, so that no path ends up in the model file.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterable, Iterator

import sentencepiece

from nmt.config import SpecialIds
from nmt.errors import DataError
from training.recipe import TokenizerConfig


def train_subwords(sentences: Iterable[str], n_sentences: int, config: TokenizerConfig) -> bytes:
    """Train a SentencePiece model and return its file's bytes.

    Args:
        sentences: normalised text of both languages, read once.
        n_sentences: how many there are.
        config: type, size, normalisation and the number of sentences to learn from.

    Raises:
        DataError: the text is too small for the vocabulary asked for, or the vocabulary for its characters.
    """
    special = SpecialIds()
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sample(sentences, n_sentences, config.max_sentences, config.seed),
            model_writer=model,
            model_type=config.type,
            vocab_size=config.vocab_size,
            character_coverage=config.character_coverage,
            normalization_rule_name=config.normalization,
            split_digits=config.split_digits,
            user_defined_symbols=list(config.user_defined_symbols),
            byte_fallback=True,
            pad_id=special.pad,
            unk_id=special.unk,
            bos_id=special.bos,
            eos_id=special.eos,
            num_threads=1,
            shuffle_input_sentence=False,
            minloglevel=3,
        )
    except RuntimeError as error:
        raise DataError(_explain(str(error), n_sentences, config)) from None
    return model.getvalue()


def sample(sentences: Iterable[str], n_sentences: int, size: int, seed: int) -> Iterator[str]:
    """All sentences, or a random choice of ``size``, in their order (selection sampling, Knuth 3.4.2 S)."""
    generator = random.Random(seed)
    wanted = min(size, n_sentences)
    for index, sentence in enumerate(sentences):
        if generator.random() * (n_sentences - index) < wanted:
            wanted -= 1
            yield sentence


def _explain(message: str, n_sentences: int, config: TokenizerConfig) -> str:
    """SentencePiece's message names its source line and condition; keep what a person can act on."""
    asked = f"tokenizer.vocab_size {config.vocab_size}"
    if limit := re.search(r"too high.*?<= (\d+)", message):
        return f"{asked} is more than {n_sentences} sentences can fill; the limit is {limit[1]}: set it lower"
    if "smaller than required" in message or "required_chars" in message:
        return (
            f"{asked} is less than the bytes, special pieces and characters of the text need; set it higher"
        )
    return f"SentencePiece cannot learn {config.vocab_size} pieces from {n_sentences} sentences: {message}"
