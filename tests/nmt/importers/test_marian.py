"""Marian's own checkpoints, written here as Marian names and lays out its weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.errors import ModelFolderError
from nmt.importers.read import import_checkpoint
from nmt.layers.embedding import NEVER
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder
from nmt.models.build import build_transformer
from nmt.models.transformer import Transformer
from nmt.pipeline.requests import Search
from nmt.searchers.step import StepSearcher
from tests.nmt.importers.checkpoints import sentencepieces

OPTIONS: dict[str, Any] = {
    "type": "transformer",
    "dim-emb": 32,
    "transformer-dim-ffn": 48,
    "transformer-heads": 4,
    "enc-depth": 2,
    "dec-depth": 2,
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-ffn-activation": "swish",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-train-position-embeddings": False,
    "tied-embeddings-all": True,
    "lemma-dim-emb": 0,
}
PRE = {"transformer-preprocess": "n", "transformer-postprocess": "da", "transformer-postprocess-top": "n"}
ATTENTION = {"query": "q", "key": "k", "value": "v", "output": "o"}


def write_marian(folder: Path, *, joint: bool = True, **options: Any) -> Transformer:
    """An archive as OPUS-MT publishes; the model whose weights it holds, without the piece ``<pad>``."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = OPTIONS | ({} if joint else {"tied-embeddings-all": False, "tied-embeddings": True}) | options
    source, of_source = sentencepieces("unigram", 130)
    target, of_target = sentencepieces("unigram", 150)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    merged = ["</s>", "<unk>", *dict.fromkeys([*of_source, *of_target, "no", "1"])]
    tables = (
        {"vocab.yml": merged}
        if joint
        else {
            "source.vocab.yml": ["</s>", "<unk>", *of_source],
            "target.vocab.yml": ["</s>", "<unk>", *of_target],
        }
    )
    for name, pieces in tables.items():
        write_vocabulary(folder / name, pieces)
    names = list(tables)
    (folder / "decoder.yml").write_text(
        yaml.safe_dump({"models": ["model.npz"], "vocabs": [names[0], names[-1]]})
    )
    is_pre = settings["transformer-preprocess"] == "n"
    model = build_transformer(
        TransformerConfig(
            vocab_size=len(tables[names[-1]]),
            source_vocab_size=None if joint else len(tables[names[0]]),
            d_model=32,
            d_ff=48,
            n_encoder_layers=2,
            n_decoder_layers=2,
            norm="pre" if is_pre else "post",
            activation="silu",
            positions="sinusoidal_tensor2tensor",
            tie_embeddings="all" if joint else "decoder",
            output_bias=True,
        )
    ).eval()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.3)
    write_weights(folder / "model.npz", model, settings, joint=joint, is_pre=is_pre)
    return model


def write_vocabulary(path: Path, pieces: Sequence[str]) -> None:
    """As YAML, one piece a line."""
    text = "".join(
        f"{yaml.safe_dump(piece, allow_unicode=True)[:-1].removesuffix('...').strip()}: {id_}\n"
        for id_, piece in enumerate(pieces)
    )
    path.write_text(text, encoding="utf-8")


def write_weights(
    path: Path, model: Transformer, settings: dict[str, Any], *, joint: bool = True, is_pre: bool = False
) -> None:
    """As Marian saves them, with its options."""
    arrays = _arrays(model, joint=joint, is_pre=is_pre)
    arrays["special:model.yml"] = np.frombuffer(yaml.safe_dump(settings).encode() + b"\0", dtype=np.int8)
    np.savez(path, **arrays)  # type: ignore[arg-type]


def _arrays(model: Transformer, *, joint: bool, is_pre: bool) -> dict[str, np.ndarray[Any, Any]]:
    state = {name: weight.detach().numpy() for name, weight in model.state_dict().items()}
    arrays = {"decoder_ff_logit_out_b": state["output.bias_V"][None]}
    if joint:
        arrays["Wemb"] = state["target_embedding.embedding.weight"]
    else:
        arrays["encoder_Wemb"] = state["source_embedding.embedding.weight"]
        arrays["decoder_Wemb"] = state["target_embedding.embedding.weight"]
    suffix = "_pre" if is_pre else ""
    norms = {"self_attention": "self_Wo", "cross_attention": "context_Wo", "feed_forward": "ffn_ffn"}
    for side in ("encoder", "decoder"):
        for index in range(2):
            ours, theirs = f"{side}_layers.{index}", f"{side}_l{index + 1}"
            for name, short in (("self_attention", "self"), ("cross_attention", "context")):
                for part, letter in ATTENTION.items():
                    if f"{ours}.{name}.{part}.weight" in state:
                        arrays[f"{theirs}_{short}_W{letter}"] = state[f"{ours}.{name}.{part}.weight"].T
                        arrays[f"{theirs}_{short}_b{letter}"] = state[f"{ours}.{name}.{part}.bias"][None]
            for part, number in (("up", 1), ("down", 2)):
                arrays[f"{theirs}_ffn_W{number}"] = state[f"{ours}.feed_forward.{part}.weight"].T
                arrays[f"{theirs}_ffn_b{number}"] = state[f"{ours}.feed_forward.{part}.bias"][None]
            around = {"self_attention": "around_self_attention" if side == "decoder" else "around_attention"}
            around |= {"cross_attention": "around_cross_attention", "feed_forward": "around_feed_forward"}
            for name, place in around.items():
                if f"{ours}.{place}.norm.weight" in state:
                    prefix = f"{theirs}_{norms[name]}_ln"
                    arrays[f"{prefix}_scale{suffix}"] = state[f"{ours}.{place}.norm.weight"][None]
                    arrays[f"{prefix}_bias{suffix}"] = state[f"{ours}.{place}.norm.bias"][None]
        if is_pre:
            arrays[f"{side}_top_ln_scale"] = state[f"{side}_norm.weight"][None]
            arrays[f"{side}_top_ln_bias"] = state[f"{side}_norm.bias"][None]
    return arrays


def imported(folder: Path) -> LoadedModel:
    return load_model_folder(import_checkpoint(str(folder), folder.with_name("ours"), read="en", write="fr"))


@pytest.mark.parametrize("options", [{}, PRE, {"joint": False}, PRE | {"joint": False}])
@torch.inference_mode()
def test_it_computes_what_was_written(options: dict[str, Any], tmp_path: Path):
    original = write_marian(tmp_path / "theirs", **options)
    loaded = imported(tmp_path / "theirs")
    special = loaded.config.special_ids
    sources = [[5, 9, 30], [7], [40, 41, 42, 43, 44]]
    batch = Batch.from_ids(sources, [[8, 7], [20, 21, 22], [3]], special=special)
    # Marian's decoder begins with zeros: the original is given a piece of zeros, which it never writes.
    table_VD = original.target_embedding.embedding.weight.clone()
    original.target_embedding.embedding.weight.data = torch.cat((table_VD, table_VD.new_zeros(1, 32)))
    torch.testing.assert_close(loaded.model.encode(batch), original.encode(batch), atol=1e-5, rtol=0)
    _, hidden_BTD = original.states(batch)
    expected = (hidden_BTD @ table_VD.T + original.output.bias_V).log_softmax(dim=-1)
    log_probs = loaded.model(batch).log_softmax(dim=-1)
    torch.testing.assert_close(log_probs[..., : special.pad], expected, atol=1e-4, rtol=0)
    assert float(log_probs[..., special.pad].max()) < NEVER / 2


def test_no_and_1_are_pieces(tmp_path: Path):
    """YAML takes them for a truth value and a number."""
    write_marian(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    assert {"no", "1"} <= set(loaded.tokenizer.pieces)
    assert loaded.tokenizer.pieces[-1] == "<pad>"


def test_pad_is_never_written(tmp_path: Path):
    write_marian(tmp_path / "theirs")
    loaded = imported(tmp_path / "theirs")
    searcher = StepSearcher(loaded.model, loaded.config.special_ids)
    asked = [Search((index, index + 1), loaded.generation) for index in range(3, 60)]
    found = searcher.search(asked, max_batch_tokens=4096)
    assert all(loaded.config.special_ids.pad not in best.tokens for best, *_ in found)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("type", "s2s"),
        ("transformer-decoder-autoreg", "average-attention"),
        ("transformer-ffn-activation", "gelu"),
        ("transformer-postprocess", "hdan"),
        ("lemma-dim-emb", 64),
        ("transformer-train-position-embeddings", True),
        ("transformer-tied-layers", [1, 1]),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(option: str, value: Any, tmp_path: Path):
    write_marian(tmp_path / "theirs", **{option: value})
    with pytest.raises(
        ModelFolderError, match=option if option != "transformer-ffn-activation" else "activation"
    ):
        imported(tmp_path / "theirs")
    assert [path.name for path in tmp_path.iterdir()] == ["theirs"]


def test_bpe_without_sentencepiece_is_refused(tmp_path: Path):
    write_marian(tmp_path / "theirs")
    (tmp_path / "theirs" / "source.spm").rename(tmp_path / "theirs" / "source.bpe")
    with pytest.raises(ModelFolderError, match=r"other sub-words than SentencePiece \(BPE\)"):
        imported(tmp_path / "theirs")


def test_half_a_checkpoint_and_none(tmp_path: Path):
    write_marian(tmp_path / "theirs")
    path = tmp_path / "theirs" / "model.npz"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ModelFolderError, match="not a checkpoint of Marian"):
        imported(tmp_path / "theirs")


def test_languages_must_be_named(tmp_path: Path):
    write_marian(tmp_path / "theirs")
    with pytest.raises(ModelFolderError, match="name it with --from CODE"):
        import_checkpoint(str(tmp_path / "theirs"), tmp_path / "ours")
