"""Heads masked, to see what they were worth, or removed (Michel et al. 2019; Voita et al. 2019).

A head adds ``context_h W_h`` to the output of its attention, so a head whose rows of ``W`` are 0 is masked
exactly; nothing else of the model changes and nothing gets faster. Removing a head cuts its rows and columns
out of all four projections: the same outputs to rounding, fewer weights, less time. Each attention keeps at
least one head.

Dimensions: D d_model, H heads, E per head.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nmt.config import AlignmentConfig, KeptHeads, ModelFolderConfig, TransformerConfig
from nmt.errors import ConfigError
from nmt.explore.heads import Head
from nmt.explore.maps import KINDS, AttentionKind
from nmt.layers.attention import MultiHeadAttention
from nmt.models.build import build_model
from nmt.models.transformer import Transformer


def attentions(model: Transformer) -> dict[tuple[AttentionKind, int], MultiHeadAttention]:
    """Every attention of the model, by kind and layer."""
    found: dict[tuple[AttentionKind, int], MultiHeadAttention] = {}
    for layer, encoder_layer in enumerate(model.encoder_layers):
        found["encoder", layer] = encoder_layer.self_attention  # type: ignore[assignment]
    for layer, decoder_layer in enumerate(model.decoder_layers):
        found["decoder", layer] = decoder_layer.self_attention  # type: ignore[assignment]
        found["cross", layer] = decoder_layer.cross_attention  # type: ignore[assignment]
    return found


def all_heads(model: Transformer) -> list[Head]:
    """Every head there is, kind by kind."""
    by_kind = attentions(model)
    return [
        Head(kind, layer, head)
        for kind in KINDS
        for (its_kind, layer), attention in by_kind.items()
        if its_kind == kind
        for head in range(attention.n_heads)
    ]


def masked(model: Transformer, heads: Collection[Head]) -> Transformer:
    """A copy of the model in which ``heads`` contribute nothing."""
    changed = copy.deepcopy(model)
    for name, attention in attentions(changed).items():
        with torch.no_grad():
            for head in (head for head in heads if head[:2] == name):
                _columns(attention, head.head).zero_()
    return changed


def _columns(attention: MultiHeadAttention, head: int) -> Tensor:
    """The part of the output projection that reads one head: a view."""
    size = attention.output.in_features // attention.n_heads
    return attention.output.weight[:, head * size : (head + 1) * size]


def removed(
    model: Transformer, config: ModelFolderConfig, heads: Collection[Head]
) -> tuple[Transformer, ModelFolderConfig]:
    """A smaller model without ``heads``, and the configuration to save it with.

    Where the configuration names heads to read alignments from, their numbers follow; if none of them is
    left, all that are left are read.

    Raises:
        ConfigError: the model is none of the Transformer, lacks a head, or an attention would keep none.
    """
    architecture = config.model
    if not isinstance(architecture, TransformerConfig):
        raise ConfigError(
            f"{config.name}: heads can be removed from a Transformer, this is an {architecture.architecture}"
        )
    if architecture.positions == "alibi":
        raise ConfigError(
            f"{config.name}: positions alibi gives each head a slope of its own; none is removed"
        )
    if architecture.sources != "one":
        raise ConfigError(f"{config.name}: sources {architecture.sources} has all its heads; none is removed")
    kept: dict[tuple[AttentionKind, int], list[int]] = {
        name: [head for head in range(attention.n_heads) if Head(*name, head) not in heads]
        for name, attention in attentions(model).items()
    }
    for head in heads:
        if head[:2] not in kept or not 0 <= head.head < attentions(model)[head.kind, head.layer].n_heads:
            raise ConfigError(f"{config.name}: there is no head {head.kind} {head.layer} {head.head}")
    for (kind, layer), left in kept.items():
        if not left:
            raise ConfigError(f"{kind} attention of layer {layer} would have no head left; keep at least one")
    counts = KeptHeads(
        **{kind: tuple(len(left) for (its, _), left in kept.items() if its == kind) for kind in KINDS}
    )
    smaller = architecture.model_copy(update={"kept_heads": counts})
    result = build_model(smaller)
    assert isinstance(result, Transformer)
    weights = model.state_dict()
    for (kind, layer), left in kept.items():
        stem = _stem(kind, layer)
        rows = _rows(attentions(model)[kind, layer], left)
        for projection in ("query", "key", "value"):
            for part in ("weight", "bias"):
                name = f"{stem}.{projection}.{part}"
                weights[name] = weights[name][rows]
        weights[f"{stem}.output.weight"] = weights[f"{stem}.output.weight"][:, rows]
    result.load_state_dict(weights)
    result.eval().requires_grad_(False)
    alignment = _renumbered(config.alignment, smaller, kept)
    return result, config.model_copy(update={"model": smaller, "alignment": alignment})


def _stem(kind: AttentionKind, layer: int) -> str:
    stack = "encoder_layers" if kind == "encoder" else "decoder_layers"
    return f"{stack}.{layer}.{'cross_attention' if kind == 'cross' else 'self_attention'}"


def _rows(attention: MultiHeadAttention, heads: Sequence[int]) -> Tensor:
    """Which of the H*E inner dimensions belong to ``heads``."""
    inner = torch.arange(attention.output.in_features).view(attention.n_heads, -1)
    return inner[list(heads)].flatten()


def _renumbered(
    alignment: AlignmentConfig, model: TransformerConfig, kept: dict[tuple[AttentionKind, int], list[int]]
) -> AlignmentConfig:
    if alignment.heads is None:
        return alignment
    layer = model.alignment_layer if alignment.layer is None else alignment.layer
    left = kept["cross", layer % model.n_decoder_layers]
    numbers = tuple(left.index(head) for head in alignment.heads if head in left)
    return alignment.model_copy(update={"heads": numbers or None})


Loss = Callable[[nn.Module], float]
"""Loss of a model on a development set, less is better."""


@dataclass(frozen=True)
class Removal:
    """One round of greedy removal."""

    heads: tuple[Head, ...]
    """Those taken out in this round, the least important first."""
    n_removed: int
    """With all rounds before."""
    loss: float
    """Loss of the model without all of them."""


def importance(
    model: Transformer, heads: Sequence[Head], loss: Loss, without: Collection[Head] = ()
) -> list[float]:
    """Loss of the model when each of ``heads`` is masked, beside those it is ``without`` already."""
    base = masked(model, without)
    losses: list[float] = []
    by_name = attentions(base)
    for head in heads:
        columns = _columns(by_name[head.kind, head.layer], head.head)
        before = columns.clone()
        with torch.no_grad():
            columns.zero_()
            losses.append(loss(base))
            columns.copy_(before)
    return losses


def greedy_removal(
    model: Transformer, loss: Loss, *, n_heads: int, at_once: int, first: Sequence[float] | None = None
) -> Iterator[Removal]:
    """Take out the least important heads, a few at a time, each time measured anew.

    Args:
        model: stays as it is.
        loss: of a masked model.
        n_heads: how many to take out in all, or as many as leave one in each attention.
        at_once: how many in a round. Within one, importance is taken to add up, which it does only roughly.
        first: ``importance`` of all heads, if it is known already.
    """
    gone: list[Head] = []
    left = all_heads(model)
    known = None if first is None else list(first)
    while len(gone) < n_heads:
        candidates = [head for head in left if sum(other[:2] == head[:2] for other in left) > 1]
        if not candidates:
            return
        if known is None:
            losses = importance(model, candidates, loss, gone)
        else:
            by_head = dict(zip(left, known, strict=True))
            losses, known = [by_head[head] for head in candidates], None
        chosen: list[Head] = []
        for _, head in sorted(zip(losses, candidates, strict=True), key=lambda pair: pair[0]):
            spared = sum(other[:2] == head[:2] for other in left if other not in chosen) > 1
            if spared and len(chosen) < min(at_once, n_heads - len(gone)):
                chosen.append(head)
        gone += chosen
        left = [head for head in left if head not in chosen]
        yield Removal(tuple(chosen), len(gone), loss(masked(model, gone)))
