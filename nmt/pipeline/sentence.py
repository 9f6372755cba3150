"""One sentence of a plan, from its token ids to its translation, as a flow (``nmt.pipeline.requests``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.alignment.alignment import Alignment
from nmt.config import AlignmentConfig, GenerationConfig
from nmt.hypothesis import Hypothesis
from nmt.pipeline.constraints import translate_faithfully
from nmt.pipeline.finish import FinishedSentence
from nmt.pipeline.plan import Plan
from nmt.pipeline.prepare import Preparer
from nmt.pipeline.quality import Judge, align_copy, copy_of
from nmt.pipeline.requests import Flow, align_with, look_at
from nmt.pipeline.restore import link_kept, with_all_kept
from nmt.pipeline.result import Candidate
from nmt.tokenizer import Piece, Tokenizer


@dataclass(frozen=True)
class SentenceFlow:
    """What the flows of one model's sentences need; ``max_positions`` None: the model reads any length."""

    source_tokenizer: Tokenizer
    tokenizer: Tokenizer
    """Of what the model writes."""
    preparer: Preparer
    judge: Judge
    max_positions: int | None

    def of(self, plan: Plan, index: int) -> Flow[FinishedSentence]:
        """The flow of the plan's sentence ``index``."""
        sentence, ids = plan.sentences[index], plan.source_ids[index]
        text = sentence.text
        candidates, flags = self.judge.pass_through(text) or (
            yield from translate_faithfully(
                self.preparer,
                sentence,
                ids,
                self._search(plan, len(ids)),
                self._decode,
                reads_back=plan.options.quality == "best",
            )
        )
        confidence = self.judge.confidence(text, len(ids), candidates[0])
        least = plan.options.min_confidence
        if confidence is not None and least is not None and confidence < least and not candidates[0].copied:
            candidates, flags = (copy_of(text),), (*flags, "below_min_confidence")
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
        return FinishedSentence(candidates, alignment, verdict, heads)

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
        """What the model read."""
        return candidate.source_pieces or self.source_tokenizer.encode_pieces(text)

    def _search(self, plan: Plan, n_tokens: int) -> GenerationConfig:
        """How to search; where the best is chosen afterwards, all of the beam are asked for."""
        options = self._within_positions(plan.generation, n_tokens)
        if plan.options.quality != "best":
            return options
        return options.model_copy(update={"n_best": options.beam_size})

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
