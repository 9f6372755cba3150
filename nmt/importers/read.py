"""What a user names as a checkpoint: a folder, an archive or an id of the hub; and its import."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import torch

from nmt.config import ModelFolderConfig
from nmt.errors import ModelFolderError
from nmt.importers.checkpoint import Checkpoint
from nmt.importers.ctranslate2 import MODEL, read_ctranslate2
from nmt.importers.huggingface import read_huggingface
from nmt.importers.marian import read_marian
from nmt.model_folder.checkpoint import WeightsDtype, save_model_folder
from nmt.models.build import build_model

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "target_vocab.json",
    "*vocabulary.json",
    "*vocabulary.txt",
    "*.spm",
    "sentencepiece.bpe.model",
    "README.md",
)
"""What is fetched of a hub's repository, beside the weights in one format."""
MOST_BYTES = 16 << 30
"""Of an archive, unpacked."""


@dataclass(frozen=True)
class Origin:
    """Where a checkpoint comes from, for the card."""

    name: str
    revision: str | None = None


def import_checkpoint(
    source: str,
    out: Path,
    *,
    name: str | None = None,
    read: str | None = None,
    write: str | None = None,
    dtype: WeightsDtype | None = None,
    revision: str | None = None,
) -> Path:
    """Write a checkpoint of another toolkit as a model folder; nothing is left where it fails.

    Args:
        source: a folder, a zip archive, or the id of a repository of the Hugging Face hub.
        out: the model folder; its parents are made.
        name: of the model; None: that of ``out``.
        read: language to read first, BCP 47; None: what the checkpoint says.
        write: the same to write.
        dtype: of the weights; None: as they are in the checkpoint.
        revision: of the hub's repository; None: its main branch.

    Returns:
        ``out``.

    Raises:
        ModelFolderError: there is no such checkpoint, it is not whole, or of an architecture that cannot be
            imported.
    """
    with _located(source, revision) as (folder, origin):
        checkpoint = _reader(folder)(folder, read, write)
        stored = next(iter(checkpoint.weights.values())).dtype
        kept = {torch.float16: "float16", torch.bfloat16: "bfloat16"}.get(stored, "float32")
        config = ModelFolderConfig(
            name=name or out.name,
            source_language=checkpoint.languages[0],
            target_language=checkpoint.languages[1],
            language_pieces=checkpoint.language_pieces,
            model=checkpoint.config,
            special_ids=checkpoint.special,
            max_source_tokens=checkpoint.max_source_tokens,
            library_version=version("passerelle"),
        )
        model = build_model(checkpoint.config)
        model.load_state_dict(dict(checkpoint.weights))
        save_model_folder(
            out,
            config=config,
            model=model,
            tokenizer_file=checkpoint.tokenizer_file,
            generation=checkpoint.generation,
            card=_card(config, checkpoint, origin),
            scores={},
            dtype=dtype or kept,  # type: ignore[arg-type]
            vocabulary=checkpoint.vocabulary,
            source_tokenizer_file=checkpoint.source_tokenizer_file,
        )
    return out


def _reader(folder: Path) -> Callable[[Path, str | None, str | None], Checkpoint]:
    if (folder / MODEL).is_file():
        return read_ctranslate2
    if (folder / "config.json").is_file():
        return read_huggingface
    if any(folder.glob("*.npz")):
        return read_marian
    raise ModelFolderError(
        f"{folder}: no checkpoint: it has neither config.json (Hugging Face) nor a file *.npz (Marian) nor "
        f"{MODEL} (CTranslate2)"
    )


@contextmanager
def _located(source: str, revision: str | None) -> Iterator[tuple[Path, Origin]]:
    """The checkpoint as a folder, for as long as it is read."""
    path = Path(source).expanduser()
    if path.is_dir():
        yield path, Origin(path.name)
    elif path.is_file():
        with tempfile.TemporaryDirectory() as made:
            _unpack(path, Path(made))
            yield Path(made), Origin(path.name)
    elif HUB_ID.fullmatch(source):
        yield _fetched(source, revision)
    else:
        raise ModelFolderError(
            f"{source}: no folder, no file, and no id of the hub such as Helsinki-NLP/opus-mt-en-fr"
        )


def _unpack(path: Path, out: Path) -> None:
    """Files of an archive, without its folders' names; refused beyond ``MOST_BYTES``."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if (total := sum(member.file_size for member in members)) > MOST_BYTES:
                raise ModelFolderError(f"{path}: {total} bytes unpacked, the most is {MOST_BYTES}")
            for member in members:
                with archive.open(member) as packed, (out / Path(member.filename).name).open("wb") as plain:
                    shutil.copyfileobj(packed, plain)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
        raise ModelFolderError(f"{path}: not a zip archive that can be read: {error}") from None


def _fetched(repository: str, revision: str | None) -> tuple[Path, Origin]:
    """From the hub into its own cache: settings, tokenizer and the weights in one format."""
    try:
        import huggingface_hub  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise ModelFolderError(
            f"{repository}: fetching needs huggingface_hub: pip install 'passerelle[import]'"
        ) from None
    try:
        found = huggingface_hub.HfApi().model_info(repository, revision=revision)
        names = {sibling.rfilename for sibling in found.siblings or ()}
        is_safe = any(one.endswith(".safetensors") for one in names)
        weights = ["model*.safetensors", "model.safetensors.index.json"]
        if not is_safe:
            weights = ["pytorch_model*.bin", "pytorch_model.bin.index.json"]
        if not is_safe and MODEL in names and "pytorch_model.bin" not in names:
            weights = [MODEL]
        folder = huggingface_hub.snapshot_download(
            repository, revision=found.sha, allow_patterns=[*FILES, *weights]
        )
    except Exception as error:
        line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelFolderError(f"{repository}: cannot be fetched from the hub: {line}") from None
    return Path(folder), Origin(repository, found.sha)


def _card(config: ModelFolderConfig, checkpoint: Checkpoint, origin: Origin) -> str:
    sizes = checkpoint.config
    lines = [
        f"# {config.name}",
        "",
        f"Imported from {origin.name}" + (f", revision {origin.revision}" if origin.revision else "") + ".",
        "",
        "| | |",
        "|---|---|",
        f"| kind | {checkpoint.kind} |",
        f"| languages | {config.source_language} to {config.target_language}"
        + (f" first, of {len(config.language_pieces.target)} to write |" if config.language_pieces else " |"),
        f"| licence | {checkpoint.licence or 'not said by the checkpoint: look at where it comes from'} |",
        f"| layers | {sizes.n_encoder_layers} and {sizes.n_decoder_layers}, d_model {sizes.d_model}, "
        f"d_ff {sizes.d_ff}, {sizes.n_heads} heads |",
        f"| vocabulary | {sizes.vocab_size} pieces |",
        f"| imported | {datetime.now(UTC).date()}, passerelle {config.library_version} |",
        "",
        "It was not trained by this project: see its origin for data, scores and limits. It has no",
        "calibrated confidence (`nmt calibrate`) and no link scorer (`nmt align-train`): links come from its",
        "attention. It knows no placeholders: what must be copied goes through names, and is checked.",
    ]
    return "\n".join([*lines, *(["", *checkpoint.remarks] if checkpoint.remarks else [])]) + "\n"
