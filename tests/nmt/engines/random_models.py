"""Transformers of random weights for tests of engines."""

from __future__ import annotations

import torch

from nmt.config import TransformerConfig
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
