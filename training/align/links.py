"""``nmt align-links``: the links that a statistical aligner gives parallel text, to train a link scorer on.

eflomal (Östling and Tiedemann 2016) counts lower-cased tokens of which elided and contracted words are
written out (``nmt.alignment.tokens``). It is not among the project's dependencies: install it where this
runs.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from nmt.alignment.tokens import counted_tokens
from nmt.errors import ConfigError, DataError
from nmt.text.words import Token, words
from training.align.data import open_links

Direction = list[str]
"""Pharaoh lines over counted tokens, one for each pair."""


def align_links(
    sources: Sequence[Path],
    targets: Sequence[Path],
    out: Path,
    *,
    most: Sequence[int] = (),
    longest: int = 40,
    seed: int = 7,
    languages: tuple[str, str] = ("en", "fr"),
) -> int:
    """Choose pairs, align them and write the file; returns how many pairs it holds.

    Args:
        sources: source texts, one sentence a line.
        targets: their translations.
        out: ``training.align.data`` tells its form.
        most: pairs of each file that are taken at most; 0, or none given: all.
        longest: a pair with more words on a side is left out.
        seed: of the choice.
        languages: of source and target.

    Raises:
        ConfigError: eflomal is not installed.
        DataError: files are missing or of unequal length.
    """
    if len(sources) != len(targets) or (most and len(most) != len(sources)):
        raise DataError(
            f"{len(sources)} source and {len(targets)} target files, {len(most)} limits; give one for each"
        )
    pairs: list[tuple[str, str]] = []
    for source, target, limit in zip(sources, targets, most or [0] * len(sources), strict=True):
        pairs += choose_pairs(source, target, limit or None, longest, seed)
    forward, backward = eflomal([counted_lines(pair, languages, words) for pair in pairs])
    write_links(out, pairs, forward, backward)
    return len(pairs)


def choose_pairs(
    source: Path, target: Path, most: int | None, longest: int, seed: int
) -> list[tuple[str, str]]:
    """``most`` pairs of two files in a random order, none blank and none of more than ``longest`` words."""
    texts = []
    for path in (source, target):
        try:
            texts.append([" ".join(line.split()) for line in path.read_text(encoding="utf-8").splitlines()])
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
    if len(texts[0]) != len(texts[1]):
        raise DataError(f"{source}: {len(texts[0])} lines, but {target} has {len(texts[1])}")
    order = list(range(len(texts[0])))
    random.Random(seed).shuffle(order)
    chosen: list[tuple[str, str]] = []
    for index in order:
        pair = texts[0][index], texts[1][index]
        if all(0 < len(words(side)) <= longest for side in pair):
            chosen.append(pair)
        if most is not None and len(chosen) >= most:
            break
    return chosen


def counted_lines(
    pair: tuple[str, str], languages: tuple[str, str], words: Callable[[str], list[Token]]
) -> tuple[str, str]:
    """Both sides as the aligner reads them."""
    source, target = (
        " ".join(token.text for token in counted_tokens(words(text), language))
        for text, language in zip(pair, languages, strict=True)
    )
    return source, target


def eflomal(lines: Sequence[tuple[str, str]]) -> tuple[Direction, Direction]:
    """The links of both directions.

    Raises:
        ConfigError: eflomal is not installed.
    """
    try:
        from eflomal import Aligner  # noqa: PLC0415 - an optional program
    except ModuleNotFoundError:
        raise ConfigError("eflomal is not installed: run pip install eflomal==2.0.0") from None
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / part for part in ("forward", "backward")]
        Aligner().align(
            [source for source, _ in lines],
            [target for _, target in lines],
            links_filename_fwd=str(paths[0]),
            links_filename_rev=str(paths[1]),
        )
        forward, backward = (path.read_text(encoding="ascii").splitlines() for path in paths)
    return forward, backward


def write_links(
    out: Path, pairs: Sequence[tuple[str, str]], forward: Sequence[str], backward: Sequence[str]
) -> None:
    """Write the file that ``nmt align-train`` reads."""
    with open_links(out, "w") as file:
        for (source, target), one, other in zip(pairs, forward, backward, strict=True):
            file.write("\t".join((source, target, one.strip(), other.strip())) + "\n")
