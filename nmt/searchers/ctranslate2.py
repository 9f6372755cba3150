"""Search by CTranslate2 (https://opennmt.net/CTranslate2/): beam and greedy search in C++, on CPU and GPU.

What CTranslate2 finds is ranked by our ``Scoring``, and each hypothesis that is returned is scored token by
token. What it cannot do goes to another searcher: sampling, a coverage penalty, and sentences whose result
is unfinished or lacks a required placeholder.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from nmt.checkpoint import LoadedModel
from nmt.config import GenerationConfig, SpecialIds, TransformerConfig
from nmt.errors import ConfigError, NumericalError
from nmt.export.ctranslate2 import export_ctranslate2
from nmt.flow import Search
from nmt.reserved import PLACEHOLDERS
from nmt.search import Hypothesis, max_length
from nmt.search.scoring import Scoring
from nmt.searchers.cache import cached_export, checksum
from nmt.searchers.interface import Searcher, by_options
from nmt.shares import StepCost, cut

OLDEST = (4, 6)
"""Versions before this are not tested."""
EXPORT_FORMAT = "1"
"""Changed when the export changes what it writes for the same weights."""


def load_ctranslate2(loaded: LoadedModel, device: torch.device, compute_type: str, n_workers: int) -> Any:  # noqa: ANN401 - ctranslate2 has no types
    """A ``ctranslate2.Translator`` of the model, exported into the user's cache unless it is there.

    Where the cache cannot be written, the export is made anew in a temporary folder.

    Raises:
        ConfigError: CTranslate2 is missing, too old, or cannot run this model so.
    """
    try:
        import ctranslate2  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ConfigError(
            f"engine ctranslate2: {error}; pip install 'passerelle[ctranslate2]', or choose engine auto"
        ) from None
    _refuse(loaded, ctranslate2.__version__)
    threads = max(1, torch.get_num_threads() // n_workers)

    def load(folder: Path) -> Any:  # noqa: ANN401
        try:
            return ctranslate2.Translator(
                str(folder),
                device=device.type,
                device_index=device.index or 0,
                compute_type=compute_type,
                inter_threads=n_workers,
                intra_threads=threads,
            )
        except (ValueError, RuntimeError) as error:
            raise ConfigError(f"engine ctranslate2: {error}; choose engine auto") from None

    key = checksum(loaded, EXPORT_FORMAT, ctranslate2.__version__)
    folder = cached_export("ctranslate2", key, lambda out: export_ctranslate2(loaded, out))
    if folder is not None:
        return load(folder)
    with tempfile.TemporaryDirectory() as made:
        export_ctranslate2(loaded, Path(made))
        return load(Path(made))


def _refuse(loaded: LoadedModel, version: str) -> None:
    """Raises ``ConfigError`` where CTranslate2 of this version cannot search with this model."""
    reason = None
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        reason = f"version {version} is older than {'.'.join(map(str, OLDEST))}: pip install --upgrade it"
    if not isinstance(loaded.config.model, TransformerConfig):
        reason = f"it runs Transformers, and {loaded.config.name} is an {loaded.config.model.architecture}"
    if reason is not None:
        raise ConfigError(f"engine ctranslate2: {reason}; or choose engine auto")


class CTranslate2Searcher:
    """Searches with CTranslate2, and with another searcher what that cannot.

    Args:
        translator: a ``ctranslate2.Translator``.
        loaded: the same model.
        otherwise: searches the rest.
        n_workers: batches that ``translator`` runs side by side.
    """

    def __init__(
        self,
        translator: Any,  # noqa: ANN401
        loaded: LoadedModel,
        otherwise: Searcher,
        n_workers: int,
    ) -> None:
        self._translator = translator
        self._otherwise = otherwise
        self._n_workers = n_workers
        self._special: SpecialIds = loaded.config.special_ids
        self._pieces: Sequence[str] = loaded.tokenizer.pieces
        self._ids = {piece: id_ for id_, piece in enumerate(self._pieces)}
        self._placeholders = tuple(self._ids[piece] for piece in PLACEHOLDERS if piece in self._ids)

    def search(
        self, asked: Sequence[Search], *, max_batch_tokens: int, in_forks: bool = False
    ) -> list[list[Hypothesis]]:
        """As ``Searcher.search``."""
        searching = [
            (batch, self._start([asked[place] for place in batch]))
            for batch in self._batches(asked, max_batch_tokens)
        ]
        scoring = []
        for batch, running in searching:
            for place, answer in zip(batch, running, strict=True):
                kept = self._usable(asked[place], answer.result())
                if kept:
                    scoring.append((place, kept, self._score(asked[place], kept)))
        found = {
            place: self._scored(asked[place], kept, [one.result() for one in scores])
            for place, kept, scores in scoring
        }
        missing = [place for place in range(len(asked)) if place not in found]
        if missing:
            others = self._otherwise.search(
                [asked[place] for place in missing], max_batch_tokens=max_batch_tokens, in_forks=in_forks
            )
            found.update(zip(missing, others, strict=True))
        return [found[place] for place in range(len(asked))]

    def _batches(self, asked: Sequence[Search], max_batch_tokens: int) -> list[list[int]]:
        """Places of what CTranslate2 can search, in batches of equal options and of about equal cost."""
        batches: list[list[int]] = []
        for alike in by_options(asked):
            options = asked[alike[0]].options
            if options.sampling is not None or options.coverage_penalty:
                continue
            for is_bound in (False, True):  # placeholders are forbidden where none is required
                places = [place for place in alike if bool(asked[place].required) == is_bound]
                lengths = [len(asked[place].source_ids) + 1 for place in places]
                cost = StepCost(options.beam_size)
                shares = cut(lengths, lengths, max_batch_tokens, cost, self._n_workers) if places else []
                batches += [[places[index] for index in share] for share in shares]
        return batches

    def _start(self, batch: Sequence[Search]) -> Sequence[Any]:
        """Search for a batch of equal options; the answers to come."""
        options = batch[0].options
        required = {id_ for one in batch for id_ in one.required}
        forbidden = {self._special.pad, self._special.bos, *self._placeholders} - required
        running: Sequence[Any] = self._translator.translate_batch(
            [self._of(one.source_ids) for one in batch],
            asynchronous=True,
            beam_size=options.beam_size,
            num_hypotheses=options.beam_size,
            length_penalty=1,  # by which it keeps K of those that finish; near enough to any of ours
            no_repeat_ngram_size=options.no_repeat_ngram_size,
            suppress_sequences=[[self._pieces[id_]] for id_ in sorted(forbidden)],
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max(_limit(one) for one in batch) + 1,
            return_end_token=True,
            return_scores=True,
        )
        return running

    def _usable(self, asked: Search, answer: Any) -> list[list[str]]:  # noqa: ANN401
        """The best ``n_best`` finished hypotheses of legal length with each required placeholder once."""
        scoring = Scoring.from_options(asked.options)
        end = self._pieces[self._special.eos]
        ranked: list[tuple[float, list[str]]] = []
        for pieces, mean in zip(answer.hypotheses, answer.scores, strict=True):
            log_prob = mean * len(pieces)
            if not math.isfinite(log_prob):
                raise NumericalError(
                    "NaN or infinity in the decoder's output for a sentence: verify the model folder, or "
                    "decode with engine eager"
                )
            is_finished = pieces[-1:] == [end] and len(pieces) - 1 <= _limit(asked)
            if is_finished and self._has_required(pieces, asked.required):
                ranked.append((-scoring.score(log_prob, len(pieces)), pieces[:-1]))
        ranked.sort()
        return [pieces for _, pieces in ranked[: asked.options.n_best]]

    def _has_required(self, pieces: Sequence[str], required: Sequence[int]) -> bool:
        """Whether what is required is there once, and no other placeholder."""
        if not required:
            return True
        written = sorted(
            self._ids[piece]
            for piece in pieces
            if self._ids[piece] in required or self._ids[piece] in self._placeholders
        )
        return written == sorted(required)

    def _score(self, asked: Search, kept: Sequence[list[str]]) -> Sequence[Any]:
        """The log-probability of each token, by a forced pass; the answers to come."""
        source = self._of(asked.source_ids)
        running: Sequence[Any] = self._translator.score_batch(
            [source] * len(kept), list(kept), max_input_length=0, asynchronous=True
        )
        return running

    def _scored(
        self, asked: Search, kept: Sequence[Sequence[str]], scores: Sequence[Any]
    ) -> list[Hypothesis]:
        scoring = Scoring.from_options(asked.options)
        found = []
        for pieces, scored in zip(kept, scores, strict=True):
            log_prob = math.fsum(scored.log_probs)
            tokens = tuple(self._ids[piece] for piece in pieces)
            score = scoring.score(log_prob, len(tokens) + 1)
            found.append(Hypothesis(tokens, log_prob, score, True, tuple(scored.log_probs)))
        return sorted(found, key=lambda hypothesis: -hypothesis.score)

    def _of(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[id_] for id_ in ids]


def _limit(asked: Search) -> int:
    """The most tokens of a translation, EOS not counted; required ones fit in."""
    options: GenerationConfig = asked.options
    most = max_length(len(asked.source_ids), options.max_length_ratio, options.max_length_offset)
    return max(most, len(asked.required))
