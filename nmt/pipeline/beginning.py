"""A translation that begins as somebody wrote it: the prefix as the model would have written it, and back.

Search continues from a prefix (Wuebker et al. 2016). The prefix is text of the translation, so what the
pipeline does to translations after the search is undone for it first: literals become placeholders, capitals
of a sentence in capitals go, and so does a list mark. The pieces are the tokenizer's own. Its last word is a
whole one: no piece that would go on with it may follow (``nmt.text.word_pieces``). After the search, whatever
rules would have made of the prefix, it stands there as it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from nmt.pipeline.prepare import ModelInput, PreparedSentence, Preparer
from nmt.pipeline.restore import rewrite
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting


@dataclass(frozen=True)
class Beginning:
    """The prefix of a sentence."""

    text: str
    """Without white space around it, and with all of a literal in which it ends."""
    ids: tuple[int, ...]
    """What the model writes for it."""

    def end_in(self, candidate: Candidate) -> int:
        """Where the prefix ends in a candidate's text."""
        return candidate.pieces[len(self.ids) - 1].end if self.ids else 0

    def put_into(self, candidate: Candidate) -> Candidate:
        """The candidate with the prefix as it was given; its pieces follow."""
        if candidate.text.startswith(self.text):
            return candidate
        written = candidate.text[: self.end_in(candidate)]
        changes = SequenceMatcher(None, written, self.text, autojunk=False).get_opcodes()
        edits = [
            Edit(Span(start, end), self.text[first:last])
            for kind, start, end, first, last in changes
            if kind != "equal"
        ]
        return rewrite(candidate, Rewriting.of(candidate.text, edits))


NOTHING = Beginning("", ())
"""The model begins."""


def beginning_of(preparer: Preparer, sentence: PreparedSentence, model_input: ModelInput) -> Beginning:
    """How the translation of a sentence begins, of which the model reads ``model_input``."""
    prefix = sentence.prefix
    if not prefix:
        return NOTHING
    places, rest = _literals(model_input, prefix)
    written = _in_model_case(sentence, prefix, [span for span, _ in places])
    written = Rewriting.of(written, [Edit(span, placeholder) for span, placeholder in places]).new
    frame = sentence.text[: sentence.form.core.start].strip()
    return Beginning(prefix + rest, tuple(preparer.encode_target(written.removeprefix(frame).lstrip())))


def _literals(model_input: ModelInput, prefix: str) -> tuple[list[tuple[Span, str]], str]:
    """Where the prefix holds what is copied, each once, with its placeholder; and what the last one lacks."""
    places: list[tuple[Span, str]] = []
    rest = ""
    for placeholder, entry in model_input.protected:
        ends = [*_ends(prefix, entry.text)]
        for span in ends:
            if not any(span.start < other.end and other.start < span.end for other, _ in places):
                places.append((span, placeholder.text))
                rest = entry.text[span.end - span.start :] or rest
                break
    return sorted(places, key=lambda place: place[0].start), rest


def _ends(prefix: str, text: str) -> list[Span]:
    """Where a text stands in the prefix as words by themselves, or is begun at its end."""
    found = []
    for start in range(len(prefix)):
        end = min(start + len(text), len(prefix))
        if prefix[start:end] == text[: end - start] and _is_apart(prefix, start, end):
            is_whole_word = not (prefix[end - 1].isalnum() and text[end - start :][:1].isalnum())
            if text and is_whole_word:
                found.append(Span(start, end))
    return found


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether no word goes on over the ends of a span."""
    sides = (text[start - 1 : start], text[start : start + 1]), (text[end - 1 : end], text[end : end + 1])
    return not any(one.isalnum() and other.isalnum() for one, other in sides)


def _in_model_case(sentence: PreparedSentence, prefix: str, kept: list[Span]) -> str:
    """As the model writes it, of equal length: a sentence in capitals is translated in small letters."""
    is_raised = sentence.form.recased[sentence.form.core.start :][:1].isupper()
    if sentence.form.case == "lower" and is_raised and not any(span.start == 0 for span in kept):
        return prefix[:1].upper() + prefix[1:] if len(prefix[:1].upper()) == 1 else prefix
    if sentence.form.case != "capitals":
        return prefix
    return prefix[:1] + "".join(
        character
        if len(character.lower()) > 1 or any(span.start <= place < span.end for span in kept)
        else character.lower()
        for place, character in enumerate(prefix[1:], start=1)
    )
