"""Short texts of the lexicon, where the model says something else and is not sure of it."""

from __future__ import annotations

from nmt.pipeline.prepare import PreparedSentence
from nmt.pipeline.result import Candidate
from nmt.text.lexicon import Entry, look_up, look_up_caption, look_up_plural
from nmt.tokenizer import Tokenizer

UNSURE, UNSURE_OF_A_SENTENCE = 0.9, 0.85
"""Below such a confidence the lexicon is believed, not the model; a sentence may be said in more ways."""
WHOLE = (".", "!", "?")


def known_translation(
    sentence: PreparedSentence, best: Candidate, confidence: float | None, tokenizer: Tokenizer
) -> Candidate | None:
    """Translation in the lexicon; None: nothing, the same, or the model is sure.

    A text with terms or literals is the model's, and so is one that is to say *tu*. Without
    a calibrated confidence nothing is known of how sure the model is.

    Args:
        sentence: of ``Preparer.prepare``.
        best: what the model says.
        confidence: that it is good, 0 to 1.
        tokenizer: of what the model writes.
    """
    if confidence is None or sentence.terms or sentence.copied or sentence.options.formality == "informal":
        return None
    entry = _entry(sentence)
    if entry is None or confidence >= _unsure(sentence.text) or entry.has(best.text):
        return None
    return _candidate(entry, tokenizer)


def needs_scores(sentence: PreparedSentence) -> bool:
    """Whether the log-probability of each token is read by anybody: the caller, or who doubts the model."""
    options = sentence.options
    return (
        options.confidence
        or options.min_confidence is not None
        or options.alignment != "none"
        or options.quality == "best"
        or _entry(sentence) is not None
    )


def _entry(sentence: PreparedSentence) -> Entry | None:
    languages = sentence.source_language, sentence.target_language
    return (
        look_up_caption(sentence.text, *languages)
        or look_up(sentence.text, *languages)
        or look_up_plural(sentence.text, *languages)
    )


def _unsure(text: str) -> float:
    return UNSURE_OF_A_SENTENCE if text.endswith(WHOLE) and " " in text else UNSURE


def _candidate(entry: Entry, tokenizer: Tokenizer) -> Candidate:
    text = entry.translations[0]
    pieces = tuple(tokenizer.encode_pieces(text))
    return Candidate(text, pieces, 0.0, 0.0, finished=True, token_log_probs=(0.0,) * (len(pieces) + 1))
