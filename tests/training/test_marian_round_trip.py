"""A model of Marian's shape, trained here, written in Marian's format and imported, translates as before."""

from __future__ import annotations

import io
import os
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import sentencepiece
import torch
import yaml

from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.models.build import build_transformer
from nmt.models.transformer import Transformer
from nmt.options import TranslationOptions
from nmt.translator import Translator
from testbed.corpora import PAIRS
from tests.nmt.importers.test_marian import OPTIONS, write_vocabulary, write_weights
from training.evaluation.scoring import metrics
from training.objective import Objective

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Task:
    """What is learnt, and for how long."""

    train: Pairs
    dev: Pairs
    n_pieces: int
    d_model: int
    batch: int
    """Pairs of an update."""
    max_updates: int
    max_seconds: float
    """Of a core."""
    least_bleu: float


def toy() -> Task:
    shuffled = random.Random(1).sample(PAIRS, len(PAIRS))
    return Task(shuffled[:70], shuffled[70:], 90, 32, 35, 150, 60, 30)


def multi30k(folder: Path) -> Task:
    def read(split: str) -> Pairs:
        sides = [(folder / f"{split}.{code}").read_text("utf-8").splitlines() for code in ("en", "fr")]
        return list(zip(*sides, strict=True))

    return Task(read("train"), read("val"), 4000, 128, 96, 100_000, 240, 3)


def write_subwords(folder: Path, task: Task) -> list[str]:
    """A SentencePiece model for each side and one vocabulary for both, without ``<pad>``."""
    merged = ["</s>", "<unk>"]
    for side, name in enumerate(("source.spm", "target.spm")):
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(pair[side] for pair in task.train),
            model_writer=written,
            model_type="bpe",
            vocab_size=task.n_pieces,
            pad_id=-1,
            unk_id=0,
            bos_id=1,
            eos_id=2,
            minloglevel=2,
            num_threads=1,
        )
        (folder / name).write_bytes(written.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
        merged += [processor.id_to_piece(id_) for id_ in range(3, processor.get_piece_size())]
    pieces = list(dict.fromkeys(merged))
    write_vocabulary(folder / "vocab.yml", pieces)
    (folder / "decoder.yml").write_text(
        yaml.safe_dump({"models": ["model.npz"], "vocabs": ["vocab.yml", "vocab.yml"]})
    )
    return pieces


def write_archive(folder: Path, model: Transformer, d_model: int) -> None:
    sizes = {"dim-emb": d_model, "transformer-dim-ffn": 2 * d_model}
    write_weights(folder / "model.npz", model, OPTIONS | sizes)


def of_marians_shape(vocab_size: int, d_model: int) -> Transformer:
    return build_transformer(
        TransformerConfig(
            vocab_size=vocab_size,
            d_model=d_model,
            d_ff=2 * d_model,
            n_heads=4,
            n_encoder_layers=2,
            n_decoder_layers=2,
            norm="post",
            activation="silu",
            positions="sinusoidal_tensor2tensor",
            tie_embeddings="all",
            output_bias=True,
        )
    )


def imported(folder: Path) -> LoadedModel:
    out = folder.with_name(f"{folder.name}-ours")
    return load_model_folder(import_checkpoint(str(folder), out, read="en", write="fr"))


def learn(loaded: LoadedModel, task: Task) -> None:
    """Plain training, in which ``<pad>`` stays what Marian's decoder begins with: zeros, never written."""
    model, special = loaded.model, loaded.config.special_ids
    encoded = [
        (loaded.source_tokenizer.encode(source), loaded.tokenizer.encode(target))
        for source, target in task.train
    ]
    model.train().requires_grad_(True)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98))
    objective, drawn = Objective(smoothing=0.1), random.Random(1)
    started = time.process_time()
    for _ in range(task.max_updates):
        if time.process_time() - started > task.max_seconds:
            break
        rows = drawn.sample(encoded, task.batch)
        loss = objective(model, Batch.from_ids(*map(list, zip(*rows, strict=True)), special=special))
        optimizer.zero_grad()
        (loss.smoothed / loss.n_tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            model.output.weight_VD[special.pad] = 0
    model.eval().requires_grad_(False)


def without_pad(loaded: LoadedModel, d_model: int) -> Transformer:
    """The same as Marian holds it."""
    n = loaded.config.special_ids.pad
    model = of_marians_shape(n, d_model)
    state = loaded.model.state_dict()
    model.load_state_dict(
        {name: weight[:n] if len(weight) == n + 1 else weight for name, weight in state.items()}
    )
    return model.eval()


def translated(loaded: LoadedModel, task: Task) -> tuple[list[str], float]:
    translator = Translator(loaded, engine="eager")
    found = translator.translate([source for source, _ in task.dev], TranslationOptions())
    texts = [translation.text for translation in found]
    return texts, metrics()["BLEU"].corpus_score(texts, [[target for _, target in task.dev]]).score


def round_trip(task: Task, folder: Path) -> None:
    torch.manual_seed(1)
    begun, trained = folder / "begun", folder / "trained"
    begun.mkdir()
    pieces = write_subwords(begun, task)
    write_archive(begun, of_marians_shape(len(pieces), task.d_model), task.d_model)
    ours = imported(begun)
    learn(ours, task)
    expected, bleu = translated(ours, task)
    shutil.copytree(begun, trained)
    write_archive(trained, without_pad(ours, task.d_model), task.d_model)
    texts, again = translated(imported(trained), task)
    assert texts == expected
    assert again == bleu
    assert bleu > task.least_bleu


@pytest.mark.exhaustive
def test_it_scores_the_same(tmp_path: Path):
    round_trip(toy(), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_it_scores_the_same_on_multi30k(tmp_path: Path):
    data = os.environ.get("NMT_DATA")
    if data is None or not (Path(data) / "multi30k" / "train.en").exists():
        pytest.skip("NMT_DATA names no folder with multi30k")
    round_trip(multi30k(Path(data) / "multi30k"), tmp_path)
