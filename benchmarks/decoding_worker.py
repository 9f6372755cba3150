"""One contestant of ``benchmarks/decoding.py`` in a process of its own.

    python -m benchmarks.decoding_worker SETTINGS

SETTINGS is JSON: contestant, model, precision, threads, device. Each line of standard input is a job, each
line of standard output its result, both JSON; the first line says what is ready.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor

from nmt.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.compilation import compile_steps
from nmt.config import GenerationConfig, ModelFolderConfig, SpecialIds, TransformerConfig
from nmt.engines.choose import build_decoder, choose
from nmt.engines.forks import can_fork
from nmt.engines.workers import count_workers
from nmt.many import search_forks, search_many
from nmt.models.build import build_model
from nmt.models.interface import Living, Step, StepDecoder
from nmt.models.transformer import Transformer
from nmt.search.beam import ranking_of
from nmt.shares import StepCost
from nmt.tokenizer import Tokenizer

Ids = list[int]
Translate = Callable[[Sequence[Ids], int, int, bool], list[Ids]]
"""(sources, beam size, limit, forced) -> tokens without EOS."""

RANDOM = {
    "base": TransformerConfig(
        vocab_size=32_000, d_model=512, d_ff=2048, n_heads=8, n_encoder_layers=6, n_decoder_layers=6
    ),
    "small": TransformerConfig(
        vocab_size=8_000, d_model=256, d_ff=1024, n_heads=4, n_encoder_layers=4, n_decoder_layers=2
    ),
}
"""Models of random weights, for which a length is forced: speed does not depend on the numbers."""
CPU = torch.device("cpu")
HALF_ON_A_GPU = {"bfloat16": "float16"}
"""What CTranslate2 is fastest in there."""


def load(name: str, device: torch.device = CPU) -> LoadedModel:
    """A model folder, the shipped model, or one of random weights."""
    if name not in RANDOM:
        return load_model_folder(resolve_model(None if name == "shipped" else name), device)
    torch.manual_seed(0)
    config = ModelFolderConfig(name=name, model=RANDOM[name], library_version="0")
    special = SpecialIds()
    pieces = [f"piece{id_}" for id_ in range(config.model.vocab_size)]
    pieces[special.pad], pieces[special.unk] = "<pad>", "<unk>"
    pieces[special.bos], pieces[special.eos] = "<s>", "</s>"
    model = build_model(config.model).eval().requires_grad_(False).to(device)
    tokenizer = cast(Tokenizer, SimpleNamespace(pieces=pieces, vocab_size=len(pieces), special=special))
    return LoadedModel(config, model, tokenizer, GenerationConfig(), Path())


class WithoutEos:
    """A decoder that never ends, so that all contestants take equally many steps."""

    def __init__(self, decoder: StepDecoder[Any], eos: int) -> None:
        self._decoder, self._eos = decoder, eos
        self.start, self.reorder = decoder.start, decoder.reorder
        self.rank = ranking_of(decoder)

    def step(self, state: Any, tokens_N: Tensor) -> tuple[Step, Any]:  # noqa: ANN401
        """That of the decoder, EOS forbidden."""
        step, state = self._decoder.step(state, tokens_N)
        step.logits_NV[:, self._eos] = -torch.inf
        return step, state

    def step_without(
        self,
        state: Any,  # noqa: ANN401
        tokens_N: Tensor,
        forbidden: tuple[int, ...],
        living: Living | None = None,
    ) -> tuple[Step, Any] | None:
        """The same."""
        if not hasattr(self._decoder, "step_without"):
            return None
        taken: tuple[Step, Any] | None
        taken = self._decoder.step_without(state, tokens_N, (*forbidden, self._eos), living)
        return taken


def ours(loaded: LoadedModel, engine: str, device: torch.device) -> tuple[Translate, str]:
    """Our search over one of our engines, its step compiled where it can be (``nmt compile``)."""
    compile_steps(loaded.model, choose(loaded.model, device, engine))
    choice = choose(loaded.model, device, engine)
    n_workers = 1 if choice.name == "eager" else count_workers(device)
    decoder = build_decoder(loaded.model, choice)
    special = loaded.config.special_ids
    ending = endless = None
    if n_workers > 1:
        ending = search_forks(decoder, special, n_workers)
        endless = search_forks(WithoutEos(decoder, special.eos), special, n_workers)

    def translate(sources: Sequence[Ids], beam_size: int, limit: int, forced: bool) -> list[Ids]:
        # the last step of a hypothesis is the one that gives EOS, or where it is given up
        options = GenerationConfig(
            beam_size=beam_size,
            length_normalization="mean",
            max_length_ratio=1e-6,
            max_length_offset=limit - 2,
            repair_loops=False,
        )
        chosen = WithoutEos(decoder, special.eos) if forced else decoder
        found = search_many(
            chosen,
            sources,
            options,
            special,
            device=device,
            n_workers=n_workers,
            step_cost=StepCost(1, choice.few_rows, choice.few_step_rows, choice.gain_by_threads),
            forks=endless if forced else ending,
        )
        return [list(best.tokens) for best, *_ in found]

    kind = "forks" if can_fork() else "threads"
    return translate, f"{choice.name}: {choice.why}; {n_workers} workers, {kind}"


def ctranslate2_peer(
    loaded: LoadedModel, precision: str, threads: int, workers: int, device: torch.device
) -> tuple[Translate, str]:
    """CTranslate2; it cuts a stream into batches of 64 sentences by length, less into one for each worker."""
    from benchmarks.peers.ctranslate2_model import CTranslate2Model  # noqa: PLC0415

    kind = HALF_ON_A_GPU.get(precision, precision) if device.type == "cuda" else precision
    model = CTranslate2Model.of(
        loaded, compute_type=kind, threads=threads // workers, workers=workers, device=device.type
    )

    def translate(sources: Sequence[Ids], beam_size: int, limit: int, forced: bool) -> list[Ids]:
        results = model.translate(
            sources,
            beam_size=beam_size,
            limit=limit,
            least=limit if forced else 0,
            batch_size=min(64, -(-len(sources) // workers)),
        )
        return [tokens for tokens, _ in results]

    return (
        translate,
        f"compute type {model.translator.compute_type}, {workers} x {threads // workers} threads",
    )


def huggingface_peer(loaded: LoadedModel, device: torch.device) -> tuple[Translate, str]:
    """``generate`` of transformers, in batches of at most 64 sentences of similar length."""
    from benchmarks.peers.huggingface_model import HuggingFaceModel  # noqa: PLC0415

    assert isinstance(loaded.config.model, TransformerConfig)
    model = HuggingFaceModel(cast(Transformer, loaded.model), loaded.config.model, loaded.config.special_ids)
    model.model.to(device)

    def translate(sources: Sequence[Ids], beam_size: int, limit: int, forced: bool) -> list[Ids]:
        order = sorted(range(len(sources)), key=lambda place: -len(sources[place]))
        results: dict[int, Ids] = {}
        for first in range(0, len(order), 64):
            part = order[first : first + 64]
            outputs = model.translate(
                [sources[place] for place in part], beam_size=beam_size, limit=limit, forced=forced
            )
            results.update(zip(part, outputs, strict=True))
        return [results[place] for place in range(len(sources))]

    return translate, f"{type(model.model).__name__}, float32"


def contestant(settings: dict[str, Any]) -> tuple[Translate, str]:
    """What SETTINGS name."""
    device = torch.device(settings["device"])
    loaded = load(settings["model"], device)
    name, precision, threads = settings["contestant"], settings["precision"], settings["threads"]
    if name == "ours":
        return ours(loaded, precision, device)
    if name == "eager":
        return ours(loaded, "eager", device)
    if name == "huggingface":
        return huggingface_peer(loaded, device)
    workers = 2 if name == "ctranslate2 in parallel" else 1
    return ctranslate2_peer(loaded, precision, threads, workers, device)


def forks() -> list[int]:
    """Processes that this one has made."""
    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def peak_bytes(pid: int) -> int:
    """The most resident memory that a process has had, what it shares with its parent included."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def peak_of(device: torch.device) -> int:
    """The most memory in bytes: the GPU's, as torch counts it, or that of this process and its forks."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + sum(map(peak_bytes, forks()))


def main() -> None:
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(settings["threads"])
    translate, description = contestant(settings)
    print(json.dumps({"ready": description}), flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        seconds, outputs = [], []
        for sources in job["calls"]:
            started = time.perf_counter()
            outputs += translate(sources, job["beam"], job["limit"], job["forced"])
            seconds.append(time.perf_counter() - started)
        peak = peak_of(torch.device(settings["device"]))
        print(json.dumps({"seconds": seconds, "outputs": outputs, "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main()
