"""Pieces of the vocabulary that stand for no text: a recipe reserves them, training teaches their use.

A model whose tokenizer lacks them translates all the same; what needs them says so (``Tokenizer.piece_id``).
"""

from __future__ import annotations

from collections.abc import Mapping

PLACEHOLDERS: tuple[str, ...] = tuple(f"⟦{index}⟧" for index in range(10))
"""Each stands for one span that is to be copied: a URL, a variable, a glossary term. Training replaces what
is the same on both sides by one of them; in search, each of the source's is written exactly once."""

REGISTER: Mapping[str, str] = {"formal": "⟦vous⟧", "informal": "⟦tu⟧"}
"""Put before a source sentence: how the French side addresses people."""
WITH_REGISTER = ("fr",)
"""Languages to write in which it makes a difference."""

LANGUAGES: Mapping[str, str] = {"en": "⟦en⟧", "fr": "⟦fr⟧"}
"""Put before a source sentence by a model of two directions: the language to write."""

RESERVED: tuple[str, ...] = (*PLACEHOLDERS, *REGISTER.values(), *LANGUAGES.values())
"""All of them: a recipe's ``tokenizer.user_defined_symbols``."""
