"""Settings and licence that come with a checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmt.config import GenerationConfig
from nmt.errors import ModelFolderError

MOST_PER_SOURCE_TOKEN = 3.0
"""A script that the vocabulary knows less well takes more pieces."""


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ModelFolderError: it is missing or no JSON object.
    """
    try:
        values = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFolderError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ModelFolderError(f"{path}: not JSON: {error}; half a download? fetch it again") from None
    if not isinstance(values, dict):
        raise ModelFolderError(f"{path}: not a JSON object")
    return values


def generation_of(folder: Path, config: Mapping[str, Any]) -> GenerationConfig:
    """Beam size and length normalisation as the checkpoint has them.

    Hugging Face divides by |y|^length_penalty; of that 1 is our mean and 0 our none. Others are taken for 1.
    """
    path = folder / "generation_config.json"
    values = {**config, **(read_json(path) if path.exists() else {})}
    beams = values.get("num_beams")
    return GenerationConfig(
        beam_size=beams if isinstance(beams, int) and 1 <= beams <= 64 else 4,
        length_normalization="none" if values.get("length_penalty") == 0 else "mean",
        max_length_ratio=MOST_PER_SOURCE_TOKEN,
    )


def licence_of(folder: Path) -> str | None:
    """The licence that the head of ``README.md`` names; None: none."""
    path = folder / "README.md"
    if not path.exists():
        return None
    found = re.search(r"^license:\s*(?:\n-\s*)?(\S+)", path.read_text("utf-8", errors="replace")[:4000], re.M)
    return found[1] if found else None


def of_punctuation(folder: Path) -> tuple[str, ...]:
    """A remark where the archive's own script changes punctuation before SentencePiece; none: it does not.

    OPUS-MT trained on text that Moses' scripts had normalised. Hugging Face's tokenizer does without, and so
    do we: a typographic sign is read as a plain one only where the vocabulary lacks it.
    """
    path = folder / "preprocess.sh"
    if not path.is_file() or "normalize-punctuation" not in path.read_text("utf-8", errors="replace"):
        return ()
    return (
        "preprocess.sh of the archive normalises punctuation with Moses' scripts; that is not done here, as "
        "in Hugging Face's tokenizer. Quotation marks and dashes that the vocabulary lacks are read as "
        "plain ones.",
    )
