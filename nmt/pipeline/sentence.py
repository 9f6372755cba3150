"""One sentence of a plan, from its token ids to its translation, as a flow (``nmt.pipeline.requests``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from nmt.alignment.alignment import Alignment
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.errors import InputError
from nmt.hypothesis import Hypothesis
from nmt.memory.unit import MemoryMatch
from nmt.pipeline.beginning import beginning_of
from nmt.pipeline.constraints import translate_with_constraints
from nmt.pipeline.finish import FinishedSentence
from nmt.pipeline.known import known_translation
from nmt.pipeline.memory import as_used, match_of, recalled, repaired
from nmt.pipeline.next_words import NextWord, next_words
from nmt.pipeline.plan import Plan
from nmt.pipeline.prepare import PreparedSentence, Preparer
from nmt.pipeline.quality import Found, Judge, align_copy, copy_of
from nmt.pipeline.requests import Flow, NextPieces, align_with, look_at
from nmt.pipeline.restore import link_kept, restore, with_all_kept
from nmt.pipeline.result import Candidate, MemoryUse
from nmt.text.words import words
from nmt.tokenizer import Piece, Tokenizer


@dataclass(frozen=True)
class SentenceFlow:
    """Pipeline of one model's sentences; ``max_positions`` None: the model reads any length."""

    source_tokenizer: Tokenizer
    tokenizer: Tokenizer
    """Tokenizer of the target."""
    preparer: Preparer
    judge: Judge
    max_positions: int | None
    has_scorer: bool = False
    """Links come from a trained scorer, and are good enough to place pairs of literals by."""

    def of(self, plan: Plan, index: int) -> Flow[FinishedSentence]:
        """The flow of the plan's sentence ``index``."""
        sentence, ids = plan.sentences[index], plan.source_ids[index]
        text = sentence.text
        if plan.options.next_words:
            return (yield from self._next_words(sentence, plan.options.next_words))
        match = match_of(sentence) if plan.options.memory else None
        from_memory = _begun(sentence, self._recalled(sentence, match))
        candidates, flags = (
            from_memory
            or _begun(sentence, self.judge.pass_through(text))
            or (yield from self._searched(sentence, ids, plan))
        )
        confidence = self.judge.confidence(text, len(ids), candidates[0])
        use: MemoryUse = "suggestion" if from_memory is None else "translation"
        if match is not None and from_memory is None:
            repair = yield from self._repaired(sentence, match, candidates[0], plan)
            changed = _begun(sentence, repair)
            if changed is not None:
                candidates, use = (*changed[0], *candidates), "repair"
        if use == "suggestion":
            known = known_translation(sentence, candidates[0], confidence, self.tokenizer)
            if known is not None and known.text.startswith(sentence.prefix):
                candidates, flags, confidence = (known, *candidates[1:]), ("lexicon",), 1.0
        least = plan.options.min_confidence
        if confidence is not None and least is not None and confidence < least and not candidates[0].copied:
            candidates, flags = (copy_of(text),), (*flags, "below_min_confidence")
            use = "suggestion"
        if candidates[0].copied:
            candidates = (with_all_kept(sentence, candidates[0]),)
        alignment = None
        if plan.options.alignment != "none":
            alignment = yield from self._alignment(text, candidates[0], plan.options.attention)
        heads = None
        if plan.options.alignment == "heads" and not candidates[0].copied:
            heads = yield from look_at(self._source_pieces(text, candidates[0]), candidates[0].pieces)
        if plan.options.formality != "default" and plan.options.formality not in self.preparer.registers:
            flags = (*flags, "register_unavailable")
        verdict = self.judge.verdict(
            text,
            len(ids),
            candidates[0],
            alignment,
            flags=flags,
            confidence=confidence,
        )
        memory = None if match is None else as_used(match, use)
        return FinishedSentence(candidates, alignment, verdict, heads, memory)

    def _recalled(
        self, sentence: PreparedSentence, match: MemoryMatch | None, *, is_repaired: bool = False
    ) -> Found | None:
        """Match of the memory as it stands, or repaired."""
        if match is None or not (match.is_exact or is_repaired):
            return None
        most = None if self.max_positions is None else self.max_positions - 1
        encode = self.tokenizer.encode_pieces
        return recalled(sentence, match, encode, most, is_repaired=is_repaired)

    def _repaired(
        self, sentence: PreparedSentence, match: MemoryMatch, best: Candidate, plan: Plan
    ) -> Flow[Found | None]:
        """Repair of a fuzzy match: the model puts in the words that differ."""
        target = yield from repaired(sentence, match, best, partial(self._by_itself, plan))
        if target is None:
            return None
        return self._recalled(sentence, replace(match, target=target), is_repaired=True)

    def _next_words(self, sentence: PreparedSentence, count: int) -> Flow[FinishedSentence]:
        """The words that may follow the sentence's prefix, which stands in the place of its translation."""
        n_free = self.preparer.n_free(sentence)
        model_input = sentence.model_input or self.preparer.read(sentence, sentence.copied[:n_free])
        assert model_input is not None, "there are so many placeholders"
        beginning = beginning_of(self.preparer, sentence, model_input)
        self._check_length(beginning.ids)
        given = replace(copy_of(sentence.prefix), copied=False)
        n_given = len(sentence.prefix)
        if rest := words(beginning.text[n_given:]):  # of a literal
            word = NextWord(rest[0].text, beginning.text[: n_given + rest[0].end], 1.0)
            return FinishedSentence((given,), next_words=(word,))

        def written(ids: tuple[int, ...]) -> str:
            candidate = self._decode(Hypothesis((*beginning.ids, *ids), 0.0, 0.0, False))
            restored = beginning.put_into(restore(sentence, model_input, candidate, len(beginning.ids)))
            return restored.text[: restored.pieces[-1].end]

        ids = tuple(self.preparer.encode(model_input.text))
        required = tuple(placeholder.id for placeholder, _ in model_input.protected)
        asked = NextPieces(ids, (beginning.ids,), count, required)
        eos = self.tokenizer.special.eos
        found = yield from next_words(asked, sentence.prefix, self.tokenizer.pieces, eos, written)
        return FinishedSentence((given,), next_words=found)

    def _check_length(self, prefix: Sequence[int]) -> None:
        """Raise ``InputError`` for a prefix after which the model could write no word more."""
        if self.max_positions is not None and len(prefix) >= self.max_positions - 1:
            raise InputError(
                f"the prefix has {len(prefix)} sub-words, and the model writes at most "
                f"{self.max_positions - 1}: shorten it"
            )

    def _searched(self, sentence: PreparedSentence, ids: Sequence[int], plan: Plan) -> Flow[Found]:
        """What the model writes."""
        self._check_length(self.preparer.encode_target(sentence.prefix))
        options = self._search(plan, sentence, len(ids))
        return (
            yield from translate_with_constraints(
                self.preparer,
                sentence,
                ids,
                options,
                self._decode,
                n_best=None if plan.options.quality == "best" else plan.generation.n_best,
                with_lexicon=self._is_corrected,
                with_links=self.has_scorer,
            )
        )

    def _by_itself(self, plan: Plan, text: str) -> Flow[Candidate]:
        """The model's translation of another text, as one sentence; itself where the model cannot read it."""
        sentence = self.preparer.prepare(text, self.preparer.literals(text), (), plan.options)
        ids = self.preparer.encode(text if sentence.model_input is None else sentence.model_input.text)
        if self.max_positions is not None and len(ids) >= self.max_positions:
            return copy_of(text)
        candidates, _ = yield from self._searched(sentence, ids, plan)
        return candidates[0]

    def _alignment(
        self, text: str, candidate: Candidate, attention: AlignmentConfig | None
    ) -> Flow[Alignment]:
        """Links by a forced pass over what the model read and wrote; what was copied is linked to itself."""
        if candidate.copied:
            return align_copy(text)
        pieces = self._source_pieces(text, candidate)
        alignment = yield from align_with((text, pieces), (candidate.text, candidate.pieces), attention)
        return link_kept(alignment, candidate.kept)

    def _source_pieces(self, text: str, candidate: Candidate) -> Sequence[Piece]:
        """Pieces that the model read."""
        return candidate.source_pieces or self.source_tokenizer.encode_pieces(text)

    def _search(self, plan: Plan, sentence: PreparedSentence, n_tokens: int) -> GenerationConfig:
        """How to search; where one is chosen afterwards, all of the beam are asked for."""
        options = self._within_positions(plan.generation, n_tokens)
        is_chosen = plan.options.quality == "best" or (self._is_corrected and not sentence.prefix)
        if options.sampling is not None or not is_chosen:
            return options
        return options.model_copy(update={"n_best": max(options.n_best, options.beam_size)})

    @property
    def _is_corrected(self) -> bool:
        """Whether the lexicon may correct the model: it tells how sure it is, and others are larger."""
        return self.judge.model is not None

    def _within_positions(self, options: GenerationConfig, n_tokens: int) -> GenerationConfig:
        """``options``; where they would let a target outgrow the model's positions, those are its limit."""
        if self.max_positions is None:
            return options
        most = self.max_positions - 1
        if options.max_length_ratio * (n_tokens + 1) + options.max_length_offset <= most:
            return options
        # ceil(ratio * length) + offset is the limit of search: any tiny ratio adds 1
        return options.model_copy(update={"max_length_ratio": 1e-6, "max_length_offset": most - 1})

    def _decode(self, hypothesis: Hypothesis) -> Candidate:
        text, pieces = self.tokenizer.decode_pieces(hypothesis.tokens)
        return Candidate(
            text,
            tuple(pieces),
            hypothesis.log_prob,
            hypothesis.score,
            hypothesis.finished,
            hypothesis.token_log_probs,
        )


def _begun(sentence: PreparedSentence, found: Found | None) -> Found | None:
    """What was found without a search, where it begins as it should."""
    return found if found is not None and found[0][0].text.startswith(sentence.prefix) else None
