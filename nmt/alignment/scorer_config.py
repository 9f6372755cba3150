"""``aligner.json`` of a model folder: the link scorer's sizes, when it links, and what it was trained on."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from nmt.config import StrictModel

Agreement = Literal["mean", "geometric"]


class LinkRule(StrictModel):
    """When two words are linked by default, from their shares of each other."""

    agreement: Agreement = "geometric"
    """How the two directions' shares become one score: their arithmetic or geometric mean."""
    threshold: float = Field(0.3, gt=0, lt=1)
    """Words whose score is at least this are linked."""


class ScorerConfig(StrictModel):
    """Sizes of ``LinkScorer``."""

    d_model: int = Field(gt=0)
    """Width of the translation model."""
    vocab_size: int = Field(gt=0)
    """The same."""
    d_link: int = Field(192, gt=0)
    d_ff: int = Field(384, gt=0)
    n_heads: int = Field(4, gt=0)
    n_scores: int = Field(8, gt=0)
    """Scores of each pair of positions, each of d_link / n_scores dimensions."""
    d_neighbours: int = Field(16, gt=0)
    """Channels of the convolutions over neighbouring pairs."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, parts in (("n_heads", self.n_heads), ("n_scores", self.n_scores)):
            if self.d_link % parts:
                raise ValueError(f"d_link {self.d_link} is not a multiple of {name} {parts}")
        return self


class AlignerConfig(StrictModel):
    """All of ``aligner.json``."""

    format_version: Literal[1] = 1
    weights_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Checksum of the ``model.safetensors`` whose states it reads."""
    scorer: ScorerConfig
    rule: LinkRule = LinkRule()
    trained_on: dict[str, Any]
    measured: dict[str, Any]
    """AER on development sets, by how the links follow."""
