"""Transformers of random weights for tests of engines."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.config import TransformerConfig
from nmt.engines.keeping import Kept, kept
from nmt.engines.memory import Memory
from nmt.engines.whole import WholeShape
from nmt.models.build import build_transformer
from nmt.models.transformer import Transformer

KINDS: dict[str, dict[str, object]] = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "GELU": {"positions": "learned", "activation": "gelu", "tie_embeddings": "none"},
}


def random_transformer(**config: object) -> Transformer:
    """No two of its weights, biases or norms are alike; of width 16 with one encoder layer if not told."""
    widths = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 1}
    torch.manual_seed(0)
    model = build_transformer(TransformerConfig.model_validate({**widths, **config}))
    model.eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        parameter.mul_(2.0)
        if "norm" in name or name.endswith("bias"):
            parameter.add_(torch.rand_like(parameter))
    return model


def random_memory(shape: WholeShape, n_sentences: int, n_source: int) -> tuple[list[Tensor], Tensor]:
    """What a step that is one call reads of the sources, and their mask; the last source is padded."""
    size = n_sentences, shape.n_heads, n_source, shape.d_inner // shape.n_heads
    layers = [(torch.randn(size), torch.randn(size)) for _ in range(shape.n_layers)]
    mask_P11S = torch.zeros(n_sentences, 1, 1, n_source)
    mask_P11S[-1, :, :, 1:] = -torch.inf
    laid_out, mask_P11L = Memory.of(layers, mask_P11S).laid_out(shape.kept)
    return flat(laid_out), mask_P11L


def random_past(
    shape: WholeShape, behind_P: Sequence[int] | Tensor, n_tokens: int, beam_size: int
) -> list[Tensor]:
    """What sentences have read, but for the token of each that is read now.

    Of one that is behind there are zeros at times to come; in the place of the token, and after all times,
    there is nothing yet.
    """
    n_places = len(behind_P)
    size = n_places, shape.n_heads, n_tokens + 3, beam_size, shape.d_inner // shape.n_heads

    def parts() -> Kept:
        found = kept(torch.randn(size), shape.kept)
        for part in found:
            nothing = torch.nan if part.is_floating_point() else 99
            part[:, :, n_tokens:] = nothing
            for place, behind in enumerate(behind_P):
                part[place, :, n_tokens - int(behind) : n_tokens] = 0
                part[place, :, n_tokens - 1 - int(behind)] = nothing
        return found

    return flat([(parts(), parts()) for _ in range(shape.n_layers)])


def flat(layers: Sequence[tuple[Kept, Kept]]) -> list[Tensor]:
    """In the order that a step takes them."""
    return [part for layer in layers for parts in layer for part in parts]


def random_words(shape: WholeShape, n_rows: int) -> tuple[Tensor, list[Tensor]]:
    """Tokens, and what such a step reads of the vocabulary; nearly every other token is forbidden."""
    forbidden_V = torch.zeros(shape.vocab_size)
    forbidden_V[torch.rand(shape.vocab_size) < 0.4] = -torch.inf
    embeddings = [torch.randn(size, shape.d_model) for size in (shape.vocab_size, shape.n_positions)]
    forbidden_U = (forbidden_V < 0).nonzero().flatten()
    return torch.randint(shape.vocab_size, (n_rows,)), [*embeddings, forbidden_V, forbidden_U]
