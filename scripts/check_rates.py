"""How often each check of ``nmt check`` finds something in a right translation, and in one made wrong.

    python -m scripts.check_rates DATA [--table]

Right translations are the references of 500 pairs each of Tatoeba dev and Multi30k val, in both directions.
Wrong ones are made of them: a negation is taken out, a word doubled, a number changed, a word left in its
language, a word made up. ``--table`` writes the table of docs/quality.md from the record.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nmt.pipeline.check import CHECK_KINDS, CheckKind, check_translation
from nmt.pipeline.consistency import inconsistent_terms
from training.provenance import provenance

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "checks.json"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "quality.md"
MARKED = re.compile(r"(<!-- checks -->\n).*?(<!-- end of checks -->)", re.DOTALL)
SETS = ("tatoeba/dev", "multi30k/val")
PAIRS = 500
DIRECTIONS = (("en", "fr"), ("fr", "en"))
_DENIED = {
    "en": re.compile(r"n['’]t\b|\b(?:not|never|no|without)\s"),
    "fr": re.compile(r"\bne\s|\bn['’]|\s(?:pas|jamais|aucune?|sans)\b"),
}

Pair = tuple[str, str]


def main() -> None:
    """Measure, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    if options.data is None:
        parser.error("DATA: the folder with tatoeba and multi30k")
    rows = [measured(options.data, languages) for languages in DIRECTIONS]
    RECORD.write_text(json.dumps({"rows": rows, **provenance()}, indent=1) + "\n", encoding="utf-8")


def measured(data: Path, languages: Pair) -> dict[str, Any]:
    """One direction: shares of right translations with a finding, and of wrong ones without."""
    pairs = [pair for name in SETS for pair in _pairs(data / name, languages)]
    found = [
        {problem.kind for problem in (*check_translation(*pair, languages), *unlike)}
        for pair, unlike in zip(pairs, inconsistent_terms(pairs), strict=True)
    ]
    counts = Counter(kind for kinds in found for kind in kinds)
    return {
        "from": languages[0],
        "pairs": len(pairs),
        "right_with_a_finding": {kind: counts[kind] for kind in CHECK_KINDS},
        "right_with_any": sum(map(bool, found)),
        "made_wrong": {kind: _hits(pairs, languages, kind, spoil) for kind, spoil in SPOILT.items()},
    }


def _pairs(stem: Path, languages: Pair) -> Iterator[Pair]:
    sides = [Path(f"{stem}.{code}").read_text(encoding="utf-8").splitlines()[:PAIRS] for code in languages]
    return zip(*sides, strict=True)


def _hits(
    pairs: list[Pair], languages: Pair, kind: CheckKind, spoil: Callable[[str, str, Pair], str | None]
) -> dict[str, int]:
    """How many translations were made wrong, and how many of these the check of that kind names."""
    spoilt = [(source, wrong) for source, target in pairs if (wrong := spoil(source, target, languages))]
    named = [any(one.kind == kind for one in check_translation(*pair, languages)) for pair in spoilt]
    return {"cases": len(spoilt), "named": sum(named)}


def _without_negation(source: str, target: str, languages: Pair) -> str | None:
    """The translation without any sign of negation, where both sides had one."""
    read, written = (_DENIED[language] for language in languages)
    return written.sub("", target) if read.search(source) and written.search(target) else None


def _with_doubled_word(_: str, target: str, __: Pair) -> str | None:
    words = target.split(" ")
    longest = max(range(len(words)), key=lambda index: len(words[index]) * words[index].isalpha())
    word = words[longest]
    return " ".join([*words[:longest], word, *words[longest:]]) if word.isalpha() else None


def _with_other_number(_: str, target: str, __: Pair) -> str | None:
    """Another number in digits in the place of the first one."""
    spoilt = re.sub(r"\d+", lambda match: str(int(match.group()) + 7), target, count=1)
    return spoilt if spoilt != target else None


def _with_word_left(source: str, target: str, _: Pair) -> str | None:
    """The longest plain word of the source in the place of the longest of the translation."""
    read, written = (re.findall(r"(?<=\s)[^\W\d_]{5,}(?=\s)", text) for text in (source, target))
    plain = [[word for word in words if word.islower()] for words in (read, written)]
    if not all(plain):
        return None
    return target.replace(max(plain[1], key=len), max(plain[0], key=len), 1)


def _with_made_up_word(source: str, target: str, _: Pair) -> str | None:
    """Half of the longest plain word of the translation, then half of that of the source."""
    read, written = (
        [word for word in re.findall(r"[^\W\d_]{6,}", text) if word.islower()] for text in (source, target)
    )
    if not (read and written):
        return None
    theirs, own = max(read, key=len), max(written, key=len)
    return target.replace(own, own[: len(own) // 2] + theirs[len(theirs) // 2 :], 1)


SPOILT: dict[CheckKind, Callable[[str, str, Pair], str | None]] = {
    "negation": _without_negation,
    "doubled_word": _with_doubled_word,
    "number": _with_other_number,
    "untranslated": _with_word_left,
    "unknown_word": _with_made_up_word,
}


def fresh(text: str) -> str:
    """The page with its table made anew."""
    rows = json.loads(RECORD.read_text(encoding="utf-8"))["rows"]
    lines = [
        "| finding | right, en-fr | right, fr-en | made wrong and named, en-fr | fr-en |",
        "|---|--:|--:|--:|--:|",
    ]
    never = [kind for kind in CHECK_KINDS if not any(row["right_with_a_finding"][kind] for row in rows)]
    for kind in CHECK_KINDS:
        if kind in never and kind not in SPOILT:
            continue
        right = [f"{100 * row['right_with_a_finding'][kind] / row['pairs']:.1f} %" for row in rows]
        wrong = [
            f"{hit['named']} of {hit['cases']}" if (hit := row["made_wrong"].get(kind)) else ""
            for row in rows
        ]
        lines.append(f"| `{kind}` | {right[0]} | {right[1]} | {wrong[0]} | {wrong[1]} |")
    any_ = [f"{100 * row['right_with_any'] / row['pairs']:.1f} %" for row in rows]
    lines.append(f"| any | {any_[0]} | {any_[1]} | | |")
    unseen = ", ".join(f"`{kind}`" for kind in never if kind not in SPOILT)
    lines += ["", f"Never on a right one: {unseen}."]
    table = "\n".join(lines)
    return MARKED.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)


if __name__ == "__main__":
    main()
