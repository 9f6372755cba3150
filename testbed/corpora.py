"""Small corpora and recipes, written to a temporary folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SUBJECTS = (
    ("The man", "L'homme"),
    ("A girl", "Une fille"),
    ("My dog", "Mon chien"),
    ("Her brother", "Son frère"),
)
VERBS = (("sees", "voit"), ("eats", "mange"), ("wants", "veut"), ("has", "a"), ("finds", "trouve"))
OBJECTS = (
    ("an apple", "une pomme"),
    ("two books", "deux livres"),
    ("the table", "la table"),
    ("a red car", "une voiture rouge"),
)

Pairs = Sequence[tuple[str, str]]

PAIRS: Pairs = [
    (f"{subject[0]} {verb[0]} {thing[0]}.", f"{subject[1]} {verb[1]} {thing[1]}.")
    for verb in VERBS
    for thing in OBJECTS
    for subject in SUBJECTS
]
"""80 different pairs."""

RECIPE = """
[data]
train = [{ kind = "text", path = "train" }]
dev = [{ kind = "text", path = "dev" }]
tests = [{ kind = "text", name = "held-out", path = "test" }]

[tokenizer]
vocab_size = 320

[model]
d_model = 16
d_ff = 32
n_heads = 2
n_encoder_layers = 1
n_decoder_layers = 1

[training]
max_updates = 10
learning_rate = 0.01
"""


def write_text(folder: Path, name: str, pairs: Pairs) -> None:
    """Write ``name.en`` and ``name.fr``."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, language in enumerate(("en", "fr")):
        (folder / f"{name}.{language}").write_text(
            "".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8"
        )


def write_toy(folder: Path, train: Pairs = PAIRS[:60]) -> Path:
    """Write a corpus of 60 training, 10 development and 10 test pairs, and its recipe; return that."""
    write_text(folder, "train", train)
    write_text(folder, "dev", PAIRS[60:70])
    write_text(folder, "test", PAIRS[70:])
    (folder / "small.toml").write_text(RECIPE, encoding="utf-8")
    return folder / "small.toml"
