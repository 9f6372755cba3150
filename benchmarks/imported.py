"""An imported OPUS-MT model beside CTranslate2's own conversion of the same checkpoint.

    python -m benchmarks.imported --out benchmarks/results/imported.json

Checkpoints have random weights in the shapes of opus-mt (base) and opus-mt-tc-big. ``nmt import`` and our
export make one CTranslate2 model, ``ctranslate2.converters.TransformersConverter`` the other. Both search for
the same sentences, rounds interleaved, each translation of a fixed length. Needs transformers.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ctranslate2
import torch
from transformers import MarianConfig, MarianMTModel

from nmt.importers.read import import_checkpoint
from nmt.model_folder.checkpoint import load_model_folder, resolve_model
from nmt.searchers.ctranslate2 import load_ctranslate2
from nmt.tokenizer import pieces_of

SHAPES = {"opus-mt base": (6, 512, 8, 2048, 59_514), "opus-mt tc-big": (6, 1024, 16, 4096, 54_776)}
"""Layers of each side, d_model, heads, d_ff, vocabulary."""
LENGTH = 24
"""Tokens of each source and of each translation."""


def main() -> None:
    """Make the checkpoints, time both, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compute-type", default="int8")
    options = parser.parse_args()
    record: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip(),
        "machine": {"processor": platform.processor() or platform.machine(), "threads": 1},
        "versions": {name: version(name) for name in ("ctranslate2", "transformers", "torch")},
        "options": {key: value for key, value in vars(options).items() if key != "out"},
        "shapes": {},
    }
    torch.set_num_threads(1)
    for name, shape in SHAPES.items():
        with tempfile.TemporaryDirectory() as made:
            record["shapes"][name] = compare(Path(made), shape, options)
        print(name, json.dumps(record["shapes"][name]))
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def compare(
    folder: Path, shape: tuple[int, int, int, int, int], options: argparse.Namespace
) -> dict[str, Any]:
    """Seconds of both for the same sentences, and whether their tokens are equal."""
    make(folder / "theirs", *shape)
    loaded = load_model_folder(
        import_checkpoint(str(folder / "theirs"), folder / "ours", read="en", write="fr")
    )
    ours = load_ctranslate2(loaded, torch.device("cpu"), options.compute_type, 1)
    ctranslate2.converters.TransformersConverter(str(folder / "theirs")).convert(str(folder / "converted"))
    theirs = ctranslate2.Translator(
        str(folder / "converted"), compute_type=options.compute_type, inter_threads=1, intra_threads=1
    )
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(2, 12_000, (options.sentences, LENGTH), generator=generator).tolist()
    asked = [[loaded.source_tokenizer.pieces[id_] for id_ in row] for row in ids]
    fixed = {"beam_size": 4, "max_decoding_length": LENGTH, "min_decoding_length": LENGTH}
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    tokens: dict[str, Any] = {}
    for _ in range(options.rounds):
        for who, translator, end in (("ours", ours, []), ("theirs", theirs, ["</s>"])):
            began = time.perf_counter()
            # our export adds the end of the source itself, theirs is told to by the caller
            found = translator.translate_batch([[*row, *end] for row in asked], **fixed)
            seconds[who].append(time.perf_counter() - began)
            tokens[who] = [answer.hypotheses[0] for answer in found]
    medians = {who: statistics.median(values) for who, values in seconds.items()}
    equal = sum(one == other for one, other in zip(tokens["ours"], tokens["theirs"], strict=True))
    return {
        "seconds": {who: round(value, 3) for who, value in medians.items()},
        "ratio": round(medians["ours"] / medians["theirs"], 3),
        "equal": equal,
        "of": options.sentences,
    }


def make(folder: Path, n_layers: int, d_model: int, n_heads: int, d_ff: int, vocab_size: int) -> None:
    """A MarianMT checkpoint with the tokenizer of the model that ships and pieces that fill it up."""
    folder.mkdir()
    tokenizer = resolve_model("general") / "tokenizer.model"
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(tokenizer.read_bytes())
    known = [piece for piece in pieces_of(tokenizer) if piece not in {"<pad>", "<unk>", "<s>", "</s>"}]
    pieces = ["</s>", "<unk>", *known]
    pieces += [f"madeup{index}" for index in range(vocab_size - len(pieces) - 1)]
    pieces.append("<pad>")
    (folder / "vocab.json").write_text(json.dumps({piece: id_ for id_, piece in enumerate(pieces)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "fr"}))
    torch.manual_seed(1)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=vocab_size,
            d_model=d_model,
            encoder_layers=n_layers,
            decoder_layers=n_layers,
            encoder_attention_heads=n_heads,
            decoder_attention_heads=n_heads,
            encoder_ffn_dim=d_ff,
            decoder_ffn_dim=d_ff,
            activation_function="swish",
            scale_embedding=True,
            pad_token_id=vocab_size - 1,
            eos_token_id=0,
            decoder_start_token_id=vocab_size - 1,
            max_position_embeddings=512,
            init_std=0.05,
        )
    )
    model.save_pretrained(folder)


if __name__ == "__main__":
    main()
