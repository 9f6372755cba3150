"""The prepared corpus: token ids and text in flat files that are mapped into memory, not read.

For each split and language, say ``train`` and ``en``:

    train.en             the sentences, UTF-8, one a line
    train.en.lines       int64, byte offset of each line, and of the end
    train.en.tokens      uint16 (int32 for a vocabulary over 65,536), the ids of all sentences, end to end
    train.en.offsets     int64, position of each sentence's first id, and of the end

All numbers are little-endian and without header. Beside them lie ``tokenizer.model``, the test sets' text as
``tests/NAME.en``, ``report.json``, and ``manifest.json``: what the folder was made from, every file's size
and SHA-256. The folder appears whole or not at all: it is written under another name and renamed.

Only sub-word sampling reads the training text: ``train.en``, ``train.fr`` and their ``.lines`` may be left
out of a copy that travels.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from nmt.errors import DataError
from nmt.model_folder.files import flush, sha256
from training.recipe import Recipe

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
REPORT = "report.json"
TOKENIZER = "tokenizer.model"
TESTS = "tests"
COPIED_AT_ONCE = 1 << 20

Split = Literal["train", "dev"]
Ids = np.ndarray[tuple[int], np.dtype[np.uint16]] | np.ndarray[tuple[int], np.dtype[np.int32]]
Offsets = npt.NDArray[np.int64]


def token_dtype(vocab_size: int) -> np.dtype[Any]:
    """The smallest of our two types that holds every id."""
    return np.dtype("<u2") if vocab_size <= 2**16 else np.dtype("<i4")


class SideWriter:
    """Writes one language of one split, batch by batch; a context manager."""

    def __init__(self, folder: Path, stem: str, dtype: np.dtype[Any]) -> None:
        self._stem = folder / stem
        self._dtype = dtype
        self._text = self._stem.open("wb")
        self._tokens = _beside(self._stem, "tokens").open("wb")
        self._offsets = [0]
        self._lines = [0]

    def write(self, sentences: Sequence[str], ids: Sequence[Sequence[int]]) -> None:
        """Append sentences, none with a line break inside, and the ids of each."""
        for sentence, sentence_ids in zip(sentences, ids, strict=True):
            line = sentence.encode() + b"\n"
            self._text.write(line)
            self._lines.append(self._lines[-1] + len(line))
            self._offsets.append(self._offsets[-1] + len(sentence_ids))
        flat = np.fromiter((id_ for sentence_ids in ids for id_ in sentence_ids), dtype=self._dtype)
        self._tokens.write(flat.tobytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._text.close()
        self._tokens.close()
        if kind is None:
            for name, ends in (("lines", self._lines), ("offsets", self._offsets)):
                _beside(self._stem, name).write_bytes(np.array(ends, dtype="<i8").tobytes())


def join_parts(stems: Sequence[Path], folder: Path, split: str, languages: tuple[str, str]) -> None:
    """Put encoded parts end to end.

    Args:
        stems: of each part, in order; the files are ``STEM.source`` (text), ``.tokens`` after it (ids),
            ``.offsets`` (int64, ids of each sentence), ``.lines`` (int64, bytes of each line), and the same
            for ``target``.
        folder: where the files of the split go.
        split: "train".
        languages: of source and target.
    """
    for side, language in zip(("source", "target"), languages, strict=True):
        for end in ("", ".tokens"):
            with (folder / f"{split}.{language}{end}").open("wb") as whole:
                for stem in stems:
                    with stem.with_name(f"{stem.name}.{side}{end}").open("rb") as part:
                        shutil.copyfileobj(part, whole, COPIED_AT_ONCE)
        for end in (".offsets", ".lines"):
            last = np.zeros(1, dtype="<i8")
            with (folder / f"{split}.{language}{end}").open("wb") as whole:
                whole.write(last.tobytes())
                for stem in stems:
                    sizes = np.fromfile(stem.with_name(f"{stem.name}.{side}{end}"), dtype="<i8")
                    ends = last[-1] + np.cumsum(sizes)
                    whole.write(ends.astype("<i8").tobytes())
                    last = ends if len(ends) else last


class PaddedIds(NamedTuple):
    """Token ids of some sentences, padded on the right, and how many of each row are real."""

    ids: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One language of one split, mapped into memory."""

    tokens: Ids
    offsets: Offsets
    text: npt.NDArray[np.uint8] | None
    lines: Offsets | None

    @classmethod
    def map(cls, folder: Path, stem: str, dtype: np.dtype[Any]) -> Side:
        """Map the four files of ``stem``."""
        path = folder / stem
        has_text = path.exists()
        return cls(
            tokens=_map(_beside(path, "tokens"), dtype),
            offsets=_map(_beside(path, "offsets"), np.dtype("<i8")),
            text=_map(path, np.dtype("u1")) if has_text else None,
            lines=_map(_beside(path, "lines"), np.dtype("<i8")) if has_text else None,
        )

    def ids(self, index: int) -> Ids:
        """Token ids of sentence ``index``, without BOS and EOS: a read-only view."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def padded(self, indices: npt.NDArray[np.int64], *, room: int, pad: int) -> PaddedIds:
        """Token ids of sentences ``indices`` in one array, ``room`` columns wider than the longest."""
        first = np.asarray(self.offsets[indices])
        lengths = np.asarray(self.offsets[indices + 1]) - first
        column = np.arange(int(lengths.max()) + room)
        real = column < lengths[:, None]
        ids = np.full(real.shape, pad, dtype=np.int64)
        ids[real] = self.tokens[(first[:, None] + column)[real]]
        return PaddedIds(ids, lengths)

    def sentence(self, index: int) -> str:
        """The text of sentence ``index``, which sub-word sampling encodes anew.

        Raises:
            DataError: this copy of the corpus has no training text.
        """
        if self.text is None or self.lines is None:
            raise DataError(
                "this copy of the prepared corpus has no training text, which training.subword_sampling "
                "reads: set it to 0, or copy train.* too"
            )
        return self.text[self.lines[index] : self.lines[index + 1] - 1].tobytes().decode()

    def chosen(self, indices: npt.NDArray[np.int64]) -> Side:
        """Sentences ``indices`` alone, copied."""
        tokens, offsets = _chosen(self.tokens, self.offsets, indices)
        if self.text is None or self.lines is None:
            return Side(tokens, offsets, None, None)
        return Side(tokens, offsets, *_chosen(self.text, self.lines, indices))


def _chosen(
    values: npt.NDArray[Any], bounds: Offsets, indices: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[Any], Offsets]:
    """The stretches ``indices`` of ``values``, one behind the other, and their bounds."""
    stretches = [values[bounds[index] : bounds[index + 1]] for index in indices]
    lengths = np.array([0, *map(len, stretches)], dtype="<i8")
    return np.concatenate(stretches), np.cumsum(lengths)


class TokenPairs:
    """The sentence pairs of one split, in the order in which they were written."""

    def __init__(self, source: Side, target: Side) -> None:
        self.source_side = source
        self.target_side = target
        self.source_lengths: npt.NDArray[np.int32] = np.diff(source.offsets).astype(np.int32)
        self.target_lengths: npt.NDArray[np.int32] = np.diff(target.offsets).astype(np.int32)

    def __len__(self) -> int:
        return len(self.source_lengths)

    def source(self, index: int) -> Ids:
        """Source ids of pair ``index``, without EOS: a read-only view of uint16 or int32."""
        return self.source_side.ids(index)

    def target(self, index: int) -> Ids:
        """Target ids of pair ``index``, without BOS and EOS."""
        return self.target_side.ids(index)

    def source_text(self, index: int) -> str:
        """The source sentence of pair ``index``."""
        return self.source_side.sentence(index)

    def target_text(self, index: int) -> str:
        """The target sentence of pair ``index``."""
        return self.target_side.sentence(index)

    def evenly(self, most: int | None) -> TokenPairs:
        """At most ``most`` of the pairs, evenly spaced; None: all."""
        if most is None or len(self) <= most:
            return self
        indices = np.arange(most, dtype=np.int64) * len(self) // most
        return TokenPairs(self.source_side.chosen(indices), self.target_side.chosen(indices))


class PreparedCorpus:
    """A folder that ``nmt prepare`` wrote; open it with ``PreparedCorpus.open``."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.vocab_size: int = manifest["vocab_size"]
        self.recipe_hash: str = manifest["recipe_hash"]
        self.source_language: str = manifest["recipe"]["data"]["source_language"]
        self.target_language: str = manifest["recipe"]["data"]["target_language"]

    @classmethod
    def open(cls, folder: Path, recipe: Recipe | None = None, *, verify: bool = False) -> PreparedCorpus:
        """Check the folder and open it.

        Args:
            folder: what ``prepare`` returned.
            recipe: if given, the folder must have been prepared by a recipe with the same data and tokenizer.
            verify: read every file and compare its SHA-256, not only its size.

        Raises:
            DataError: naming the file that is missing or damaged, or what differs from ``recipe``.
        """
        manifest = read_manifest(folder)
        for name, entry in manifest["files"].items():
            if (folder / name).exists() or name not in _training_text(manifest):
                _check_file(folder / name, entry, read=verify)
        if recipe is not None and recipe.corpus_hash() != manifest["recipe_hash"]:
            changes = "; ".join(differences(manifest["recipe"], recipe.corpus_identity()))
            raise DataError(
                f"{folder}: prepared by another recipe than '{recipe.name}' ({changes}); "
                "delete the folder and prepare it again, or choose another with --out"
            )
        return cls(folder, manifest)

    def split(self, name: Split) -> TokenPairs:
        """The pairs of "train" or "dev"."""
        dtype = token_dtype(self.vocab_size)
        languages = (self.source_language, self.target_language)
        source, target = (Side.map(self.folder, f"{name}.{language}", dtype) for language in languages)
        return TokenPairs(source, target)

    @property
    def tokenizer_file(self) -> Path:
        """The SentencePiece model."""
        return self.folder / TOKENIZER

    @property
    def report(self) -> dict[str, Any]:
        """``report.json``: sources, counts by reason, tokens, lengths, tokenizer."""
        report: dict[str, Any] = json.loads((self.folder / REPORT).read_text(encoding="utf-8"))
        return report

    def test_sets(self) -> dict[str, tuple[Path, Path]]:
        """Test set -> its source and reference file, as given: one sentence a line, nothing cleaned."""
        files = sorted((self.folder / TESTS).glob(f"*.{self.source_language}"))
        return {path.stem: (path, path.with_suffix(f".{self.target_language}")) for path in files}


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write ``report.json``."""
    _write_json(folder / REPORT, report)


def write_manifest(folder: Path, recipe: Recipe, sources: Mapping[str, Any], vocab_size: int) -> None:
    """Record what ``folder`` was made from and every file in it, and wait until all is on disk."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = {
        "format_version": FORMAT_VERSION,
        "recipe_hash": recipe.corpus_hash(),
        "recipe": recipe.corpus_identity(),
        "sources": dict(sources),
        "vocab_size": vocab_size,
        "files": {
            path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256(path)}
            for path in files
        },
    }
    _write_json(folder / MANIFEST, manifest)
    for path in (*files, folder / MANIFEST, folder):
        flush(path)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read ``manifest.json``. Raises ``DataError`` when it is missing, damaged or of another version."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; run 'nmt prepare' with the recipe first")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format_version"]
    except OSError as error:
        raise DataError(
            f"{path}: {error.strerror or error}; this is no folder that 'nmt prepare' wrote"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: damaged; delete the folder and prepare it again") from None
    if version != FORMAT_VERSION:
        raise DataError(
            f"{path}: format_version {version}, this version of the library reads {FORMAT_VERSION}"
        )
    return manifest


def differences(there: object, here: object, path: str = "") -> list[str]:
    """Name each value in which two nested structures differ, as "key: X there, Y here"."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        pairs = [(f"{path}.{key}".lstrip("."), there.get(key), here.get(key)) for key in {**there, **here}]
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = [(f"{path}.{index}", *both) for index, both in enumerate(zip(there, here, strict=True))]
    elif there == here:
        return []
    elif isinstance(there, list) and isinstance(here, list):
        return [f"{path}: {len(there)} entries there, {len(here)} here"]
    else:
        return [f"{path}: {there} there, {here} here"]
    return [line for key, left, right in pairs for line in differences(left, right, key)]


def _training_text(manifest: Mapping[str, Any]) -> set[str]:
    data = manifest["recipe"]["data"]
    stems = {f"train.{data[side]}" for side in ("source_language", "target_language")}
    return stems | {f"{stem}.lines" for stem in stems}


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _check_file(path: Path, entry: Mapping[str, Any], *, read: bool) -> None:
    if not path.is_file():
        raise DataError(f"{path}: missing; delete the folder and prepare it again")
    size = path.stat().st_size
    if size != entry["bytes"]:
        raise DataError(
            f"{path}: {size} bytes, {MANIFEST} says {entry['bytes']}; delete the folder and prepare it again"
        )
    if read and sha256(path) != entry["sha256"]:
        raise DataError(
            f"{path}: corrupt: its SHA-256 is not that of {MANIFEST}; delete the folder and prepare it again"
        )


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")


def _map(path: Path, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - an array of dtype
    return np.memmap(path, dtype=dtype, mode="r")
