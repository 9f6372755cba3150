"""A small real SentencePiece model, trained here in about a second, and a tiny model folder around it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece

from nmt.tokenizer import Tokenizer

SENTENCES = [
    "Two young men are playing football in the park.",
    "Deux jeunes hommes jouent au football dans le parc.",
    "The man who lives next door is a doctor.",
    "L'homme qui habite à côté est médecin.",
    "Where is the train station, please?",
    "Où est la gare, s'il vous plaît ?",
    "A little girl is eating an ice cream near the river.",
    "Une petite fille mange une glace près de la rivière.",
    "It was raining, so we stayed at home.",
    "Il pleuvait, alors nous sommes restés à la maison.",
    "My brother's dog does not like the neighbour's cat.",
    "Le chien de mon frère n'aime pas le chat du voisin.",
    "Today's newspaper is on the kitchen table.",
    "Le journal d'aujourd'hui est sur la table de la cuisine.",
    "How many people came to the concert yesterday?",
    "Combien de personnes sont venues au concert hier ?",
    "He opened the window and looked at the sea.",
    "Il ouvrit la fenêtre et regarda la mer.",
    "She has already finished her homework, I think.",
    "Elle a déjà fini ses devoirs, je crois.",
]


def train_tokenizer(model_type: str = "bpe", vocab_size: int = 380, **options: object) -> bytes:
    """Bytes of a SentencePiece model of ``SENTENCES``, with the special ids of this project."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type=model_type,
        vocab_size=vocab_size,
        **{
            "byte_fallback": True,
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": 2,
            "eos_id": 3,
            "normalization_rule_name": "nmt_nfkc",
            "minloglevel": 2,
            "num_threads": 1,
            **options,
        },
    )
    return model.getvalue()


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(train_tokenizer())
    return path


@pytest.fixture(scope="session")
def tokenizer(tokenizer_file: Path) -> Tokenizer:
    return Tokenizer.load(tokenizer_file)
