"""HTML into tokens, by the WHATWG tokenizer of turbohtml, with what the standard says of its elements.

Nothing is ever an error here: unclosed, crossed and unknown tags are tokens like all others.

Source: HTML Living Standard, 13.2.5 (tokenization), 13.1.2.4 (optional tags), 15.3 (which elements are
blocks), 6.8 (``translate``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from html import unescape
from itertools import pairwise

import turbohtml
from turbohtml import TokenType

from nmt.markup.tokens import Attribute, Kind, Token, copy_mentions
from nmt.text.mentions import CLASSES


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


VOID = _set("area base br col embed hr img input link meta param source track wbr")
BLOCKS = _set(
    "address article aside base blockquote body button caption center col colgroup dd details dialog dir div "
    "dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr "
    "html label legend li link listing main menu meta nav noframes noscript ol optgroup option p plaintext "
    "pre search section select summary table tbody td template tfoot th thead title tr ul xmp"
)
COPIED = _set("code kbd listing math plaintext pre samp tt var xmp")
"""Copied, but part of their sentence where they are inline."""
HIDDEN = _set("audio canvas embed iframe noembed noframes object script style svg textarea video")
"""Copied, and none of their text is part of a sentence."""
KEEP_SPACE = _set("listing plaintext pre textarea xmp")
KNOWN = (
    BLOCKS
    | VOID
    | COPIED
    | HIDDEN
    | _set(
        "a abbr acronym b bdi bdo big cite del dfn em font i ins mark picture q rp rt ruby s small span "
        "strike strong sub sup time u"
    )
)
"""Elements of HTML."""
SEPARATING = _set("br img input embed object svg video audio canvas iframe textarea select")
TRANSLATED_ATTRIBUTES = (
    *("alt", "title", "placeholder", "content", "value", "label"),
    *("aria-label", "aria-description", "aria-placeholder", "aria-roledescription", "aria-valuetext"),
)
"""``content`` of descriptions of the page, ``value`` of buttons, ``label`` of options and tracks."""

MAX_DEPTH = 200
"""Elements inside each other; what is deeper stands alone, without an end."""
_SAME_KIND = {
    name: frozenset(group.split())
    for group in ("li", "dt dd", "td th", "tr", "thead tbody tfoot", "option", "optgroup option")
    for name in group.split()
}
"""A start tag of the group ends an open element of the group: their end tags may be left out."""
_SCOPES = _set("ul ol dl table select")
_BUTTONS = _set("submit button reset")
_ONLY_OF = {"content": _set("meta"), "label": _set("option optgroup track")}
"""Attributes that mean something else of other elements."""
_DESCRIPTIONS = _set("description og:title og:description twitter:title twitter:description keywords")
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?P<name>[^\s/>][^\s/>=]*)(?:\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s>"'][^\s>]*))?"""
)
_TAG_NAME = re.compile(r"<[^\s/>]*")
_AFTER_BREAK = re.compile(r"\s*(.)", re.DOTALL)
_KINDS = {
    TokenType.TEXT: Kind.TEXT,
    TokenType.CHARACTER_REFERENCE: Kind.REFERENCE,
    TokenType.START_TAG: Kind.START,
    TokenType.END_TAG: Kind.END,
}


def looks_like_html(text: str) -> bool:
    """Whether ``text`` holds an element of HTML with both its tags, or one that has but one."""
    if "<" not in text or ">" not in text:
        return False
    return any(
        token.name in KNOWN and (token.partner is not None or token.name in VOID)
        for token in tokenize_html(text, (), ())
    )


def tokenize_html(text: str, ignore_tags: Collection[str], attributes: Collection[str]) -> list[Token]:
    """Tokens of an HTML page or fragment.

    Args:
        text: any text at all.
        ignore_tags: elements to copy, besides those that are copied anyway.
        attributes: names of the attributes to translate.
    """
    tokens = _scan(text, 0, set(ignore_tags), set(attributes))
    pair(tokens)
    for token in tokens:
        if token.is_self_closing and token.partner is None and token.kind is Kind.START:
            token.kind = Kind.EMPTY
    for index, token in enumerate(tokens):
        if token.name == "br":
            token.splits = _ends_a_line(tokens, index)
        elif token.kind is Kind.START and token.name == "a" and not _is_note(tokens, index):
            token.starts_content = _follows_a_link(tokens, index)
        elif token.kind is Kind.START and token.name in {"sup", "a"} and _is_note(tokens, index):
            token.translates = token.is_shown = False
    copy_mentions(tokens)
    return tokens


def _scan(text: str, offset: int, ignored: Collection[str], attributes: Collection[str]) -> list[Token]:
    """Tokens of ``text``, which is at ``offset`` of the whole; not yet paired.

    The tokenizer drops the carriage returns and ``</>``. It reads a stand-in of the same length without them.
    """
    shadow = text.replace("\r\n", " \n").replace("\r", "\n").replace("</>", "<!>")
    lines = [0, *(match.end() for match in re.finditer("\n", shadow))]
    found = list(turbohtml.tokenize(shadow, resolve_references=False, capture_source=True))
    starts = [lines[token.line - 1] + token.col for token in found] + [len(text)]
    tokens = [Token(Kind.OTHER, offset, offset + starts[0])] if starts[0] else []
    for one, (start, following) in zip(found, pairwise(starts), strict=True):
        source = one.data if one.type == TokenType.TEXT else one.source
        end = min(following, start + len(source or ""))
        raw, name = text[start:end], one.tag or ""
        if one.type == TokenType.TEXT and tokens and tokens[-1].name == "noscript" and offset == 0:
            tokens += _scan(raw, start, ignored, attributes)
        else:
            token = Token(_KINDS.get(one.type, Kind.OTHER), start + offset, end + offset, name=name)
            if token.kind is Kind.TEXT:
                token.text = raw
            elif token.kind is Kind.REFERENCE:
                token.text = one.data or ""
            elif token.kind is Kind.START:
                _describe(token, one, raw, ignored, attributes)
            token.splits = token.splits or name in BLOCKS
            tokens.append(token)
        if end < following:  # a tag that the end of the text cut off
            tokens.append(Token(Kind.OTHER, end + offset, following + offset))
    return tokens


def _describe(
    token: Token, tag: turbohtml.Token, raw: str, ignored: Collection[str], attributes: Collection[str]
) -> None:
    """Fill in what follows from the name of a start tag and its attributes."""
    name = token.name
    token.separates = name in SEPARATING
    token.keeps_space = name in KEEP_SPACE
    token.is_shown = name not in HIDDEN
    token.is_self_closing = tag.self_closing
    token.is_mention = not CLASSES.isdisjoint((tag.attr("class") or "").split())
    if name in VOID:
        token.kind = Kind.EMPTY
    translate = tag.attr("translate")
    classes = (tag.attr("class") or "").split()
    if name in ignored or "notranslate" in classes or (translate or "").lower() == "no":
        token.translates = False
        return
    if name in HIDDEN:
        token.translates = False
    elif translate is not None and translate.lower() in {"", "yes"}:
        token.translates = True
    elif name in COPIED:
        token.translates = False
    if name == "meta" and _DESCRIPTIONS.isdisjoint({tag.attr("name"), tag.attr("property")}):
        return
    wanted = [found for found in attributes if tag.attr(found) and _is_read(found, tag)]
    if wanted:
        token.attributes = tuple(_attributes(token.start, tag, raw, wanted))


def _is_read(attribute: str, tag: turbohtml.Token) -> bool:
    """Whether people read this attribute of the element."""
    if attribute == "value":
        return tag.tag == "input" and (tag.attr("type") or "").strip().lower() in _BUTTONS
    return tag.tag in _ONLY_OF.get(attribute, (tag.tag,))


def _attributes(start: int, tag: turbohtml.Token, raw: str, wanted: Sequence[str]) -> list[Attribute]:
    """Where the values of the wanted attributes are. One that is not surely found is left alone."""
    opening = _TAG_NAME.match(raw)
    found: dict[str, Attribute] = {}
    for match in _ATTRIBUTE.finditer(raw, opening.end() if opening else 0):
        name = match["name"].lower()
        if match["value"] and name in wanted and name not in found:
            value = match["value"]
            bare = value[1:-1] if value[0] in "\"'" else value
            text = tag.attr(name) or ""
            if unescape(bare).split() == text.split():
                found[name] = Attribute(start + match.start("value"), start + match.end("value"), text)
    return sorted(found.values(), key=lambda attribute: attribute.start)


def pair(tokens: Sequence[Token]) -> None:
    """Find the end tag of each start tag, and where the elements end whose end tag was left out."""
    opened: list[int] = []
    n_open: Counter[str] = Counter()
    for index, token in enumerate(tokens):
        token.after = index + 1
        if token.kind is Kind.START and len(opened) < MAX_DEPTH:
            place = _closed_by(tokens, opened, token)
            if place is not None:
                _close(tokens, opened, n_open, range(place, len(opened)), index)
            opened.append(index)
            n_open[token.name] += 1
        elif token.kind is Kind.END and n_open[token.name]:
            place = next(p for p in reversed(range(len(opened))) if tokens[opened[p]].name == token.name)
            start = opened[place]
            last = len(opened) if token.splits else place + 1
            _close(tokens, opened, n_open, range(place, last), index)
            tokens[start].partner, token.partner, tokens[start].after = index, start, index + 1
    _close(tokens, opened, n_open, range(len(opened)), len(tokens))


def _close(
    tokens: Sequence[Token], opened: list[int], n_open: Counter[str], places: range, index: int
) -> None:
    """The elements at ``places`` of the stack end before token ``index``."""
    for start in opened[places.start : places.stop]:
        if tokens[start].splits:
            tokens[start].after = index
        n_open[tokens[start].name] -= 1
    del opened[places.start : places.stop]


def _closed_by(tokens: Sequence[Token], opened: Sequence[int], token: Token) -> int | None:
    """Place in ``opened`` of the element that a start tag ends, for want of an end tag."""
    group = _SAME_KIND.get(token.name, frozenset())
    for place in reversed(range(len(opened))):
        name = tokens[opened[place]].name
        if name in group or (name == "p" and token.splits):
            return place
        if name in _SCOPES:
            return None
    return None


def _follows_a_link(tokens: Sequence[Token], index: int) -> bool:
    """Two links with nothing but white space between are entries of a menu: each is its own sentence."""
    place = index - 1
    while place >= 0 and tokens[place].kind is Kind.TEXT and tokens[place].text.isspace():
        place -= 1
    return place >= 0 and tokens[place].kind is Kind.END and tokens[place].name == "a"


def _is_note(tokens: Sequence[Token], index: int) -> bool:
    """A footnote's number or a power, "table<sup>1</sup>": it goes with the word, but is no part of it.

    So does a link that is an asterisk or a number right after a word.
    """
    after = tokens[index].after
    if tokens[index].name == "a":
        before = tokens[index - 1] if index else tokens[index]
        inside = "".join(token.text for token in tokens[index:after]).strip()
        if before.kind is not Kind.TEXT or not before.text[-1:].isalnum() or not inside:
            return False
    if tokens[index].partner is None or any(map(str.isalpha, "".join(t.text for t in tokens[index:after]))):
        return False
    return after == len(tokens) or not tokens[after].text[:1].isalnum()


def _ends_a_line(tokens: Sequence[Token], index: int) -> bool:
    """A ``<br>`` parts sentences, unless the text after it goes on with a small letter."""
    for token in tokens[index + 1 :]:
        if token.kind is Kind.TEXT:
            match = _AFTER_BREAK.match(token.text)
            if match and not match[1].isspace():
                return not match[1].islower()
        elif token.kind is Kind.REFERENCE:
            return not token.text.islower()
        elif token.splits or token.name == "br":
            return True
    return True
