"""Prompts read by a plain rule: which text, from which language, to which.

The text is the last message of the user. An instruction at its beginning is left out: a first line that
begins with a form of *translate* or *traduire* and names a language. It ends at its colon, or with its line.
Where the system's messages say the target already, only a line that ends in a colon is an instruction, for
the first line may well be text then. Text after a label, such as ``Source text:``, is what stands behind it.

Languages are named in the instruction, or else in the system's messages, by their English or French name,
their own name, or a code: "from English to French", "into fr", "vers le français", "English -> French".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import langcodes

from nmt.errors import InputError
from nmt.text.codes import nearest

_VERB = r"(?:translat\w*|tradui\w+|traduction)"
_COMMAND = re.compile(rf"\s*(?:please,?\s+|(?:can|could|would) you\s+(?:please\s+)?)?{_VERB}\b", re.I)
_LABEL = re.compile(
    r"^[#* ]{0,8}(?:source text|text to translate|original text|text|input|texte source|texte)[* ]{0,4}:"
    r"[* \t]{0,8}\n?",
    re.I | re.M,
)
_ANSWER_LABEL = re.compile(
    r"^[#* ]{0,8}(?:translated text|translation|output|traduction)[* ]{0,4}:[*\s]{0,8}\Z", re.I | re.M
)
_QUOTED = re.compile(r"[\"“«] ?(?P<text>[^\"“«”»]+?) ?[\"”»]")

_OPENING = r"[ \"'“‘«`*\[(<{]{0,4}"
_TO = r"(?:\b(?:into|to|vers)\b|\btarget[ _]language\b(?: is\b)?:?) ?(?:language )?"
_IN = r"\b(?:in|en) "
_FROM = r"(?:\b(?:from|depuis|du|de(?= l['’]))\b|\bsource[ _]language\b(?: is\b)?:?) ?(?:language )?"
_ARTICLE = r"(?:(?:le|la|the) |l['’] ?)?"
_ADJECTIVES = r"(?:[\w-]{1,30},? ){0,2}?"
_ALSO_WORDS = frozenset({"am", "an", "as", "be", "he", "is", "it", "my", "no", "or", "so", "to"})
"""Codes of languages that are English words: taken for codes only in quotes, or with a region."""
MOST_COLONS = 5
MOST_READ = 5000
"""Characters of an instruction, or of the system's messages, in which languages are looked for."""


@dataclass(frozen=True)
class Prompt:
    """Wish of a prompt; a language is None where nothing names it."""

    text: str
    source: str | None
    target: str | None


@dataclass(frozen=True)
class Languages:
    """The languages that a server reads and writes."""

    sources: Collection[str]
    targets: Collection[str]


def read_prompt(system: Sequence[str], user: str, known: Languages, *, model_tells: bool = False) -> Prompt:
    """Wish of a prompt.

    Args:
        system: the messages of the system, or developer.
        user: the last message of the user.
        known: languages of the server; others are seen too, and given by their code.
        model_tells: the model's name says the target: a message that is an instruction alone is a text then.

    Raises:
        InputError: there is an instruction and no text.
    """
    wider = "\n".join(system)
    source, target = named(wider, known)
    instruction, text = _taken_apart(user, known, system_tells=target is not None, model_tells=model_tells)
    if not instruction:
        return Prompt(user, source, target)
    own_source, own_target = named(instruction, known)
    return Prompt(text, own_source or source, own_target or target)


def named(text: str, known: Languages) -> tuple[str | None, str | None]:
    """Source and target language that an instruction names, as the server's codes, or ISO 639-1."""
    text = " ".join(text[:MOST_READ].split())
    source = _after(_FROM + _ARTICLE + _ADJECTIVES, text, known.sources)
    target = _after(_TO + _ARTICLE + _ADJECTIVES, text, known.targets)
    if source is None or target is None:
        arrow = rf"{_closing()} ?(?:-{{1,2}}>|→|⇒|to|into) ?{_OPENING}"
        pair = re.search(rf"(?P<from>{_language()}){arrow}(?P<to>{_language()})", text, re.I)
        if pair is not None:
            source = source or _code(pair["from"], known.sources)
            target = target or _code(pair["to"], known.targets)
    if target is None:
        target = _after(_IN, text, known.targets, only_known=True)
    return source, target


def _taken_apart(user: str, known: Languages, *, system_tells: bool, model_tells: bool) -> tuple[str, str]:
    """The instruction at the beginning of a message, none or blank if there is none, and the text.

    Raises:
        InputError: there is no text.
    """
    label = _LABEL.search(user)
    if label is not None and _is_instruction(user[: label.start()], known, anywhere=True):
        return user[: label.start()], _ANSWER_LABEL.sub("", user[label.end() :].rstrip()).strip()
    line, _, rest = user.lstrip().partition("\n")
    if not _is_instruction(line, known):
        return "", user
    ends = line.rstrip().endswith((":", "："))
    if system_tells and not ends:
        return "", user
    if not ends and (colon := _colon_after_language(line, known)) is not None:
        line, rest = line[:colon], f"{line[colon + 1 :]}\n{rest}"
    if rest.strip():
        return line, rest.strip()
    if quoted := _QUOTED.search(line):
        return line.replace(quoted.group(), " "), quoted["text"]
    if model_tells:
        return "", user
    raise InputError("messages: the instruction has no text after it; put the text on the next line")


def _is_instruction(text: str, known: Languages, *, anywhere: bool = False) -> bool:
    begins = re.search(rf"\b{_VERB}\b", text, re.I) if anywhere else _COMMAND.match(text)
    return begins is not None and named(text, known) != (None, None)


def _colon_after_language(line: str, known: Languages) -> int | None:
    """The first colon behind which there is text, and before which a language is named."""
    for found in islice(re.finditer("[:：]", line[:MOST_READ]), MOST_COLONS):
        if named(line[: found.start()], known) != (None, None):
            return found.start()
    return None


def _after(opening: str, text: str, known: Collection[str], *, only_known: bool = False) -> str | None:
    """The language that follows ``opening`` first."""
    pattern = rf"{opening}(?P<quote>{_OPENING})(?P<name>{_language()}){_closing()}"
    for found in re.finditer(pattern, text, re.I):
        code = _code(found["name"], known)
        is_word = found["name"].lower() in _ALSO_WORDS and not found["quote"].strip()
        if code is not None and not is_word and (code in known or not only_known):
            return code
    return None


def _closing() -> str:
    return r"(?![\w-])"


def _code(name: str, known: Collection[str]) -> str | None:
    """The server's code for a name or code of a language; that of another language as it is."""
    code = _names().get(name.lower(), name)
    return nearest(code, known) or (code if name.lower() in _names() else None)


@cache
def _language() -> str:
    """A regular expression for the name of a language, or a code, with a region or without."""
    longest_first = sorted(map(re.escape, _names()), key=len, reverse=True)
    return rf"(?:{'|'.join(longest_first)}|[a-z]{{2,3}}(?:[-_][a-z]{{2,4}})*)"


@cache
def _names() -> dict[str, str]:
    """Languages of ISO 639-1 by their English, French and own names, in lower case."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    found: dict[str, str] = {}
    for code in (first + second for first in letters for second in letters):
        language = langcodes.Language.get(code, normalize=False)
        try:
            language.to_alpha3()
        except LookupError:  # no language has this code
            continue
        for name in (language.autonym(), language.display_name("fr"), language.display_name("en")):
            if len(name) > 2 or not name.isascii():
                found[name.lower()] = code
    return found
