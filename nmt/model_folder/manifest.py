"""The files of a model folder and their checksums; no torch.

    config.json        format version, architecture, languages, special ids, library version
    model.safetensors  weights; a tensor that the model shares is stored once
    tokenizer.model    SentencePiece; of the target where the source has another
    source.model       SentencePiece of the source, where it is another
    vocabulary.json    the order of the pieces, where it is not SentencePiece's
    generation.json    default beam size, penalties, limits
    card.md            what it was trained on, with licences, and what it is not good at
    scores.json        scores with their signatures
    calibration.json   from log-probabilities to confidence; a model without it gives none
    aligner.json       how the link scorer is built and when it links; without one, links come from attention
    aligner.safetensors    its weights
    MANIFEST.sha256    ``sha256sum --check MANIFEST.sha256`` reads it too

A flipped bit is an error that names the file, not a wrong translation. Other files in the folder stay as they
are.
"""

from __future__ import annotations

import re
from pathlib import Path

from nmt.errors import ModelFolderError
from nmt.model_folder.files import sha256
from nmt.model_folder.registry import CONFIG
from nmt.model_folder.vocabulary import SOURCE_TOKENIZER, TOKENIZER, VOCABULARY

WEIGHTS, GENERATION = "model.safetensors", "generation.json"
CARD, SCORES, MANIFEST = "card.md", "scores.json", "MANIFEST.sha256"
FILES = (CONFIG, WEIGHTS, TOKENIZER, GENERATION, CARD, SCORES)
CALIBRATION = "calibration.json"
ALIGNER, ALIGNER_WEIGHTS = "aligner.json", "aligner.safetensors"
OPTIONAL = (CALIBRATION, ALIGNER, ALIGNER_WEIGHTS, VOCABULARY, SOURCE_TOKENIZER)
"""May be absent: ``nmt calibrate`` and ``nmt align-train`` add the first three, the last are of imports."""


def write_manifest(folder: Path) -> None:
    """List the SHA-256 of each file of the model in ``MANIFEST.sha256``; needed after any change by hand."""
    names = (*FILES, *(name for name in OPTIONAL if (folder / name).exists()))
    lines = [f"{sha256(folder / name)}  {name}\n" for name in names]
    (folder / MANIFEST).write_text("".join(lines), encoding="ascii")


def verify_manifest(folder: Path) -> dict[str, str]:
    """Check that the files of the model are there and are the very bytes that were written.

    Returns:
        The SHA-256 of each file that is listed, by its name.

    Raises:
        ModelFolderError: naming the first file that is missing, unlisted or different.
    """
    if not folder.is_dir():
        raise ModelFolderError(f"{folder}: no such model folder")
    try:
        *lines, rest = (folder / MANIFEST).read_bytes().decode("ascii").split("\n")
    except OSError as error:
        raise ModelFolderError(
            f"{folder / MANIFEST}: {error.strerror or error}; without it this is no complete model folder"
        ) from None
    except UnicodeDecodeError:
        lines, rest = [], "damaged"
    matches = [re.fullmatch(r"([0-9a-f]{64})  ([\w.-]+)", line) for line in lines]
    if rest or not all(matches):
        raise ModelFolderError(f"{folder / MANIFEST}: damaged; copy the model folder again")
    listed = {match[2]: match[1] for match in matches if match}
    present = {name for name in OPTIONAL if (folder / name).exists()}
    for name in sorted({*FILES, *present} - listed.keys()):
        raise ModelFolderError(f"{folder / MANIFEST}: does not list {name}; copy the model folder again")
    for name in sorted(listed):
        path = folder / name
        if not path.is_file():
            raise ModelFolderError(f"{path}: missing; copy the model folder again")
        found = sha256(path)
        if found != listed[name]:
            raise ModelFolderError(
                f"{path}: corrupt: its SHA-256 begins {found[:12]}, {MANIFEST} says {listed[name][:12]}; "
                "copy the model folder again"
            )
    return listed
