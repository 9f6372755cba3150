"""``nmt align-train``: train a link scorer beside a frozen translation model, and put it into its folder.

The model's states are read once for each pair, in a forced pass without gradients, and the scorer learns the
links of a statistical aligner: each target piece is a distribution over the source pieces that it is linked
to, or null, and the other way round (Garg et al. 2019, section 3.3, in both directions). The translation
model does not change, so neither do its translations. Afterwards the rule that turns shares into links is
chosen on gold alignments of development sets.

Dimensions: B sentences, S source pieces, T target pieces.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nmt.alignment.aligner import length_batches
from nmt.alignment.scorer import LinkLogProbs, LinkScorer, States, TrainedAligner
from nmt.alignment.scorer_config import AlignerConfig, LinkRule, ScorerConfig
from nmt.alignment.spelling import spelling_tables
from nmt.alignment.states import read_states
from nmt.commands.progress import progress
from nmt.errors import ConfigError, NumericalError
from nmt.model_folder.checkpoint import (
    TOKENIZER,
    WEIGHTS,
    LoadedModel,
    load_model_folder,
    resolve_model,
    save_aligner,
)
from nmt.model_folder.files import sha256
from nmt.models.transformer import Transformer
from training.align.data import Example, LinkedBatch, collate, examples, read_lines
from training.align.rule import GoldSet, choose_rule
from training.provenance import provenance, public_path
from training.speed import has_bf16_units

EXAMPLES_AT_ONCE = 2000
"""Sorted by length among themselves."""
BATCH_TOKENS = 1000
WARM_UP = 100
WEIGHT_DECAY = 0.01
MOST_NORM = 1.0


@dataclass(frozen=True)
class AlignTrainingOptions:
    """How a scorer is trained."""

    pairs: int = 150_000
    learning_rate: float = 2e-3
    seed: int = 1
    max_minutes: float = math.inf
    """The rate falls to its end in this time, however many pairs are left."""
    is_reversed: bool = False
    """The links and the gold are of the other direction: their sides are swapped."""
    init_from: str | Path | None = None
    """Begin with the scorer of this model, not with random weights: of the same model, for more pairs, or of
    the one whose weights it began with."""


def align_train(
    model: str | Path,
    links: Path,
    *,
    gold: Sequence[GoldSet] = (),
    options: AlignTrainingOptions | None = None,
    save_to: Path | None = None,
) -> AlignerConfig:
    """Train a scorer on ``links`` and add it to the model's folder.

    Args:
        model: a folder or the name of a model that ships.
        links: see ``training.align.data``.
        gold: development sets, on which the rule is chosen; none: the default rule.
        options: None: the defaults.
        save_to: another folder of the same model; None: the model's own.

    Raises:
        ConfigError: the model is no Transformer, or ``init_from`` has no scorer that fits it.
        DataError: the links are not readable.
        NumericalError: the loss is NaN.
    """
    options = options or AlignTrainingOptions()
    folder = resolve_model(model)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loaded = load_model_folder(folder, device, with_aligner=False)
    if not isinstance(loaded.model, Transformer):
        raise ConfigError(f"{folder}: the scorer reads a Transformer's states, and this model is none")
    if getattr(loaded.config.model, "source_vocab_size", None) is not None:
        raise ConfigError(f"{folder}: each side has a vocabulary of its own; the scorer needs a common one")
    first = None if options.init_from is None else _ready_scorer(options.init_from, loaded, loaded.model)
    lines = read_lines(links)
    chosen = random.Random(options.seed).sample(lines, min(options.pairs, len(lines)))
    started = time.perf_counter()
    scorer, loss, n_seen = train_scorer(loaded, loaded.model, chosen, options, device, first)
    config = AlignerConfig(
        weights_sha256=sha256(folder / WEIGHTS),
        scorer=scorer_config(loaded.model) if first is None else first.config.scorer,
        trained_on={
            "links": public_path(links),
            "links_sha256": sha256(links),
            "pairs": n_seen,
            "before": None if first is None else first.config.trained_on,
            "loss": round(loss, 4),
            "seconds": round(time.perf_counter() - started),
            **provenance(),
        },
        measured={},
    )
    scorer.eval().requires_grad_(False)
    trained = TrainedAligner(config, scorer)
    if gold:
        own = [gold_set.reversed() for gold_set in gold] if options.is_reversed else gold
        rule, measured = choose_rule(loaded, trained, own, device)
        config = config.model_copy(update={"rule": rule, "measured": measured})
    save_aligner(save_to or folder, TrainedAligner(config, scorer))
    return config


def train_scorer(
    loaded: LoadedModel,
    model: Transformer,
    lines: Sequence[str],
    options: AlignTrainingOptions,
    device: torch.device,
    first: TrainedAligner | None = None,
) -> tuple[LinkScorer, float, int]:
    """One pass over ``lines``, or what there is time for; ``first``: the scorer to begin with.

    Returns:
        The scorer, its last loss, a running mean, and how many lines were seen.
    """
    started = time.monotonic()
    torch.manual_seed(options.seed)
    scorer = _new_scorer(loaded, model) if first is None else first.scorer
    scorer.to(device).train().requires_grad_(True)
    optimizer = torch.optim.AdamW(
        scorer.parameters(), lr=options.learning_rate, betas=(0.9, 0.98), weight_decay=WEIGHT_DECAY
    )
    shuffled = random.Random(options.seed)
    bf16 = has_bf16_units(device)
    running, n_updates = 0.0, 0
    with progress(f"links of {loaded.config.name}", len(lines)) as advance:
        for done in range(0, len(lines), EXAMPLES_AT_ONCE):
            spent = (time.monotonic() - started) / (60 * options.max_minutes)
            if spent >= 1:
                return scorer, running, done
            chunk = lines[done : done + EXAMPLES_AT_ONCE]
            part = max((done + len(chunk) * 0.5) / len(lines), spent)
            made = list(
                examples(
                    chunk,
                    (loaded.source_tokenizer, loaded.tokenizer),
                    loaded.config,
                    options.seed + done,
                    is_reversed=options.is_reversed,
                )
            )
            for linked in _batches(made, loaded, shuffled):
                rate = options.learning_rate * min(1.0, (n_updates + 1) / WARM_UP) * max(0.02, 1 - part)
                for group in optimizer.param_groups:
                    group["lr"] = rate
                with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bf16):
                    states = read_states(model, linked.batch.to(device))
                loss = _update(scorer, states, linked, optimizer, bf16=bf16)
                n_updates += 1
                running = loss if n_updates == 1 else 0.98 * running + 0.02 * loss
            advance(len(chunk), f"loss {running:.3f}")
    return scorer, running, len(lines)


def _ready_scorer(init_from: str | Path, loaded: LoadedModel, model: Transformer) -> TrainedAligner:
    """The scorer of a model, to go on with beside ``loaded``."""
    folder = resolve_model(init_from)
    ready = load_model_folder(folder).aligner
    if ready is None:
        raise ConfigError(f"{folder}: there is no scorer to begin with; leave --init-from out")
    same_pieces = sha256(folder / TOKENIZER) == sha256(loaded.folder / TOKENIZER)
    if not same_pieces or ready.config.scorer.d_model != scorer_config(model).d_model:
        raise ConfigError(
            f"{folder}: its scorer reads other sub-words or other states than {loaded.folder} has; "
            "leave --init-from out"
        )
    return ready


def _new_scorer(loaded: LoadedModel, model: Transformer) -> LinkScorer:
    """One of random weights."""
    scorer = LinkScorer(scorer_config(model))
    for table, values in zip(
        (scorer.spelling_V, scorer.stem_V), spelling_tables(loaded.tokenizer), strict=True
    ):
        table.copy_(values)
    return scorer


def scorer_config(model: Transformer) -> ScorerConfig:
    """The usual sizes beside ``model``."""
    vocab_size, d_model = model.output.weight_VD.shape
    return ScorerConfig(d_model=d_model, vocab_size=vocab_size)


def _batches(made: Sequence[Example], loaded: LoadedModel, shuffled: random.Random) -> list[LinkedBatch]:
    rows = length_batches([example.length + 1 for example in made], BATCH_TOKENS)
    shuffled.shuffle(rows)
    return [collate([made[row] for row in group], loaded.config) for group in rows]


def _update(
    scorer: LinkScorer, states: States, linked: LinkedBatch, optimizer: torch.optim.Optimizer, *, bf16: bool
) -> float:
    """One update; returns the loss."""
    device = states.memory_BSD.device
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        log_probs = scorer(states)
    loss = link_loss(log_probs, states, linked.forward_BTS.to(device), linked.backward_BTS.to(device))
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(scorer.parameters(), MOST_NORM)
    optimizer.step()
    value = float(loss.detach())
    if math.isnan(value):
        raise NumericalError("the loss of the link scorer is NaN: lower --learning-rate")
    return value


def link_loss(log_probs: LinkLogProbs, states: States, forward_BTS: Tensor, backward_BTS: Tensor) -> Tensor:
    """Cross-entropy of both directions, each a mean over its real pieces.

    A piece's target is uniform over the pieces it is linked to; one without links points to null.

    Args:
        log_probs: of the scorer.
        states: what it read, for the masks.
        forward_BTS: the links that each target piece has, bool.
        backward_BTS: the links that each source piece has, bool.
    """
    forward = _cross_entropy(log_probs.forward_BTS, forward_BTS, 2)[states.target_mask_BT].mean()
    backward = _cross_entropy(log_probs.backward_BTS, backward_BTS, 1)[states.source_mask_BS].mean()
    return forward + backward


def _cross_entropy(log_probs: Tensor, linked: Tensor, dim: int) -> Tensor:
    """Summed over ``dim``, at the end of which the null position stands."""
    count = linked.sum(dim=dim, keepdim=True)
    target = torch.cat([linked / count.clamp(min=1), (count == 0).float()], dim=dim)
    return -(target * log_probs).sum(dim=dim)


def describe(config: AlignerConfig) -> dict[str, Any]:
    """Lines that the command prints."""
    return {"rule": config.rule.model_dump(), "measured": config.measured, "trained_on": config.trained_on}


__all__ = [
    "AlignTrainingOptions",
    "GoldSet",
    "LinkRule",
    "align_train",
    "describe",
    "link_loss",
    "train_scorer",
]
