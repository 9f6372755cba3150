"""Checkpoints of random weights in other toolkits' formats, made by transformers itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration, MarianConfig, MarianMTModel

from tests.nmt.conftest import train_tokenizer

SHAPE: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "scale_embedding": True,
    "max_position_embeddings": 128,
}
LANGUAGES = ("de", "en", "fr", "pt-BR")


def sentencepieces(model_type: str, vocab_size: int) -> tuple[bytes, list[str]]:
    """A SentencePiece model with the marks that others have, and its pieces but for those."""
    marks = {"pad_id": -1, "unk_id": 0, "bos_id": 1, "eos_id": 2}
    model = train_tokenizer(model_type, vocab_size, byte_fallback=False, **marks)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return model, [processor.id_to_piece(id_) for id_ in range(3, processor.get_piece_size())]


def make_marian(
    folder: Path,
    *,
    separate: bool = False,
    targets: Sequence[str] = (),
    settings: dict[str, Any] | None = None,
    **config: Any,
) -> MarianMTModel:
    """A MarianMT checkpoint whose source and target have SentencePiece models of their own."""
    torch.manual_seed(5)
    folder.mkdir(parents=True, exist_ok=True)
    source, of_source = sentencepieces("unigram", 130)
    target, of_target = sentencepieces("bpe", 130) if separate else sentencepieces("unigram", 165)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    named = [f">>{code}<<" for code in targets]
    joint = [
        "</s>",
        "<unk>",
        *named,
        *(of_source if separate else dict.fromkeys([*of_source, *of_target])),
        "<pad>",
    ]
    sizes: dict[str, Any] = {"vocab_size": len(joint), "pad_token_id": len(joint) - 1}
    (folder / "vocab.json").write_text(json.dumps({piece: id_ for id_, piece in enumerate(joint)}))
    if separate:
        written = ["</s>", "<unk>", *of_target, "<pad>"]
        (folder / "target_vocab.json").write_text(
            json.dumps({piece: id_ for id_, piece in enumerate(written)})
        )
        sizes |= {"decoder_vocab_size": len(written), "pad_token_id": len(written) - 1}
        sizes |= {"share_encoder_decoder_embeddings": False}
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {"source_lang": "eng", "target_lang": "fra", "separate_vocabs": separate} | (settings or {})
        )
    )
    shape = SHAPE | sizes | {"eos_token_id": 0, "decoder_start_token_id": sizes["pad_token_id"]}
    shape |= {"forced_eos_token_id": 0, "activation_function": "swish"}
    model = MarianMTModel(MarianConfig(**(shape | config)))
    _scramble(model)
    with torch.no_grad():
        if not separate:
            model.model.shared.weight[-1] = 0  # as conversions from Marian have it
        model.final_logits_bias.normal_(std=0.5)
        model.final_logits_bias[0, 0] += 3  # so that some translations end
    model.eval().save_pretrained(folder)
    return model


def make_multilingual(folder: Path, *, nllb: bool = False) -> M2M100ForConditionalGeneration:
    """An M2M-100 or NLLB checkpoint of four languages."""
    torch.manual_seed(5)
    folder.mkdir(parents=True, exist_ok=True)
    model_bytes, theirs = sentencepieces("bpe", 190)
    (folder / "sentencepiece.bpe.model").write_bytes(model_bytes)
    plain = ["<s>", "<pad>", "</s>", "<unk>", *theirs]
    named = (
        ["deu_Latn", "eng_Latn", "fra_Latn", "por_Latn"]
        if nllb
        else [f"__{code}__" for code in ("de", "en", "fr", "pt")]
    )
    if not nllb:
        (folder / "vocab.json").write_text(json.dumps({piece: id_ for id_, piece in enumerate(plain)}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": named}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "NllbTokenizer" if nllb else "M2M100Tokenizer"})
    )
    size = len(plain) + len(named) + (1 if nllb else 8)  # <mask>, or words that fill it up
    model = M2M100ForConditionalGeneration(
        M2M100Config(
            **SHAPE, vocab_size=size, activation_function="relu", encoder_layerdrop=0, decoder_layerdrop=0
        )
    )
    _scramble(model)
    with torch.no_grad():
        model.model.shared.weight[[1, *range(len(plain), size)]] *= 0.2  # seldom written
        end = model.model.shared.weight[2]
        model.model.decoder.layer_norm.bias.add_(3 * end / end.square().sum())  # some translations end
    model.eval().save_pretrained(folder)
    return model


def _scramble(model: torch.nn.Module) -> None:
    """Weights so large that each token of the history matters."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" in name:
                continue  # sinusoids
            if weight.dim() > 1:
                scale = 0.25 if "shared" in name or "embed" in name else 0.5
                weight.copy_(torch.randn(weight.shape, generator=generator) * scale)
            elif "norm" not in name:
                weight.copy_(torch.randn(weight.shape, generator=generator) * 0.2)
            else:
                weight.add_(torch.randn(weight.shape, generator=generator) * 0.2)
