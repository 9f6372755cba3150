"""CTranslate2 on our weights, converted by its public model-spec API (``nmt.export.ctranslate2``).

    python benchmarks/peers/ctranslate2_model.py [MODEL] --source FILE [--lines N]

checks the conversion on real sentences: how many have the very tokens of the eager engine, greedy and with a
beam, and by how much the scores of those differ.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ctranslate2
import torch

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.export.ctranslate2 import export_ctranslate2
from nmt.model_folder.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.search import search

Ids = Sequence[int]


@dataclass(frozen=True)
class CTranslate2Model:
    """A converted model in memory. ``compute_type``: float32, int8, bfloat16 and others of CTranslate2."""

    translator: Any
    pieces: list[str]
    ids: dict[str, int]

    @classmethod
    def of(
        cls, loaded: LoadedModel, *, compute_type: str, threads: int, workers: int = 1, device: str = "cpu"
    ) -> CTranslate2Model:
        """Convert and load; nothing stays on the disk. ``workers`` batches run at once, ``threads`` each."""
        with tempfile.TemporaryDirectory() as folder:
            export_ctranslate2(loaded, Path(folder))
            translator = ctranslate2.Translator(
                folder, device=device, compute_type=compute_type, intra_threads=threads, inter_threads=workers
            )
        pieces = loaded.tokenizer.pieces
        return cls(translator, pieces, {piece: id_ for id_, piece in enumerate(pieces)})

    def translate(
        self, sources: Sequence[Ids], *, beam_size: int, limit: int, batch_size: int = 0, least: int = 0
    ) -> list[tuple[list[int], float]]:
        """The best translation of each sentence: tokens without EOS, and mean log-probability.

        Args:
            sources: token ids without EOS.
            beam_size: 1 is greedy.
            limit: most tokens, EOS counted.
            batch_size: sentences at once, by descending length; 0: all.
            least: fewest tokens, EOS counted; as many as ``limit`` force a length.
        """
        results = self.translator.translate_batch(
            [[self.pieces[id_] for id_ in source] for source in sources],
            beam_size=beam_size,
            length_penalty=1,
            max_batch_size=batch_size,
            min_decoding_length=least,
            max_decoding_length=limit,
            return_scores=True,
        )
        return [([self.ids[piece] for piece in result.hypotheses[0]], result.scores[0]) for result in results]


def check(loaded: LoadedModel, lines: Sequence[str], beam_size: int) -> dict[str, Any]:
    """Compare with the eager engine, in float32, by mean log-probability."""
    sources = loaded.tokenizer.encode_batch(lines)
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    options = GenerationConfig(
        beam_size=beam_size,
        length_normalization="mean",
        max_length_ratio=1e-6,
        max_length_offset=254,
        repair_loops=False,
    )
    ours: dict[int, tuple[list[int], float]] = {}
    for first in range(0, len(order), 32):
        part = order[first : first + 32]
        batch = Batch.from_ids([sources[index] for index in part], special=loaded.config.special_ids)
        for index, (best, *_) in zip(
            part, search(loaded.model, batch, options, loaded.config.special_ids), strict=True
        ):
            ours[index] = (list(best.tokens), best.score)
    peer = CTranslate2Model.of(loaded, compute_type="float32", threads=torch.get_num_threads())
    theirs = peer.translate(sources, beam_size=beam_size, limit=256, batch_size=32)
    same = [index for index in range(len(lines)) if ours[index][0] == theirs[index][0]]
    return {
        "beam": beam_size,
        "sentences": len(lines),
        "same_tokens": len(same),
        "largest_score_difference": max(abs(ours[index][1] - theirs[index][1]) for index in same),
        "score_differences_of_others": [
            ours[index][1] - theirs[index][1] for index in range(len(lines)) if index not in set(same)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", help="a model folder; by default the one that ships")
    parser.add_argument("--source", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--lines", type=int, default=200, help="evenly spread over the file")
    options = parser.parse_args()
    loaded = load_model_folder(resolve_model(options.model))
    lines = [line for line in options.source.read_text(encoding="utf-8").splitlines() if line.strip()]
    lines = lines[:: max(1, len(lines) // options.lines)][: options.lines]
    for beam_size in (1, 4, 5):
        print(json.dumps(check(loaded, lines, beam_size)), flush=True)


if __name__ == "__main__":
    main()
