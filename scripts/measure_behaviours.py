"""Make docs/reliability/behaviours.json: behaviours kept of a text, without and with the library's help.

*Before* is the model alone: sentences as they stand, split, searched greedily, joined; no second search.
*After* is ``Translator.translate`` with the same model and search. Cases are generated from a seed; checks
are the same for both.

    python -m scripts.measure_behaviours [MODEL] [--limit N] [--only BEHAVIOUR] [--table]

``--table`` prints the table of docs/behaviours_record.md from the record instead of measuring.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nmt.config import GenerationConfig
from nmt.errors import PasserelleError
from nmt.markup import translate_markup
from nmt.options import TranslationOptions
from nmt.pipeline.flags import is_too_short
from nmt.pipeline.requests import Search
from nmt.spans import Span
from nmt.text.glossary import Glossary, Term, find_form
from nmt.text.numbers import compare_numbers
from nmt.text.segment import split
from nmt.translator import Translation, Translator
from testbed.generated_html import CHECKS, html_pages, problems
from testbed.generated_literals import LITERALS, NUMBERS, generated
from training.evaluation.testset import TestSet
from training.provenance import provenance
from training.robustness.cases import behaviours
from training.robustness.report import SAMPLE

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "behaviours.json"
GREEDY = GenerationConfig(beam_size=1)
SEARCH = TranslationOptions(generation=GREEDY)
AT_ONCE = 200
TERMS = {
    "dog": "toutou",
    "car": "automobile",
    "house": "demeure",
    "book": "ouvrage",
    "letter": "missive",
    "train": "convoi",
    "hard drive": "disque dur",
    "network": "réseau",
    "doctor": "toubib",
    "garden": "potager",
}
TERM_SENTENCES = (
    "The {} is very old.",
    "I bought a {} yesterday.",
    "Where is my {}?",
    "Tom looked at the {} and smiled.",
    "THE {} IS HERE.",
)
UNITS = ("kg", "km", "cm", "km/h", "mg", "GB", "MHz", "kW", "°C")
UNIT_SENTENCES = ("It weighs {}.", "We need {} of it.", "The limit is {} today.", "I want {} or more!")
AMOUNT_SENTENCES = (
    "The price is {} euros.",
    "He paid ${}.",
    "The rent is £{} a year.",
    "The invoice of {} USD will be paid tomorrow.",
    "USD {} were transferred.",
)
FRAMES = ("  {}", "{}  ", "\t{}\n", "\n\n{}", "{}\r\n", "\u3000{} ", "   {}\n \n")


@dataclass(frozen=True)
class Case:
    """A text, what else the library is given with it, and whether a translation kept what it should."""

    text: str
    kept: Callable[[str, str], bool]
    """(translation, that of ``clean``)"""
    keep: tuple[Span, ...] = ()
    clean: str = ""
    """The text before it was disturbed."""


@dataclass(frozen=True)
class Row:
    """One behaviour; ``markup`` goes another way than ``Translator.translate``."""

    behaviour: str
    keeps: str
    cases: Sequence[Case]
    options: TranslationOptions = SEARCH
    markup: bool = False


def main() -> None:
    """Measure and write the record, or print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="general")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--only", metavar="BEHAVIOUR", help="measure this row of the record again")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads(RECORD.read_text(encoding="utf-8"))))
        return
    translator = Translator.load(arguments.model, device="cpu")
    measured = []
    for row in rows(arguments.limit):
        if arguments.only not in (None, row.behaviour):
            continue
        before = plain(translator, [case.text for case in row.cases])
        after, flagged = helped(translator, row)
        kept_before = kept(row, before, plain(translator, [case.clean for case in row.cases]))
        kept_after = kept(row, after, helped(translator, row, clean=True)[0])
        measured.append(
            {
                "behaviour": row.behaviour,
                "kept_is": row.keeps,
                "cases": len(row.cases),
                "kept_before": sum(kept_before),
                "kept_after": sum(kept_after),
                "lost_after_and_flagged": sum(
                    not good and is_flagged for good, is_flagged in zip(kept_after, flagged, strict=True)
                ),
                "lost": [
                    {"source": case.text, "translation": text}
                    for case, text, good in zip(row.cases, after, kept_after, strict=True)
                    if not good
                ][:3],
            }
        )
        print(*list(measured[-1].values())[:-1], sep=" | ", flush=True)
    record = {"model": translator.config.name, "search": "greedy", "rows": measured, **provenance()}
    if arguments.only:
        [again] = measured
        earlier = json.loads(RECORD.read_text(encoding="utf-8"))
        made = {name: record[name] for name in ("model", "command", "date", "commit")}
        rows_now = [
            {**again, **made} if row["behaviour"] == arguments.only else row for row in earlier["rows"]
        ]
        record = {**earlier, "rows": rows_now}
    RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def plain(translator: Translator, texts: Sequence[str]) -> list[str]:
    """What the model alone makes of texts; what is longer than it reads is cut, as a model alone must."""
    limit = translator.config.max_source_tokens
    segments = [split(text, translator.config.source_language) for text in texts]
    sentences = [segment.text for own in segments for segment in own]
    written: list[str] = []
    for start in range(0, len(sentences), AT_ONCE):
        ids = translator.tokenizer.encode_batch(sentences[start : start + AT_ONCE])
        answers = translator.answer([Search(tuple(row[:limit]), GREEDY) for row in ids])
        for answer in answers:
            if not isinstance(answer, list):
                raise PasserelleError("a search gives hypotheses")
            written.append(translator.tokenizer.decode(answer[0].tokens))
    translations = iter(written)
    results = []
    for text, own in zip(texts, segments, strict=True):
        result, read = "", 0
        for segment in own:
            result += text[read : segment.start] + next(translations)
            read = segment.end
        results.append(result + text[read:])
    return results


def kept(row: Row, translations: Sequence[str], clean: Sequence[str]) -> list[bool]:
    """Of each case whether its translation kept what it should."""
    return [case.kept(text, other) for case, text, other in zip(row.cases, translations, clean, strict=True)]


def helped(translator: Translator, row: Row, *, clean: bool = False) -> tuple[list[str], list[bool]]:
    """Translations by the library, and whether each has a flag (markup has none)."""
    if clean:
        row = replace(row, cases=[Case(case.clean, case.kept) for case in row.cases])
    texts = [case.text for case in row.cases]
    if row.markup and not clean:
        return translate_markup(translator, texts, "html", SEARCH), [False] * len(texts)
    found: list[Translation] = []
    for start in range(0, len(row.cases), AT_ONCE):
        some = row.cases[start : start + AT_ONCE]
        found += translator.translate(
            [case.text for case in some],
            row.options,
            keep=[case.keep for case in some],
        )
    return [translation.text for translation in found], [bool(translation.flags) for translation in found]


def rows(limit: int) -> Iterator[Row]:
    """All behaviours, ``limit`` cases of most."""
    sample = TestSet.load(Path(f"{SAMPLE}.en"), Path(f"{SAMPLE}.fr"))
    pairs = [
        pair for pair in zip(sample.sources, sample.references, strict=True) if all(map(str.strip, pair))
    ]
    for behaviour in behaviours(pairs, limit=limit):
        cases = [
            Case(case.source, partial(behaviour.kept, case), clean=case.clean[0] if case.clean else "")
            for case in behaviour.cases
        ]
        yield Row(behaviour.name, behaviour.keeps, cases)
    sources = [source for source, _ in pairs]
    yield from _literals(5 * limit)
    yield _units(limit)
    yield _amounts(limit)
    yield from _terms(limit)
    yield _spans(sources, limit)
    yield _white_space(sources, limit)
    yield _french(sources, limit)
    yield _long(sources, limit // 5)
    yield from _markup(limit)


def _literals(n: int) -> Iterator[Row]:
    by_kind: dict[str, list[Case]] = {kind: [] for kind in [*LITERALS, *NUMBERS]}
    ordered: list[Case] = []
    for text, parts in generated(n):
        for kind, written in parts:
            if kind in LITERALS:
                check = lambda out, _, one=written, text=text: out.count(one) >= text.count(one)  # noqa: E731
            else:
                check = lambda out, _, one=written, text=text: (  # noqa: E731
                    one in out or compare_numbers(text, out).ok
                )
            by_kind[kind].append(Case(text, check))
        own = [written for kind, written in parts if kind in LITERALS]
        if len(own) > 1:
            ordered.append(Case(text, lambda out, _, own=own: _in_order(out, own)))
    for kind, cases in by_kind.items():
        yield Row(kind, "there as often" if kind in LITERALS else "the same value", cases)
    yield Row("two or more literals", "all there, in the order of the source", ordered)


def _in_order(text: str, parts: Sequence[str]) -> bool:
    place = 0
    for part in parts:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _units(n: int) -> Row:
    rng = random.Random(1)
    cases = []
    for _ in range(n):
        thousands, half = rng.choice(["", "1,", "12,"]), rng.choice(["", ".5"])
        quantity = f"{thousands}{rng.randint(100, 999)}{half} {rng.choice(UNITS)}"
        text = rng.choice(UNIT_SENTENCES).format(quantity)
        cases.append(Case(text, lambda out, _, text=text, one=quantity: _has_quantity(text, out, one)))
    return Row("numbers with units", "the same value, and the unit or its French name", cases)


def _amounts(n: int) -> Row:
    rng = random.Random(2)
    cases = []
    for _ in range(n):
        whole = rng.choice([rng.randint(1000, 9999), rng.randint(10_000, 99_999), rng.randint(10**5, 10**7)])
        cents = rng.choice(["", ".00", f".{rng.randint(1, 99):02}"])
        text = rng.choice(AMOUNT_SENTENCES).format(f"{whole:,}{cents}")
        french = f"{whole:,}".replace(",", " ") + cents.replace(".", ",")
        cases.append(Case(text, lambda out, _, one=french: one in re.sub("[\u00a0\u202f]", " ", out)))
    return Row("amounts of money", "the same value, written as French does", cases)


def _has_quantity(source: str, target: str, quantity: str) -> bool:
    has_unit = quantity.rsplit(maxsplit=1)[-1] != "°C" or "°C" in target.replace("° C", "°C")
    return has_unit and (quantity in target or compare_numbers(source, target).ok)


def _terms(n: int) -> Iterator[Row]:
    rng = random.Random(2)
    for inflect, name in ((False, "glossary terms"), (True, "glossary terms that may be inflected")):
        glossary = Glossary.of(Term(source, target, inflect=inflect) for source, target in TERMS.items())
        cases = []
        for _ in range(n):
            source, target = rng.choice(list(TERMS.items()))
            sentence = rng.choice(TERM_SENTENCES)
            term = source.upper() if sentence.isupper() or sentence.startswith("THE") else source
            cases.append(
                Case(sentence.format(term), lambda out, _, one=target: find_form(one, out) is not None)
            )
        yield Row(
            name,
            "the entry's translation, or a form of it",
            cases,
            SEARCH.model_copy(update={"glossary": glossary}),
        )


def _spans(sources: Sequence[str], n: int) -> Row:
    rng = random.Random(3)
    cases = []
    for text in sources[:n]:
        word = rng.choice(list(re.finditer(r"\w+", text)))
        written = word.group()
        cases.append(Case(text, lambda out, _, one=written: one in out, (Span(*word.span()),)))
    return Row("spans not to be translated", "there as written", cases)


def _white_space(sources: Sequence[str], n: int) -> Row:
    rng = random.Random(4)
    cases = []
    for index in range(n):
        one, other = sources[index], sources[-1 - index]
        gap = rng.choice(["\n", "\n\n", "\r\n", "\t", "\n  \n"])
        text = rng.choice(FRAMES).format(f"{one}{gap}{other}")
        cases.append(Case(text, lambda out, _, text=text: _gaps(out) == _gaps(text)))
    return Row("white space around, tabs, line ends, blank lines", "exactly as they stand", cases)


def _gaps(text: str) -> tuple[str, str, list[str]]:
    core = text.strip()
    start = text.index(core)
    return text[:start], text[start + len(core) :], re.findall(r"\s*[\n\t\r]\s*", core)


def _french(sources: Sequence[str], n: int) -> Row:
    chosen = [source for source in sources if re.search(r"[?!;:]$", source)][:n]
    cases = [
        Case(text, lambda out, _: not re.search(r"[^\s\u202f\u00a0?!][;:!?]| [;:!?]", out)) for text in chosen
    ]
    return Row(
        "French spacing, when asked for",
        "a no-break space before ; : ! ?",
        cases,
        SEARCH.model_copy(update={"french_typography": True}),
    )


def _long(sources: Sequence[str], n: int) -> Row:
    rng = random.Random(5)
    cases = []
    for _ in range(n):
        some = rng.sample(list(sources), 60)
        text = ", ".join(source.rstrip(".!?") for source in some) + "."
        cases.append(Case(text, lambda out, _, text=text: not is_too_short(text, out)))
    return Row("sentences over the model's length", "at least 40 % of the length: not cut", cases)


def _markup(n: int) -> Iterator[Row]:
    chosen = html_pages(n, spare=50)
    for name in CHECKS:
        cases = [
            Case(html, lambda out, _, html=html, name=name: name not in problems(html, out))
            for html in chosen
        ]
        yield Row(f"HTML: {name}", "no problem of this kind in the page", cases, markup=True)


def table(record: dict[str, Any]) -> str:
    """The rows as Markdown; of those of which all is kept either way, the names alone."""
    lines = ["| behaviour | cases | before, % | after, % |", "|---|--:|--:|--:|"]
    always = []
    for row in record["rows"]:
        shares = [_percent(row[f"kept_{when}"], row["cases"]) for when in ("before", "after")]
        if shares == ["100", "100"]:
            always.append(row["behaviour"])
        else:
            lines.append(f"| {row['behaviour']} | {row['cases']:,} | {' | '.join(shares)} |")
    if always:
        lines += ["", f"All are kept before and after of: {'; '.join(always)}."]
    return "\n".join(lines)


def _percent(kept: int, cases: int) -> str:
    """Rounded down, so that 100 is all of them."""
    return f"{int(1000 * kept / cases) / 10:g}"


if __name__ == "__main__":
    main()
