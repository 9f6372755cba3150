"""Translators with a known alignment: what the projection of tags is tested on, without any model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from nmt.alignment.pharaoh import Link
from nmt.extraction import Extract
from nmt.pipeline.result import SentenceTranslation, Translation
from nmt.spans import Span
from nmt.text.segment import split
from nmt.text.words import Token, words


def translation_of(
    source: str,
    target: str,
    links: str = "",
    *,
    scores: Mapping[tuple[int, int], float] | None = None,
    kept: Sequence[tuple[Span, Span]] = (),
    with_links: bool = True,
) -> Translation:
    """A translation of one sentence with links as "0-0 1-2", score 0.9, over words and punctuation marks."""
    pairs = [(int(s), int(t)) for s, t in (pair.split("-") for pair in links.split())]
    found = [Link(*pair, (scores or {}).get(pair, 0.9)) for pair in pairs]
    sentence = (Span(0, len(source)), target, words(source), words(target), found)
    return assemble(source, [sentence], kept, with_links=with_links)


def assemble(
    source: str,
    sentences: Sequence[tuple[Span, str, Sequence[Token], Sequence[Token], Sequence[Link]]],
    kept: Sequence[tuple[Span, Span]] = (),
    *,
    with_links: bool = True,
) -> Translation:
    """Sentences put together, with the white space of the source between them."""
    text, read = "", 0
    source_tokens: list[Token] = []
    target_tokens: list[Token] = []
    links: list[Link] = []
    done: list[SentenceTranslation] = []
    for span, target, own_source, own_target, own_links in sentences:
        text += source[read : span.start]
        start, first_source, first_target = len(text), len(source_tokens), len(target_tokens)
        text += target
        read = span.end
        source_tokens += own_source
        target_tokens += [Token(t.text, t.start + start, t.end + start) for t in own_target]
        links += [
            Link(link.source + first_source, link.target + first_target, link.score) for link in own_links
        ]
        done.append(
            SentenceTranslation(
                source=span,
                target=Span(start, len(text)),
                score=-0.5,
                truncated=False,
                source_tokens=Span(first_source, len(source_tokens)),
                target_tokens=Span(first_target, len(target_tokens)),
                attention=None,
            )
        )
    return Translation(
        text=text + source[read:],
        score=-0.5,
        sentences=tuple(done),
        source_tokens=tuple(source_tokens) if with_links else None,
        target_tokens=tuple(target_tokens) if with_links else None,
        links=tuple(links) if with_links else None,
        alternatives=(),
        truncated=False,
        repaired=False,
        n_source_tokens=1,
        n_target_tokens=1,
        kept=tuple(kept),
    )


def same(extract: Extract) -> Translation:
    """The text itself, each word linked to itself."""
    return word_by_word(extract, str)


def shouted(extract: Extract) -> Translation:
    """The text in capitals but for what is to be kept, each word linked to itself."""
    return word_by_word(extract, str.upper)


def word_by_word(extract: Extract, rule: Callable[[str], str]) -> Translation:
    """``rule`` may not change the length of a text."""
    text = extract.text
    target = rule(text)
    for span in extract.keep:
        target = target[: span.start] + text[span.start : span.end] + target[span.end :]
    sentences = []
    for segment in split(text, "en"):
        own = words(segment.text)
        source = [Token(t.text, t.start + segment.start, t.end + segment.start) for t in own]
        translated = words(target[segment.start : segment.end])
        links = [Link(index, index, 1.0) for index in range(len(own))]
        sentences.append(
            (Span(segment.start, segment.end), target[segment.start : segment.end], source, translated, links)
        )
    return assemble(text, sentences, [(span, span) for span in extract.keep])


def scrambled(seed: int, *, with_links: bool = True) -> Callable[[Extract], Translation]:
    """A translator that writes words in another order, loses some, adds some, and links some of them wrongly.

    Copied spans stay whole. All of it follows from the text and ``seed``.
    """

    def translate(extract: Extract) -> Translation:
        sentences, kept, length, read = [], [], 0, 0
        for segment in split(extract.text, "en"):
            length += segment.start - read
            read = segment.end
            own = [Token(t.text, t.start + segment.start, t.end + segment.start) for t in words(segment.text)]
            target, own_kept, links = _scramble(extract, own, seed)
            kept += [(span, Span(found.start + length, found.end + length)) for span, found in own_kept]
            target_tokens = words(target)
            links = [link for link in links if link.target < len(target_tokens)]
            sentences.append((Span(segment.start, segment.end), target, own, target_tokens, links))
            length += len(target)
        return assemble(extract.text, sentences, kept, with_links=with_links)

    return translate


def _scramble(
    extract: Extract, tokens: Sequence[Token], seed: int
) -> tuple[str, list[tuple[Span, Span]], list[Link]]:
    units: list[tuple[str, list[int], Span | None]] = []
    for index, token in enumerate(tokens):
        inside = next(
            (span for span in extract.keep if span.start < token.end and token.start < span.end), None
        )
        if inside is None:
            units.append((token.text.swapcase(), [index], None))
        elif units and units[-1][2] == inside:
            units[-1][1].append(index)
        else:
            units.append((extract.text[inside.start : inside.end], [index], inside))
    order = sorted(range(len(units)), key=lambda place: place + _noise(seed, "order", place) * 4)
    text, kept, links = "", [], []
    for place in order:
        written, sources, span = units[place]
        draw = _noise(seed, "what", place, written)
        is_lost = span is None and draw < 0.1 and written.isalpha()
        if is_lost and (text or place != order[-1]):  # a translator never writes nothing at all
            continue
        if draw > 0.9:
            text += (" " if text else "") + "xx"
        text += " " if text else ""
        first = len(words(text))
        if span is not None:
            kept.append((span, Span(len(text), len(text) + len(written))))
        text += written
        for target in range(first, len(words(text))):
            wrong = _noise(seed, "wrong", target) < 0.15
            source = int(_noise(seed, "to", target) * len(tokens)) if wrong else sources[0]
            if _noise(seed, "linked", target) > 0.1:
                links.append(Link(source, target, 0.3 + _noise(seed, "score", target) / 2))
    return text, kept, links


def _noise(*key: object) -> float:
    """A number from 0 to 1 that follows from ``key``."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=6).digest(), "big") / 2**48
