"""Search by CTranslate2 (https://opennmt.net/CTranslate2/): beam and greedy search in C++, on CPU and GPU.

What CTranslate2 finds is ranked by our ``Scoring``, and each hypothesis that is returned is scored token by
token. A required placeholder that is missing is written where the model is most willing to, and the rest of
the sentence is decoded anew (prefix-constrained decoding, Wuebker et al. 2016). What CTranslate2 cannot do
goes to another searcher: sampling, a coverage penalty, and sentences whose result is unfinished or still
lacks a placeholder.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.config import GenerationConfig, SpecialIds
from nmt.device import count_threads, kind_and_index
from nmt.errors import ConfigError, NumericalError
from nmt.hypothesis import Hypothesis, max_length
from nmt.model_folder.opened import AnyModel
from nmt.pipeline.requests import Followers, NextPieces, Search
from nmt.scoring import Scoring
from nmt.searchers.batches import by_options, cut
from nmt.searchers.cache import cached_export, checksum
from nmt.searchers.interface import Searcher
from nmt.text.placeholders import PLACEHOLDERS
from nmt.text.word_pieces import NO_WORD_PIECES, WordPieces

if TYPE_CHECKING:
    import torch

SCORED_TOGETHER = 8
"""Hypotheses of one forced pass: more leave a core's caches."""
PREFIXES = 4
"""So often a translation that lacks a required placeholder is decoded again."""
EXPORT_FORMAT = "1"
"""Changed when the export changes what it writes for the same weights."""


def load_ctranslate2(loaded: AnyModel, device: torch.device | str, compute_type: str, n_workers: int) -> Any:  # noqa: ANN401 - ctranslate2 has no types
    """A ``ctranslate2.Translator`` of the model, exported into the user's cache unless it is there.

    Weights that are on disk are read only if it is not: what is there was made from just these.
    Where the cache cannot be written, the export is made anew in a temporary folder.

    Args:
        loaded: a Transformer.
        device: a CPU or a GPU of CUDA.
        compute_type: of CTranslate2, "int8" say.
        n_workers: batches that it runs side by side, each on its share of torch's number of threads.

    Raises:
        ConfigError: CTranslate2 cannot load it.
        NumericalError: a weight is NaN or infinite.
    """
    import ctranslate2  # noqa: PLC0415 - takes time to load

    if loaded.unread_sha256 is None:
        _refuse_nan(loaded)
    kind, index = kind_and_index(device)
    threads = max(1, count_threads() // n_workers)

    def export(out: Path) -> None:
        from nmt.export.ctranslate2 import export_ctranslate2  # noqa: PLC0415 - imports torch

        _refuse_nan(loaded)
        export_ctranslate2(loaded, out, compute_type)

    def load(folder: Path) -> Any:  # noqa: ANN401
        try:
            return ctranslate2.Translator(
                str(folder),
                device=kind,
                device_index=index,
                compute_type=compute_type,
                inter_threads=n_workers,
                intra_threads=threads,
            )
        except (ValueError, RuntimeError) as error:
            raise ConfigError(f"engine {compute_type}: CTranslate2: {error}; choose eager") from None

    key = checksum(loaded, EXPORT_FORMAT, ctranslate2.__version__, compute_type)
    folder = cached_export("ctranslate2", key, export)
    if folder is not None:
        return load(folder)
    with tempfile.TemporaryDirectory() as made:
        export(Path(made))
        return load(Path(made))


def _refuse_nan(loaded: AnyModel) -> None:
    if not all(bool(weight.isfinite().all()) for weight in loaded.model.state_dict().values()):
        raise NumericalError(
            f"model {loaded.config.name}: a weight is NaN or infinite: verify the model folder"
        )


class CTranslate2Searcher:
    """Searches with CTranslate2, and with another searcher what that cannot.

    Args:
        translator: a ``ctranslate2.Translator``.
        loaded: the same model.
        otherwise: searches the rest.
        n_workers: batches that ``translator`` runs side by side.
        word_pieces: those of the vocabulary, by which the last word of a prefix is a whole one.
    """

    def __init__(
        self,
        translator: Any,  # noqa: ANN401
        loaded: AnyModel,
        otherwise: Searcher,
        n_workers: int,
        word_pieces: WordPieces = NO_WORD_PIECES,
    ) -> None:
        self._word_pieces = word_pieces
        self._translator = translator
        self._loaded = loaded
        self._otherwise = otherwise
        self._n_workers = n_workers
        self._special: SpecialIds = loaded.config.special_ids
        self._source_pieces: Sequence[str] = loaded.source_tokenizer.pieces
        self._pieces: Sequence[str] = loaded.tokenizer.pieces
        is_second = getattr(loaded.config.model, "token_before_bos", None) is not None
        self._bos: list[str] = [self._pieces[self._special.bos]] if is_second else []
        """BOS where the decoder reads a token before it: for CTranslate2 it begins the translation."""
        self._ids = {piece: id_ for id_, piece in enumerate(self._pieces)}
        self._placeholders = tuple(self._ids[piece] for piece in PLACEHOLDERS if piece in self._ids)

    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        """As ``Searcher.search``."""
        searching = [
            (batch, self._start([asked[place] for place in batch]))
            for batch in self._batches(asked, max_batch_tokens)
        ]
        scoring = []
        lacking: dict[int, list[str]] = {}
        found: dict[int, list[Hypothesis]] = {}
        rest: dict[int, list[Hypothesis]] = {}
        for batch, running in searching:
            kept: list[tuple[int, list[str]]] = []
            for place, answer in zip(batch, running, strict=True):
                found_here = self._usable(asked[place], answer.result())
                n_scored = None if asked[place].prefix else asked[place].n_scored
                kept += [(place, pieces) for _, pieces in found_here[:n_scored]]
                if n_scored is not None:
                    rest[place] = [self._unscored(asked[place], *one) for one in found_here[n_scored:]]
                if not found_here and asked[place].required and not asked[place].is_optional:
                    lacking[place] = answer.result().hypotheses[0][len(self._bos) :]
            scoring.append((kept, self._score([(asked[place], pieces) for place, pieces in kept])))
        kept = self._with_required(asked, lacking)
        scoring.append((kept, self._score([(asked[place], pieces) for place, pieces in kept])))
        for kept, scores in scoring:
            for (place, pieces), score in zip(kept, scores, strict=True):
                found.setdefault(place, []).append(self._scored(asked[place], pieces, score.result()))
        for hypotheses in found.values():
            hypotheses.sort(key=lambda hypothesis: -hypothesis.score)
        for place, hypotheses in rest.items():  # none is better than those that are scored
            if hypotheses:
                found.setdefault(place, []).extend(hypotheses)
        for place, hypotheses in found.items():
            del hypotheses[asked[place].options.n_best :]
        missing = [place for place, one in enumerate(asked) if place not in found and not one.is_optional]
        if missing:
            others = self._otherwise.search(
                [asked[place] for place in missing], max_batch_tokens=max_batch_tokens
            )
            found.update(zip(missing, others, strict=True))
        return [found.get(place, []) for place in range(len(asked))]

    def _batches(self, asked: Sequence[Search], max_batch_tokens: int) -> list[list[int]]:
        """Places of what CTranslate2 can search, in batches of equal options and of about equal cost."""
        batches: list[list[int]] = []
        for alike in by_options(asked):
            options = asked[alike[0]].options
            if options.sampling is not None or options.coverage_penalty:
                continue
            groups: dict[tuple[bool, bool], list[int]] = {}
            for place in alike:
                # placeholders are forbidden where none is required
                is_bound, is_begun = bool(self._wanted(asked[place])), bool(asked[place].prefix)
                if is_bound and is_begun:
                    batches.append([place])
                else:
                    groups.setdefault((is_bound, is_begun), []).append(place)
            for places in groups.values():
                lengths = [len(asked[place].source_ids) + 1 for place in places]
                shares = cut(lengths, max_batch_tokens, options.beam_size, self._n_workers)
                batches += [[places[index] for index in share] for share in shares]
        return batches

    def _wanted(self, asked: Search, prefix: Sequence[int] | None = None) -> set[int]:
        """The placeholders that are required and not in the prefix."""
        return set(asked.required).difference(asked.prefix if prefix is None else prefix)

    def _start(self, batch: Sequence[Search], prefix: Sequence[str] | None = None) -> Sequence[Any]:
        """Search for a batch of equal options; the answers to come.

        A batch of one may have another prefix than the search's own. Prefixes are in the results.
        """
        options = batch[0].options
        begun = [[*self._bos, *(self._named(one.prefix) if prefix is None else prefix)] for one in batch]
        given = None if prefix is None else [self._ids[piece] for piece in prefix]
        forbidden = self._forbidden(set[int]().union(*(self._wanted(one, given) for one in batch)))
        running: Sequence[Any] = self._translator.translate_batch(
            [self._of(one.source_ids) for one in batch],
            begun if any(begun) else None,
            asynchronous=True,
            beam_size=options.beam_size,
            num_hypotheses=options.beam_size,
            length_penalty=1,  # by which it keeps K of those that finish; near enough to any of ours
            no_repeat_ngram_size=options.no_repeat_ngram_size,
            suppress_sequences=[[self._pieces[id_]] for id_ in sorted(forbidden)],
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(self._bos) + max(_limit(one) for one in batch) + 1,  # prefix included
            return_end_token=True,
            return_scores=True,
        )
        return running

    def _with_required(
        self, asked: Sequence[Search], lacking: Mapping[int, list[str]]
    ) -> list[tuple[int, list[str]]]:
        """The place and the pieces of translations with all that is required, where there are any."""
        found: list[tuple[int, list[str]]] = []
        prefixes = {place: self._named(asked[place].prefix) for place in lacking}
        for _ in range(PREFIXES):
            prefixes = self._prefixes(asked, lacking, prefixes)
            running = {
                place: self._start([asked[place]], prefix)
                for place, prefix in prefixes.items()
                if len(prefix) <= _limit(asked[place])
            }
            lacking = {}
            for place, (answer,) in running.items():
                kept = self._usable(asked[place], answer.result())
                found += [(place, pieces) for _, pieces in kept]
                if not kept:
                    lacking[place] = answer.result().hypotheses[0][len(self._bos) :]
        return found

    def _prefixes(
        self, asked: Sequence[Search], lacking: Mapping[int, list[str]], fixed: Mapping[int, list[str]]
    ) -> dict[int, list[str]]:
        """Tokens before the first wrong placeholder of each translation, and the first missing one.

        That stands where it costs least, after what is ``fixed``: its log-probability, less that of what was
        written instead.
        """
        prefixes = {place: self._sound(pieces, asked[place].required) for place, pieces in lacking.items()}
        missing: dict[int, int] = {}
        for place, prefix in prefixes.items():
            lacks = (id_ for id_ in asked[place].required if self._pieces[id_] not in prefix)
            if (first := next(lacks, None)) is not None:
                missing[place] = first
        if not missing:
            return prefixes
        from nmt.searchers.placing import cheapest_places  # noqa: PLC0415 - imports torch

        places = list(missing)
        for first in range(0, len(places), SCORED_TOGETHER):
            some = places[first : first + SCORED_TOGETHER]
            written = [[self._ids[piece] for piece in prefixes[place]] for place in some]
            n_before = cheapest_places(
                self._loaded.model,
                self._special,
                [asked[place].source_ids for place in some],
                written,
                [missing[place] for place in some],
                [min(len(fixed.get(place, ())), len(ids)) for place, ids in zip(some, written, strict=True)],
            )
            for place, n in zip(some, n_before, strict=True):
                prefixes[place] = [*prefixes[place][:n], self._pieces[missing[place]]]
        return prefixes

    def _sound(self, pieces: Sequence[str], required: Sequence[int]) -> list[str]:
        """Tokens before EOS and before the first placeholder that is not required or is there twice."""
        sound: list[str] = []
        for piece in pieces:
            id_ = self._ids[piece]
            is_wrong = id_ in self._placeholders and (id_ not in required or piece in sound)
            if is_wrong or id_ == self._special.eos:
                break
            sound.append(piece)
        return sound

    def _usable(self, asked: Search, answer: Any) -> list[tuple[float, list[str]]]:  # noqa: ANN401
        """The best ``n_best`` finished hypotheses of legal length with each required placeholder once.

        Each comes with its log-probability.

        After a prefix, whose pieces CTranslate2 does not score, all that there are; none that goes on with
        its last word.
        """
        scoring = Scoring.from_options(asked.options)
        end = self._pieces[self._special.eos]
        n_given = len(asked.prefix)
        never = self._word_pieces.never_after(asked.prefix) if n_given else ()
        ranked: list[tuple[float, list[str], float]] = []
        for hypothesis, mean in zip(answer.hypotheses, answer.scores, strict=True):
            pieces = hypothesis[len(self._bos) :]
            log_prob = mean * len(hypothesis)
            if not math.isfinite(log_prob):
                raise NumericalError(
                    "NaN or infinity in the decoder's output for a sentence: verify the model folder, or "
                    "decode with engine eager"
                )
            is_finished = pieces[-1:] == [end] and len(pieces) - 1 <= _limit(asked)
            following = self._ids[pieces[n_given]] if len(pieces) > n_given else None
            if is_finished and following not in never and self._has_required(pieces, asked.required):
                ranked.append((-scoring.score(log_prob, len(pieces)), pieces[:-1], log_prob))
        ranked.sort()
        return [
            (log_prob, pieces) for _, pieces, log_prob in ranked[: None if n_given else asked.options.n_best]
        ]

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

    def token_log_probs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[float]]:
        """As ``Searcher.token_log_probs``."""
        running = self._translator.score_batch(
            [self._of(source) for source, _ in pairs],
            [[*self._bos, *(self._pieces[id_] for id_ in ids)] for _, ids in pairs],
            max_input_length=0,
            max_batch_size=SCORED_TOGETHER,
            asynchronous=True,
        )
        return [list(one.result().log_probs[len(self._bos) :]) for one in running]

    def _score(self, kept: Sequence[tuple[Search, list[str]]]) -> Sequence[Any]:
        """The log-probability of each token, by a forced pass; the answers to come."""
        running: Sequence[Any] = self._translator.score_batch(
            [self._of(asked.source_ids) for asked, _ in kept],
            [[*self._bos, *pieces] for _, pieces in kept],
            max_input_length=0,
            max_batch_size=SCORED_TOGETHER,
            asynchronous=True,
        )
        return running

    def _scored(self, asked: Search, pieces: Sequence[str], scored: Any) -> Hypothesis:  # noqa: ANN401
        log_probs = tuple(scored.log_probs[len(self._bos) :])
        log_prob = math.fsum(log_probs)
        tokens = tuple(self._ids[piece] for piece in pieces)
        score = Scoring.from_options(asked.options).score(log_prob, len(tokens) + 1)
        return Hypothesis(tokens, log_prob, score, True, log_probs)

    def _unscored(self, asked: Search, log_prob: float, pieces: Sequence[str]) -> Hypothesis:
        """A hypothesis with what CTranslate2's search knows of it."""
        tokens = tuple(self._ids[piece] for piece in pieces)
        score = Scoring.from_options(asked.options).score(log_prob, len(tokens) + 1)
        return Hypothesis(tokens, log_prob, score, True)

    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        """As ``Searcher.next_pieces``: alternatives at the first place after each prefix, and no further.

        CTranslate2 has EOS not among them and gives its share to the others: it is scored by itself.
        """
        sources = [self._of(asked.source_ids)] * len(asked.prefixes)
        begun = [[*self._bos, *self._named(prefix)] for prefix in asked.prefixes]
        answers = self._translator.translate_batch(
            sources,
            begun if begun[0] else None,
            asynchronous=True,
            beam_size=1,
            num_hypotheses=asked.count,
            return_alternatives=True,
            suppress_sequences=[[self._pieces[id_]] for id_ in sorted(self._forbidden(asked.required))],
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(begun[0]) + 1,
            return_scores=True,
        )
        scored = self._translator.score_batch(sources, begun, max_input_length=0) if begun[0] else ()
        ends = [one.log_probs[-1] for one in scored] or [-math.inf] * len(begun)
        return [self._followers(answer.result(), end) for answer, end in zip(answers, ends, strict=True)]

    def _followers(self, answer: Any, end: float) -> Followers:  # noqa: ANN401
        """The last pieces of hypotheses, which share what EOS leaves."""
        left = math.log(max(-math.expm1(end), 1e-12))
        found = [
            (self._ids[pieces[-1]], score + left)
            for pieces, score in zip(answer.hypotheses, answer.scores, strict=True)
        ]
        found.append((self._special.eos, end))
        return sorted(found, key=lambda one: -one[1])

    def _forbidden(self, required: Collection[int]) -> set[int]:
        """What no translation holds, and placeholders that this one is not to hold."""
        return {self._special.pad, self._special.bos, *self._placeholders} - set(required)

    def _named(self, ids: Sequence[int]) -> list[str]:
        """The pieces of a translation."""
        return [self._pieces[id_] for id_ in ids]

    def _of(self, ids: Sequence[int]) -> list[str]:
        """The pieces of a source sentence."""
        return [self._source_pieces[id_] for id_ in ids]


def _limit(asked: Search) -> int:
    """The most tokens of a translation, EOS not counted; required ones fit in."""
    options: GenerationConfig = asked.options
    most = max_length(len(asked.source_ids), options.max_length_ratio, options.max_length_offset)
    return max(most, len(asked.prefix) + len(set(asked.required).difference(asked.prefix)))
