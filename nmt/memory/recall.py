"""Matches of a memory for the sentences of texts, looked up before the texts are translated."""

from __future__ import annotations

from collections.abc import Sequence

from nmt.memory.index import TranslationMemory
from nmt.memory.unit import MemoryMatch
from nmt.text.segment import split, split_lines


def recall(
    memory: TranslationMemory, texts: Sequence[str], threshold: float, *, split_sentences: bool = True
) -> tuple[MemoryMatch, ...]:
    """A match for each text, line or sentence that has one, each once.

    An exact match is looked for first of a whole text, then of a line, then of a sentence. What is left gets
    the unit most like it, sentence by sentence.

    Args:
        memory: where to look.
        texts: whole texts.
        threshold: the least score of a fuzzy match; 1: exact matches alone.
        split_sentences: False: a line is one sentence.
    """
    language = memory.languages[0]
    whole = {text: text.strip() for text in texts}
    lines = {text: [line.text for line in split_lines(text, language)] for text in texts}
    sentences = {
        line: [part.text for part in split(line, language)] if split_sentences else [line]
        for own in lines.values()
        for line in own
    }
    pieces = [*whole.values(), *(line for own in lines.values() for line in own)]
    pieces += [sentence for own in sentences.values() for sentence in own]
    exact = memory.exact([piece for piece in dict.fromkeys(pieces) if piece])
    found: dict[str, MemoryMatch] = {}
    for text in texts:
        if whole[text] in exact:
            found[whole[text]] = exact[whole[text]]
            continue
        for line in lines[text]:
            if line in exact:
                found[line] = exact[line]
                continue
            for sentence in sentences[line]:
                match = exact.get(sentence) or found.get(sentence) or memory.best(sentence, threshold)
                if match is not None:
                    found[sentence] = match
    return tuple(found.values())
