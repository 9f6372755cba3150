"""One trainer of ``benchmarks/training.py`` in a process of its own, on batches given to it.

    python -m benchmarks.training_peers NAME SETTINGS BATCHES

SETTINGS is JSON: a shape, a precision and a kind of attention. For each line "N" on standard input it trains
on batch N and answers with a line of JSON: seconds, loss, peak memory (the process's, libraries included).
All have the same architecture (post-norm, ReLU, shared embeddings, dropout everywhere), the same loss (label
smoothing 0.1), Adam, and clipping at norm 1.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from nmt.batch import Batch
from nmt.layers.positional_encoding import SinusoidalPositionalEncoding

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SMOOTHING, CLIP, BETAS, EPS, RATE = 0.1, 1.0, (0.9, 0.98), 1e-9, 1e-4
WARM_UP = 2
"""Updates before anything is timed."""
Trainer = Callable[[Batch], float]
"""One update; returns the mean loss of its target tokens."""


def autocast(precision: str) -> AbstractContextManager[Any]:
    """bfloat16 products, or nothing."""
    return torch.autocast("cpu", torch.bfloat16) if precision == "bf16" else nullcontext()


def passerelle(shape: dict[str, Any], precision: str, variant: str) -> Trainer:  # noqa: ARG001 - has none
    """This project: the step that ``nmt train`` takes."""
    from nmt.allocator import keep_freed_memory  # noqa: PLC0415
    from nmt.config import TransformerConfig  # noqa: PLC0415
    from nmt.models.build import build_model  # noqa: PLC0415
    from training.distributed import ALONE  # noqa: PLC0415
    from training.objective import Objective  # noqa: PLC0415
    from training.recipe import TrainingConfig  # noqa: PLC0415
    from training.step import TeacherForcedLoss, TrainingStep  # noqa: PLC0415

    keep_freed_memory()
    names = ("vocab_size", "d_model", "d_ff", "n_heads")
    model = build_model(
        TransformerConfig(
            **{name: shape[name] for name in names},
            n_encoder_layers=shape["n_layers"],
            n_decoder_layers=shape["n_layers"],
            dropout=shape["dropout"],
            attention_dropout=shape["dropout"],
            activation_dropout=shape["dropout"],
            norm="post",
        )
    )
    options = TrainingConfig(max_updates=10**6, learning_rate=RATE, clip_norm=CLIP, label_smoothing=SMOOTHING)
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=BETAS, eps=EPS, weight_decay=0.0, fused=True)
    loss = TeacherForcedLoss(model, Objective(SMOOTHING), bf16=precision == "bf16", compiled=False)
    step = TrainingStep(loss, adam, options, ALONE)
    updates = iter(range(1, 10**6))

    def train(batch: Batch) -> float:
        sums = step([batch], next(updates)).sums
        return float(sums.smoothed) / sums.n_tokens

    return train


def marian(shape: dict[str, Any], precision: str, variant: str) -> Trainer:
    """Hugging Face transformers' Marian classes; its own label smoother, as Seq2SeqTrainer uses it."""
    from transformers import MarianConfig, MarianMTModel  # noqa: PLC0415
    from transformers.trainer_pt_utils import LabelSmoother  # noqa: PLC0415

    config = MarianConfig(
        vocab_size=shape["vocab_size"],
        d_model=shape["d_model"],
        encoder_layers=shape["n_layers"],
        decoder_layers=shape["n_layers"],
        encoder_ffn_dim=shape["d_ff"],
        decoder_ffn_dim=shape["d_ff"],
        encoder_attention_heads=shape["n_heads"],
        decoder_attention_heads=shape["n_heads"],
        activation_function="relu",
        dropout=shape["dropout"],
        attention_dropout=shape["dropout"],
        activation_dropout=shape["dropout"],
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=PAD,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        use_cache=False,
    )
    config._attn_implementation = variant
    model = MarianMTModel(config).train()
    smoother = LabelSmoother(epsilon=SMOOTHING)
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=BETAS, eps=EPS, weight_decay=0.0, fused=True)

    def train(batch: Batch) -> float:
        with autocast(precision):
            output = model(
                input_ids=batch.source_BS,
                attention_mask=batch.source_mask_BS.long(),
                decoder_input_ids=batch.target_in_BT,
                use_cache=False,
            )
        labels_BT = batch.target_out_BT.masked_fill(~batch.target_mask_BT, -100)
        loss = smoother(output, labels_BT)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()
        adam.zero_grad(set_to_none=True)
        return float(loss.detach())

    return train


def joeynmt(shape: dict[str, Any], precision: str, variant: str) -> Trainer:  # noqa: ARG001 - has none
    """JoeyNMT: its model, batch, loss, optimizer and clipping builders, in the order of its training step."""
    from joeynmt.batch import Batch as JoeyBatch  # noqa: PLC0415
    from joeynmt.builders import build_gradient_clipper, build_optimizer  # noqa: PLC0415
    from joeynmt.model import build_model  # noqa: PLC0415
    from joeynmt.vocabulary import Vocabulary  # noqa: PLC0415

    special = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
        unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None, lang_tags=[],
    )  # fmt: skip
    vocabulary = sized_vocabulary(special, shape["vocab_size"], Vocabulary)
    part = {
        "type": "transformer", "num_layers": shape["n_layers"], "num_heads": shape["n_heads"],
        "hidden_size": shape["d_model"], "ff_size": shape["d_ff"], "dropout": shape["dropout"],
        "layer_norm": "post", "activation": "relu",
        "embeddings": {"embedding_dim": shape["d_model"], "scale": True, "dropout": shape["dropout"]},
    }  # fmt: skip
    model = build_model(
        {"encoder": part, "decoder": part, "tied_embeddings": True, "tied_softmax": True},
        src_vocab=vocabulary,
        trg_vocab=vocabulary,
    )
    model.loss_function = ("crossentropy", SMOOTHING)
    adam = build_optimizer(
        {"optimizer": "adam", "learning_rate": RATE, "adam_betas": BETAS}, model.parameters()
    )
    clip = build_gradient_clipper({"clip_grad_val": None, "clip_grad_norm": CLIP})
    swap = torch.tensor([1, 0])  # JoeyNMT counts <unk> before <pad>

    def ids(ids_BT: Tensor) -> Tensor:
        return torch.where(ids_BT < 2, swap[ids_BT.clamp(max=1)], ids_BT)

    def train(batch: Batch) -> float:
        target_BT = torch.cat([batch.target_in_BT[:, :1], batch.target_out_BT], dim=1)
        model.train()
        its_batch = JoeyBatch(
            src=ids(batch.source_BS),
            src_length=batch.source_mask_BS.sum(dim=1),
            src_prompt_mask=None,
            trg=ids(target_BT),
            trg_prompt_mask=None,
            indices=torch.arange(batch.size),
            device=torch.device("cpu"),
            pad_index=1,
            eos_index=3,
        )
        its_batch.sort_by_src_length()
        with autocast(precision):
            batch_loss, _, _, _ = model(return_type="loss", **vars(its_batch))
        loss = its_batch.normalize(batch_loss, normalization="tokens")
        loss.backward()
        clip(parameters=model.parameters())
        adam.step()
        model.zero_grad()
        return loss.item()

    return train


def plain_torch(shape: dict[str, Any], precision: str, variant: str) -> Trainer:
    """torch.nn.Transformer with what torch's own tutorials put around it."""
    model = PlainTransformer(shape).train()
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=BETAS, eps=EPS, weight_decay=0.0, fused=True)
    kernels = [SDPBackend.MATH] if variant == "math" else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]

    def train(batch: Batch) -> float:
        with autocast(precision), sdpa_kernel(kernels):
            logits_BTV = model(batch.source_BS, batch.source_mask_BS, batch.target_in_BT)
            labels_BT = batch.target_out_BT.masked_fill(~batch.target_mask_BT, -100)
            loss = F.cross_entropy(
                logits_BTV.flatten(0, 1), labels_BT.flatten(), label_smoothing=SMOOTHING, ignore_index=-100
            )
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        adam.step()
        adam.zero_grad(set_to_none=True)
        return float(loss.detach())

    return train


class PlainTransformer(nn.Module):
    """torch.nn.Transformer between a shared embedding table and its transpose."""

    def __init__(self, shape: dict[str, Any]) -> None:
        super().__init__()
        d_model = shape["d_model"]
        self.embedding = nn.Embedding(shape["vocab_size"], d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.scale = d_model**0.5
        self.positions = SinusoidalPositionalEncoding(d_model, 512)
        self.dropout = nn.Dropout(shape["dropout"])
        self.transformer = nn.Transformer(
            d_model,
            shape["n_heads"],
            shape["n_layers"],
            shape["n_layers"],
            shape["d_ff"],
            shape["dropout"],
            batch_first=True,
        )

    def forward(self, source_BS: Tensor, source_mask_BS: Tensor, target_BT: Tensor) -> Tensor:
        """Ids to logits (B, T, V)."""
        source_BSD, target_BTD = (
            self.dropout(self.positions(self.embedding(ids) * self.scale)) for ids in (source_BS, target_BT)
        )
        hidden_BTD = self.transformer(
            source_BSD,
            target_BTD,
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(target_BT.size(1)),
            src_key_padding_mask=torch.zeros_like(source_mask_BS, dtype=torch.float32).masked_fill(
                ~source_mask_BS, float("-inf")
            ),
            memory_key_padding_mask=torch.zeros_like(source_mask_BS, dtype=torch.float32).masked_fill(
                ~source_mask_BS, float("-inf")
            ),
            tgt_is_causal=True,
        )
        return F.linear(hidden_BTD, self.embedding.weight)


def sized_vocabulary(special: SimpleNamespace, size: int, kind: type) -> Any:  # noqa: ANN401 - a peer's class
    """JoeyNMT's vocabulary of so many tokens, without the quadratic time that building it takes."""
    vocabulary = kind([], special)
    vocabulary._itos += [str(index) for index in range(len(vocabulary._itos), size)]
    return vocabulary


TRAINERS: dict[str, tuple[Callable[[dict[str, Any], str, str], Trainer], tuple[str, ...]]] = {
    "passerelle": (passerelle, ("own",)),
    "transformers (Marian)": (marian, ("sdpa", "eager")),
    "JoeyNMT": (joeynmt, ("own",)),
    "torch.nn.Transformer": (plain_torch, ("fused", "math")),
}
"""Name -> how to build it, and the kinds of attention of which it takes the faster one."""


def main() -> None:
    """Serve standard input."""
    name, settings_json, path = sys.argv[1:]
    settings = json.loads(settings_json)
    tensors = load_file(Path(path))
    keys = ("source", "source_mask", "target_in", "target_out", "target_mask")
    batches = [
        Batch(*(tensors[f"{index}.{key}"] for key in keys)) for index in range(len(tensors) // len(keys))
    ]
    build, variants = TRAINERS[name]
    torch.manual_seed(1)
    variant = settings.get("variant") or variants[0]
    train = build(settings["shape"], settings["precision"], variant)
    seconds = 0.0
    before_mib = peak_mib()
    for _ in range(WARM_UP):
        began_s = time.perf_counter()
        train(batches[0])
        seconds = time.perf_counter() - began_s
    print(json.dumps({"variant": variant, "seconds": seconds, "before_mib": before_mib}), flush=True)
    for line in sys.stdin:
        batch = batches[int(line)]
        began_s = time.perf_counter()
        loss = train(batch)
        seconds = time.perf_counter() - began_s
        print(json.dumps({"seconds": seconds, "loss": loss, "peak_mib": peak_mib()}), flush=True)


def peak_mib() -> float:
    """The largest resident set so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
