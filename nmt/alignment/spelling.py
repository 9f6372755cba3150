"""How pieces are spelt: names, numbers and cognates ("nation", "téléphone") look alike in both languages.

A translation model's states say little of a name that it never saw; its spelling says enough to link it.
"""

from __future__ import annotations

import unicodedata

import torch
from torch import Tensor

from nmt.tokenizer import Tokenizer

STEM = 4
"""Letters that two pieces begin with alike."""


def spelling_tables(tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """A number for each piece's spelling and for its beginning: equal numbers, equal letters.

    Case and accents do not count. 0 is no spelling (special ids, bytes) or too short; it equals nothing.

    Returns:
        spelling_V and stem_V, int32.
    """
    spelt = [_plain(tokenizer.decode([id_])) for id_ in range(tokenizer.vocab_size)]
    stems = [text[:STEM] if len(text) >= STEM and text.isalpha() else "" for text in spelt]
    return _numbered(spelt), _numbered(stems)


def _plain(text: str) -> str:
    """Lower-cased, without accents and white space; empty for what is no character."""
    letters = unicodedata.normalize("NFKD", text.strip().lower())
    return "".join(c for c in letters if not unicodedata.combining(c) and c != "\ufffd")


def _numbered(texts: list[str]) -> Tensor:
    numbers = {"": 0}
    return torch.tensor([numbers.setdefault(text, len(numbers)) for text in texts], dtype=torch.int32)
