"""A glossary: which words are translated how, read from TSV or TBX (ISO 30042), and where it applies.

TSV, one entry a line, ``#`` begins a comment:

    source term <tab> target term              written exactly so
    source term <tab> target term <tab> inflect      the model may choose number, gender or tense
    source term                                copied, not translated

A line without a tab that holds another separator is refused: it was meant to have two columns.

A term matches whole words, the longest first. It is matched whatever the case, unless it has a capital after
its first letter ("US", "iPhone") and then only as it is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from nmt.errors import InputError
from nmt.spans import Span

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_TERM_CHARACTERS = 200
MAX_ENTRIES = 100_000
INFLECT = "inflect"
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_OTHER_SEPARATOR = re.compile(r"[;,|]|\s{2,}")
"""What spreadsheets and people put between two columns where a tab is expected."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Term:
    """One entry of a glossary."""

    source: str
    target: str
    inflect: bool = False
    """The model may inflect ``target``."""


@dataclass(frozen=True)
class AppliedTerm:
    """An entry that a translation holds."""

    source: Span
    """Where it is in the source text."""
    target: Span
    """Where it is in the translation."""
    term: Term
    how: Literal["enforced", "inflected"]
    """``inflected``: in another form than the entry's."""


class TermMatch(NamedTuple):
    """An entry and where it is."""

    span: Span
    term: Term


@dataclass(frozen=True)
class Glossary:
    """Entries by their source term; build it with ``of``, ``from_tsv`` or ``from_tbx``."""

    terms: tuple[Term, ...] = ()
    _by_first: dict[str, list[tuple[tuple[str, ...], Term]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Lower-cased first token -> (all lower-cased tokens, entry), most tokens first."""

    @classmethod
    def of(cls, terms: Iterable[Term]) -> Glossary:
        """A glossary of ``terms``.

        Raises:
            InputError: a term is blank, too long or there twice, or there are too many; by number.
        """
        return cls._checked([(f"entry {number}", term) for number, term in enumerate(terms, start=1)])

    @classmethod
    def from_tsv(cls, text: str, *, name: str = "glossary") -> Glossary:
        """Read tab-separated entries.

        Raises:
            InputError: naming ``name``, the line and what is wrong with it.
        """
        found: list[tuple[str, Term]] = []
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            where = f"{name}: line {number}"
            if "\t" not in line and (other := _OTHER_SEPARATOR.search(line.strip())):
                raise InputError(_no_tab(where, line.strip(), other.group()))
            source, *rest = (column.strip() for column in line.split("\t"))
            if len(rest) > 2 and any(rest[2:]):
                raise InputError(f"{where}: {len(rest) + 1} columns; expected source, target and {INFLECT}")
            mark = rest[1] if len(rest) > 1 else ""
            if mark not in {"", INFLECT}:
                raise InputError(f"{where}: the third column may hold {INFLECT!r} or nothing")
            found.append((where, Term(source, rest[0] if rest and rest[0] else source, mark == INFLECT)))
        return cls._checked(found)

    @classmethod
    def from_tbx(cls, data: bytes, *, source: str, target: str, name: str = "glossary") -> Glossary:
        """Read a TBX file of version 2 or 3: in each concept every source term with the first target term.

        A concept that lacks one of the languages is passed over; so are terms marked deprecated.

        Args:
            data: the file.
            source: ISO 639-1 code; "en" takes terms of "en-GB" too.
            target: the same.
            name: begins error messages.

        Raises:
            InputError: not XML, not TBX, no concept in both languages, or as ``of``.
        """
        from defusedxml import ElementTree  # noqa: PLC0415 - few translations have a glossary in XML
        from defusedxml.common import DefusedXmlException  # noqa: PLC0415

        try:
            root = ElementTree.fromstring(data, forbid_dtd=False, forbid_entities=True)
        except (ElementTree.ParseError, DefusedXmlException, ValueError) as error:
            line = getattr(error, "position", (0,))[0]
            where = f"{name}: line {line}" if line else name
            raise InputError(f"{where}: not XML that can be read; export the glossary again as TBX") from None
        found: list[tuple[str, Term]] = []
        concepts = [element for element in root.iter() if _tag(element) in {"conceptEntry", "termEntry"}]
        for number, concept in enumerate(concepts, start=1):
            targets = _terms_of(concept, target)
            found += [
                (f"{name}: concept {number}", Term(term, targets[0]))
                for term in _terms_of(concept, source)
                if targets
            ]
        if not found:
            raise InputError(
                f"{name}: {len(concepts)} concepts, none of them with a term in both {source} and {target}"
            )
        return cls._checked(found)

    @classmethod
    def read(cls, path: Path, *, source: str, target: str) -> Glossary:
        """Read a file: TBX where its name ends in .tbx or .xml, else TSV.

        Raises:
            InputError: it cannot be read, or as ``from_tsv`` and ``from_tbx``.
        """
        try:
            data = path.read_bytes()
            if path.suffix.lower() in {".tbx", ".xml"}:
                return cls.from_tbx(data, source=source, target=target, name=str(path))
            return cls.from_tsv(data.decode("utf-8"), name=str(path))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(f"{path}: line {line}: not UTF-8; convert it first") from None

    @classmethod
    def _checked(cls, found: Sequence[tuple[str, Term]]) -> Glossary:
        if len(found) > MAX_ENTRIES:
            raise InputError(f"a glossary of {len(found)} entries; at most {MAX_ENTRIES} are supported")
        seen: dict[str, tuple[str, Term]] = {}
        by_first: dict[str, list[tuple[tuple[str, ...], Term]]] = {}
        terms: list[Term] = []
        for where, term in found:
            term = Term(_normal(term.source), _normal(term.target), term.inflect)
            for side, written in (("source", term.source), ("target", term.target)):
                if not _TOKEN.search(written):
                    raise InputError(f"{where}: the {side} term is blank")
                if len(written) > MAX_TERM_CHARACTERS:
                    raise InputError(
                        f"{where}: the {side} term has {len(written)} characters; at most "
                        f"{MAX_TERM_CHARACTERS} are supported"
                    )
            key = term.source if is_exact(term.source) else term.source.lower()
            if key in seen:
                earlier, known = seen[key]
                if known.target != term.target:
                    raise InputError(f"{where}: the source term of {earlier} with another target term")
                continue
            seen[key] = where, term
            tokens = tuple(_TOKEN.findall(term.source.lower()))
            by_first.setdefault(tokens[0], []).append((tokens, term))
            terms.append(term)
        for entries in by_first.values():
            entries.sort(key=lambda entry: (-len(entry[0]), not is_exact(entry[1].source)))
        return cls(tuple(terms), by_first)

    def matches(self, text: str) -> list[TermMatch]:
        """Where entries are in ``text``: in order, the longest first, without overlaps."""
        tokens = [(match.group().lower(), *match.span()) for match in _TOKEN.finditer(text)]
        found: list[TermMatch] = []
        place = 0
        while place < len(tokens):
            match = self._match_at(text, tokens, place)
            if match is None:
                place += 1
            else:
                n_tokens, term = match
                found.append(TermMatch(Span(tokens[place][1], tokens[place + n_tokens - 1][2]), term))
                place += n_tokens
        return found

    def _match_at(
        self, text: str, tokens: Sequence[tuple[str, int, int]], place: int
    ) -> tuple[int, Term] | None:
        for wanted, term in self._by_first.get(tokens[place][0], ()):
            here = tokens[place : place + len(wanted)]
            if tuple(token for token, _, _ in here) != wanted:
                continue
            written = _normal(text[here[0][1] : here[-1][2]])
            if written == term.source or (
                not is_exact(term.source) and written.lower() == term.source.lower()
            ):
                return len(wanted), term
        return None


def is_exact(source_term: str) -> bool:
    """Whether a term is matched only as it is written: a capital follows its first letter."""
    return any(character.isupper() for character in source_term[1:])


def find_form(target_term: str, text: str) -> Span | None:
    """Where ``text`` holds ``target_term``, in any case, or in another form: words up to their ends.

    Two words are forms of each other when they share at least four letters, or all, and differ by at most
    three after that: "réseau" and "réseaux", "ouvrir" and "ouvert". An exact occurrence comes first.
    """
    exact = re.search(rf"(?<!\w){re.escape(target_term)}(?!\w)", text, re.IGNORECASE)
    if exact:
        return Span(*exact.span())
    wanted = _TOKEN.findall(target_term.lower())
    tokens = [(match.group().lower(), *match.span()) for match in _TOKEN.finditer(text)]
    for place in range(len(tokens) - len(wanted) + 1):
        here = tokens[place : place + len(wanted)]
        if all(same_word(word, token) for word, (token, _, _) in zip(wanted, here, strict=True)):
            return Span(here[0][1], here[-1][2])
    return None


def same_word(word: str, other: str) -> bool:
    """Whether two lower-case words may be forms of one."""
    if word == other:
        return True
    shared = 0
    for first, second in zip(word, other, strict=False):
        if first != second:
            break
        shared += 1
    return shared >= min(4, len(word)) and max(len(word), len(other)) - shared <= 3


def in_case_of(occurrence: str, term: Term) -> str:
    """The target term for an occurrence of the source term: in capitals where that is, else as it is."""
    letters = [character for character in occurrence if character.isalpha()]
    if len(letters) > 1 and occurrence.isupper() and not term.source.isupper():
        return term.target.upper()
    return term.target


def at_start(target_term: str) -> str:
    """A target term that begins a sentence; a word with capitals of its own, as "iPhone", keeps them."""
    first = target_term.split(maxsplit=1)[0]
    has_own = any(character.isupper() for character in first[1:])
    return target_term if has_own else target_term[:1].upper() + target_term[1:]


def has_its_capitals(written: str, target_term: str) -> bool:
    """Whether a term stands with the capitals that it has; one in small letters may have any."""
    return not any(map(str.isupper, target_term)) or (
        written in {target_term, at_start(target_term)} or written.isupper()
    )


def _no_tab(where: str, line: str, separator: str) -> str:
    shown = line if len(line) <= 60 else f"{line[:60]}..."
    between = "spaces" if separator.isspace() else f"'{separator}'"
    return (
        f'{where}: no tab in "{shown}"; expected SOURCE, a tab, TARGET: write a tab in the place of '
        f"{between}, or the term twice with a tab between if it is to be copied as it is"
    )


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _terms_of(concept: Element, language: str) -> list[str]:
    """The terms of a concept in one language, deprecated ones left out, preferred ones first."""
    found: list[tuple[bool, str]] = []
    for section in concept.iter():
        if _tag(section) not in {"langSec", "langSet"}:
            continue
        code = (section.get(_XML_LANGUAGE) or section.get("lang") or "").lower()
        if code.partition("-")[0] != language.lower():
            continue
        for holder in section.iter():
            if _tag(holder) not in {"termSec", "tig", "ntig"}:
                continue
            notes = " ".join((note.text or "").lower() for note in holder.iter() if _tag(note) == "termNote")
            for term in holder.iter():
                if _tag(term) == "term" and "deprecated" not in notes:
                    found.append(("preferred" not in notes, "".join(term.itertext())))
    return [text for _, text in sorted(found, key=lambda entry: entry[0])]
