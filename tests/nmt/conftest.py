"""A small real SentencePiece model, trained here in about a second, and a tiny model folder around it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece
import torch

from nmt.config import GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.model_folder.checkpoint import save_model_folder
from nmt.models.build import Model, build_model
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


def tiny_config(tokenizer: Tokenizer, **model: object) -> ModelFolderConfig:
    """A model folder's configuration: a Transformer of width 16 with two layers on each side."""
    return ModelFolderConfig(
        name="tiny",
        model=TransformerConfig(
            **{
                "vocab_size": tokenizer.vocab_size,
                "d_model": 16,
                "d_ff": 32,
                "n_heads": 2,
                "n_encoder_layers": 2,
                "n_decoder_layers": 2,
                **model,
            }
        ),
        special_ids=tokenizer.special,
        max_source_tokens=40,
        library_version="0.0.0",
    )


def tiny_model(config: ModelFolderConfig) -> Model:
    """Random weights times 3, so that predictions depend on what was read."""
    torch.manual_seed(7)
    model = build_model(config.model).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.mul_(3)
    return model


def save_tiny_model(folder: Path, tokenizer_file: Path, **options: object) -> Model:
    """Write a model folder with ``tiny_model``; ``options`` override arguments of ``save_model_folder``."""
    config = tiny_config(Tokenizer.load(tokenizer_file))
    model = tiny_model(config)
    save_model_folder(
        folder,
        **{
            "config": config,
            "model": model,
            "tokenizer_file": tokenizer_file,
            "generation": GenerationConfig(beam_size=3),
            "card": "# tiny\n",
            "scores": {"bleu": 1.5},
            **options,
        },
    )
    return model
