"""``nmt shortlist``: learn which target pieces go with which source pieces, and measure what that costs.

IBM Model 1 (Brown et al. 1993) over the pieces of a parallel corpus, each piece counted once in a sentence,
with an empty word that explains what nothing in the source does. A source piece's candidates are the target
pieces of the greatest probability. On a development set the report gives the share of reference pieces that
are in their sentence's list (coverage), the sizes of lists, and BLEU with and without.

Dimensions: V vocabulary, C candidates of each source piece, P pairs of pieces that occur together, X cells: a
source piece and a target piece of one sentence pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.checkpoint import LoadedModel, load_model_folder, resolve_model, save_shortlist
from nmt.errors import ConfigError, DataError
from nmt.models.interface import Step, StepDecoder
from nmt.reserved import PLACEHOLDERS
from nmt.search import search
from nmt.shortlist import NONE, Shortlist
from nmt.tokenizer import Tokenizer
from training.scoring import score_bleu
from training.testset import TestSet

Ids = Sequence[int]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

ITERATIONS = 5
MOST_PIECES = 60
"""Longer sentences say less about each pair of their pieces."""
LEAST_PROBABILITY = 1e-3
SENTENCES_AT_ONCE = 64


@dataclass(frozen=True)
class Settings:
    """How long the lists are."""

    n_frequent: int = 300
    """Target pieces that are in every list."""
    n_candidates: int = 30
    """C."""


class Lexicon(NamedTuple):
    """p(target piece | source piece) of the pairs that occur."""

    source_P: Ints
    target_P: Ints
    probability_P: Floats


def build_shortlist(
    tokenizer: Tokenizer, pairs: Sequence[tuple[Ids, Ids]], settings: Settings | None = None
) -> Shortlist:
    """Learn a shortlist from sentence pairs in token ids."""
    settings = settings or Settings()
    vocab_size = tokenizer.vocab_size
    counts_V = np.bincount(np.concatenate([target for _, target in pairs]), minlength=vocab_size)
    frequent = np.argsort(-counts_V, kind="stable")[: min(settings.n_frequent, int((counts_V > 0).sum()))]
    bytes_ = [id_ for id_, piece in enumerate(tokenizer.pieces) if piece.startswith("<0x")]
    reserved = [id_ for id_ in map(tokenizer.piece_id, PLACEHOLDERS) if id_ is not None]
    special = [tokenizer.special.unk, tokenizer.special.eos]
    always = sorted({*frequent.tolist(), *bytes_, *reserved, *special})
    candidates_VC = best_candidates(learn_lexicon(pairs, vocab_size), vocab_size, settings.n_candidates)
    return Shortlist(torch.tensor(always, dtype=torch.int32), torch.from_numpy(candidates_VC))


def learn_lexicon(pairs: Iterable[tuple[Ids, Ids]], vocab_size: int) -> Lexicon:
    """IBM Model 1 by expectation maximisation; the empty word has id V and is left out of the result.

    Raises:
        DataError: no pair is short enough.
    """
    keys: list[Ints] = []
    sizes: list[Ints] = []
    for source, target in pairs:
        if max(len(source), len(target)) > MOST_PIECES or not source or not target:
            continue
        source_S = np.append(np.unique(source), vocab_size)
        target_T = np.unique(target)
        keys.append((target_T[:, None] + source_S[None, :] * vocab_size).ravel())
        sizes.append(np.full(len(target_T), len(source_S)))
    if not keys:
        raise DataError(f"no pair of the corpus has at most {MOST_PIECES} pieces on each side")
    distinct_P, place_X = np.unique(np.concatenate(keys), return_inverse=True)
    size_G = np.concatenate(sizes)  # G: a target piece of a sentence pair, and all that may explain it
    first_G = np.concatenate([[0], np.cumsum(size_G)[:-1]])
    source_P, target_P = distinct_P // vocab_size, distinct_P % vocab_size
    probability_P = np.ones(len(distinct_P), dtype=np.float32)
    for _ in range(ITERATIONS):
        share_X = probability_P[place_X]
        share_X /= np.repeat(np.add.reduceat(share_X, first_G), size_G)
        count_P = np.bincount(place_X, weights=share_X, minlength=len(distinct_P))
        total_V = np.bincount(source_P, weights=count_P, minlength=vocab_size + 1)
        probability_P = (count_P / total_V[source_P]).astype(np.float32)
    real_P = source_P < vocab_size
    return Lexicon(source_P[real_P], target_P[real_P], probability_P[real_P])


def best_candidates(lexicon: Lexicon, vocab_size: int, n_candidates: int) -> npt.NDArray[np.int32]:
    """The most probable target pieces of each source piece, (V, C), ``NONE`` where there are fewer."""
    order_P = np.lexsort((-lexicon.probability_P, lexicon.source_P))
    source_P, probability_P = lexicon.source_P[order_P], lexicon.probability_P[order_P]
    first_V = np.searchsorted(source_P, np.arange(vocab_size))
    rank_P = np.arange(len(source_P)) - first_V[source_P]
    kept_P = (rank_P < n_candidates) & (probability_P >= LEAST_PROBABILITY)
    candidates_VC = np.full((vocab_size, n_candidates), NONE, dtype=np.int32)
    candidates_VC[source_P[kept_P], rank_P[kept_P]] = lexicon.target_P[order_P][kept_P]
    return candidates_VC


class ShortlistedDecoder:
    """A decoder whose sentences may write only what is in their lists: what an engine does, without its gain.

    A hypothesis keeps the log-probabilities that the whole vocabulary gives it.
    """

    def __init__(self, decoder: StepDecoder[Any], shortlist: Shortlist) -> None:
        self._decoder, self._shortlist = decoder, shortlist

    def start(self, source: Batch, beam_size: int) -> tuple[Any, Tensor]:
        """The state, and what each row may not write."""
        lengths = source.source_mask_BS.sum(dim=1).tolist()
        sources = [row[:length] for row, length in zip(source.source_BS.tolist(), lengths, strict=True)]
        forbidden_BV = self._shortlist.forbidden(sources, torch.arange(self._shortlist.vocab_size))
        return self._decoder.start(source, beam_size), forbidden_BV.repeat_interleave(beam_size, dim=0)

    def step(self, state: tuple[Any, Tensor], tokens_N: Tensor) -> tuple[Step, tuple[Any, Tensor]]:
        """That of the decoder, -inf outside of the lists."""
        step, inner = self._decoder.step(state[0], tokens_N)
        step.logits_NV.masked_fill_(state[1], -torch.inf)
        return step, (inner, state[1])

    def reorder(self, state: tuple[Any, Tensor], rows_N: Tensor) -> tuple[Any, Tensor]:
        """Rows move."""
        return self._decoder.reorder(state[0], rows_N), state[1].index_select(0, rows_N)


def measure(loaded: LoadedModel, shortlist: Shortlist, pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Coverage, sizes and BLEU on a development set."""
    tokenizer = loaded.tokenizer
    sources = tokenizer.encode_batch([source for source, _ in pairs])
    targets = tokenizer.encode_batch([target for _, target in pairs])
    everything_V = torch.arange(shortlist.vocab_size)
    n_pieces = n_inside = 0
    lengths = []
    for source, target in zip(sources, targets, strict=True):
        (forbidden_V,) = shortlist.forbidden([source], everything_V)
        lengths.append(shortlist.vocab_size - int(forbidden_V.sum()))
        n_pieces += len(target)
        n_inside += int((~forbidden_V[torch.tensor(target, dtype=torch.long)]).sum())
    union = [
        shortlist.for_sources(sources[first : first + SENTENCES_AT_ONCE]).numel()
        for first in range(0, len(sources), SENTENCES_AT_ONCE)
    ]
    references = [target for _, target in pairs]
    exact = _translate(loaded, loaded.model, sources)
    listed = _translate(loaded, ShortlistedDecoder(loaded.model, shortlist), sources)
    return {
        "coverage": n_inside / max(n_pieces, 1),
        "mean_pieces": float(np.mean(lengths)),
        f"mean_pieces_of_{SENTENCES_AT_ONCE}": float(np.mean(union)),
        "bleu": score_bleu(exact, references).score,
        "bleu_with_shortlist": score_bleu(listed, references).score,
        "same_translations": sum(a == b for a, b in zip(exact, listed, strict=True)) / max(len(exact), 1),
    }


def shortlist(
    model: str | None,
    sources: Sequence[Path],
    targets: Sequence[Path],
    *,
    dev: tuple[Path, Path] | None,
    settings: Settings,
    most_pairs: int,
) -> dict[str, Any]:
    """Build the shortlist of a model folder from parallel text, add it, and say what was measured.

    Args:
        model: as ``resolve_model``.
        sources: files of the corpus, a sentence a line.
        targets: their translations, in the same order.
        dev: source and reference of a development set to measure on; None: measure nothing.
        settings: how long the lists are.
        most_pairs: of the corpus, spread evenly over it.

    Raises:
        ModelFolderError: the model cannot be read or written.
        ConfigError: not one target file for each source file.
        DataError: a file cannot be read, or two have different numbers of lines.
    """
    loaded = load_model_folder(resolve_model(model))
    if len(sources) != len(targets):
        raise ConfigError(f"{len(sources)} --source but {len(targets)} --target: give them in pairs")
    corpora = [TestSet.load(*files) for files in zip(sources, targets, strict=True)]
    lines = [pair for part in corpora for pair in zip(part.sources, part.references, strict=True)]
    lines = lines[:: -(-len(lines) // most_pairs)]
    pairs = list(
        zip(
            loaded.tokenizer.encode_batch([source for source, _ in lines]),
            loaded.tokenizer.encode_batch([target for _, target in lines]),
            strict=True,
        )
    )
    built = build_shortlist(loaded.tokenizer, pairs, settings)
    report: dict[str, Any] = {**asdict(settings), "n_pairs": len(pairs)}
    if dev is not None:
        test_set = TestSet.load(*dev)
        report |= {"dev": test_set.describe()}
        report |= measure(loaded, built, list(zip(test_set.sources, test_set.references, strict=True)))
    save_shortlist(loaded.folder, built)
    return report


def _translate(loaded: LoadedModel, decoder: StepDecoder[Any], sources: Sequence[Ids]) -> list[str]:
    special, results = loaded.config.special_ids, [""] * len(sources)
    order = sorted(range(len(sources)), key=lambda place: len(sources[place]))
    for first in range(0, len(order), SENTENCES_AT_ONCE):
        part = order[first : first + SENTENCES_AT_ONCE]
        batch = Batch.from_ids([sources[place] for place in part], special=special)
        for place, (best, *_) in zip(part, search(decoder, batch, loaded.generation, special), strict=True):
            results[place] = loaded.tokenizer.decode(best.tokens)
    return results
