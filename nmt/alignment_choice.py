"""``nmt align-probe``: the attention that links best becomes what a model folder takes links from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nmt.alignment.alignment import EncodedText
from nmt.alignment.probe import AttentionScore, probe
from nmt.config import AlignmentConfig
from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import ALIGNER, resolve_model, save_alignment
from nmt.translator import Translator


def choose_attention(model: str, source: Path, target: Path | None) -> list[AttentionScore]:
    """Score all attention and write the best one into ``config.json``.

    Args:
        model: a model folder, or the name of one that ships.
        source: sentences, one a line.
        target: their translations, line by line; None: the model translates.

    Returns:
        The scores of layers and heads, best first.

    Raises:
        ConfigError: the folder has a link scorer, which goes before attention, or no Transformer.
        DataError: the files do not fit, or have too few words that both sides spell alike.
    """
    folder = resolve_model(model)
    if (folder / ALIGNER).exists():
        raise ConfigError(
            f"{folder}: has a link scorer, which links better than any attention; nothing to choose"
        )
    translator = Translator.load(folder)
    lines = _lines(source)
    written = [one.text for one in translator.translate(lines)] if target is None else _lines(target)
    if len(written) != len(lines):
        raise DataError(f"{source} has {len(lines)} lines and {target} {len(written)}; they must be parallel")
    read_pieces, write_pieces = translator.source_tokenizer.encode_pieces, translator.tokenizer.encode_pieces
    pairs: Sequence[tuple[EncodedText, EncodedText]] = [
        ((one, read_pieces(one)), (other, write_pieces(other)))
        for one, other in zip(lines, written, strict=True)
        if one.strip() and other.strip()
    ]
    scores = probe(translator.aligner, pairs)
    best = scores[0]
    heads = None if best.head is None else (best.head,)
    save_alignment(folder, AlignmentConfig(layer=best.layer, heads=heads))
    return scores


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as UTF-8 text: {error}") from None
