"""What every importer makes: a Transformer's sizes and weights under our names, and its tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from nmt.config import GenerationConfig, LanguagePieces, SpecialIds, TransformerConfig
from nmt.errors import ModelFolderError
from nmt.model_folder.vocabulary import StoredVocabulary


@dataclass(frozen=True)
class Checkpoint:
    """A model of another toolkit, ready to be written as a model folder."""

    kind: str
    """Of what toolkit, for the card."""
    config: TransformerConfig
    special: SpecialIds
    weights: Mapping[str, Tensor]
    """By the names of ``Transformer.state_dict``; tied ones under each of their names."""
    tokenizer_file: Path
    source_tokenizer_file: Path | None
    vocabulary: StoredVocabulary | None
    languages: tuple[str, str]
    """To begin with; BCP 47."""
    language_pieces: LanguagePieces | None = None
    generation: GenerationConfig = field(default_factory=GenerationConfig)
    max_source_tokens: int = 256
    licence: str | None = None
    remarks: tuple[str, ...] = field(default_factory=tuple)
    """What was changed or left out, for the card."""


class Names:
    """Weights by the checkpoint's own names, each taken once.

    Args:
        weights: all of the checkpoint's.
        where: begins error messages.
    """

    def __init__(self, weights: Mapping[str, Tensor], where: str) -> None:
        self._weights = dict(weights)
        self._where = where

    def __contains__(self, name: str) -> bool:
        return name in self._weights

    def take(self, name: str, *shape: int) -> Tensor:
        """The weight, which must have this shape where one is given.

        Raises:
            ModelFolderError: there is none, of another shape, or one that is not finite.
        """
        if name not in self._weights:
            raise ModelFolderError(f"{self._where}: lacks the weight {name}; half a download? fetch it again")
        weight = self._weights.pop(name)
        if shape and tuple(weight.shape) != shape:
            raise ModelFolderError(
                f"{self._where}: weight {name} is {list(weight.shape)}, the configuration asks for "
                f"{list(shape)}"
            )
        if weight.is_floating_point() and not bool(torch.isfinite(weight).all()):
            raise ModelFolderError(f"{self._where}: weight {name} holds NaN or infinity; fetch it again")
        return weight

    def take_equal(self, names: list[str], *shape: int) -> Tensor:
        """The one weight that goes by several names, of which some may be absent.

        Raises:
            ModelFolderError: none is there, or they differ though the configuration ties them.
        """
        present = [name for name in names if name in self]
        first, *others = present or names[:1]
        weight = self.take(first, *shape)
        for other in others:
            if not torch.equal(weight, self.take(other, *shape)):
                raise ModelFolderError(
                    f"{self._where}: the configuration says that {first} and {other} are one weight, but "
                    "they differ, as in some faulty conversions; take another revision or the archive"
                )
        return weight

    def drop(self, *names: str) -> None:
        """Leave out what is computed anew."""
        for name in names:
            self._weights.pop(name, None)

    def finish(self) -> None:
        """Raise ``ModelFolderError`` where a weight is left that no one has taken."""
        if self._weights:
            some = ", ".join(sorted(self._weights)[:3])
            raise ModelFolderError(
                f"{self._where}: {len(self._weights)} weights are not part of an architecture that can be "
                f"imported: {some}"
            )


def sublayers(n_encoder_layers: int, n_decoder_layers: int) -> Iterator[tuple[str, int, str, str]]:
    """Each sub-layer: its side, layer, our name for it and our name for its norm."""
    for index in range(n_encoder_layers):
        yield "encoder", index, "self_attention", "around_attention"
        yield "encoder", index, "feed_forward", "around_feed_forward"
    for index in range(n_decoder_layers):
        yield "decoder", index, "self_attention", "around_self_attention"
        yield "decoder", index, "cross_attention", "around_cross_attention"
        yield "decoder", index, "feed_forward", "around_feed_forward"
