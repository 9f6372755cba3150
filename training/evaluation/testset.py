"""A test set: source sentences and their reference translations, with the checksums that identify them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import ConfigError, DataError
from nmt.model_folder.files import sha256


@dataclass(frozen=True)
class TestSet:
    """Line i of ``sources`` is translated by line i of ``references``; checksums are of the files' bytes."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]
    source_sha256: str
    reference_sha256: str

    @classmethod
    def load(cls, source: Path, reference: Path) -> TestSet:
        """Read two UTF-8 files, one sentence a line; the name is the source file's without its suffix.

        Raises:
            DataError: a file is missing, empty or not UTF-8, or the files differ in their number of lines.
        """
        sources, references = _read(source), _read(reference)
        if len(sources) != len(references):
            raise DataError(
                f"{source} has {len(sources)} lines but {reference} has {len(references)}: "
                f"line {min(len(sources), len(references)) + 1} is the first without a partner"
            )
        if not sources:
            raise DataError(f"{source}: no lines; a test set needs at least one")
        return cls(source.stem, sources, references, sha256(source), sha256(reference))

    def __len__(self) -> int:
        return len(self.sources)

    def describe(self) -> dict[str, str | int]:
        """Record of the test set."""
        return {
            "name": self.name,
            "sentences": len(self),
            "source_sha256": self.source_sha256,
            "reference_sha256": self.reference_sha256,
        }


def load_all(sources: Sequence[Path], references: Sequence[Path]) -> list[TestSet]:
    """Load several test sets; names are made unique.

    Raises:
        ConfigError: not one reference for each source, or two test sets of one name.
        DataError: as ``TestSet.load``.
    """
    if len(sources) != len(references):
        raise ConfigError(f"{len(sources)} --source but {len(references)} --reference: give them in pairs")
    test_sets = [TestSet.load(*pair) for pair in zip(sources, references, strict=True)]
    names = [test_set.name for test_set in test_sets]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two test sets are named '{name}': reports need distinct names; rename a file")
    return test_sets


def _read(path: Path) -> tuple[str, ...]:
    """Lines without their ends; only the line feed ends a line, unlike in ``str.splitlines``."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}") from None
    lines = text.replace("\r\n", "\n").split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)
