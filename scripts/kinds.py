"""Kinds of text that people report as broken: what each is about, kept or not, and whether a flag says so.

    python -m scripts.kinds [--limit 40] [--json docs/reliability/kinds.json] [--table]

Cases are generated with invented names and amounts, in both directions, and translated by the models that
ship. ``--table`` writes the table of docs/survives.md from the record.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.translator import Translator
from training.provenance import provenance

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "kinds.json"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "survives.md"
MARKED = re.compile(r"(<!-- kinds -->\n).*?(<!-- end of kinds -->)", re.DOTALL)
GIVEN = [
    "Ruby",
    "Rose",
    "Grace",
    "Jack",
    "Emma",
    "Olivia",
    "Hugo",
    "Léa",
    "Martin",
    "Claire",
    "Amber",
    "Dawn",
    "Henri",
    "Louis",
    "Camille",
    "Victor",
]
SURNAMES = [
    "Black",
    "Rivers",
    "Carter",
    "Stone",
    "Baker",
    "Petit",
    "Dubois",
    "Boulanger",
    "Fontaine",
    "Rivière",
    "Brown",
    "Woods",
    "Hill",
    "Leroy",
]
MODELS = {"en": "general", "fr": "general_fr_en"}
FRAMES: dict[str, dict[str, Sequence[str]]] = {
    "amounts of money": {
        "en": ("The price is {} euros.", "He paid ${}.", "Total: £{}", "USD {} were transferred.", "{} USD"),
        "fr": ("Le prix est de {} euros.", "Il a payé {} €.", "Le loyer s'élève à {} $ par an.", "{} USD"),
    },
    "names of people and streets": {
        "en": (
            *("Dr. {s} met {g} {s}.", "Name: {g} {s}", "Dear Mrs. {s},", "{n} {s} Street, Perth", "{g} {s}"),
            *("Yesterday {g} {s} called me.", "My neighbour, Mr {s}, is ill."),
        ),
        "fr": (
            *("Le Dr {s} a vu {g} {s}.", "Nom : {g} {s}", "Chère Mme {s},", "{n} rue {s}, Lyon", "{g} {s}"),
            *("Hier, {g} {s} m'a appelé.", "Mon voisin, M. {s}, est malade."),
        ),
    },
    "times of day": {
        "en": (
            "The train leaves at {}.",
            "Open from {} tomorrow.",
            "Call me before {}!",
            "He arrived at {}.",
        ),
        "fr": (
            "Le train part à {}.",
            "La réunion commence à {}.",
            "Il est arrivé vers {}.",
            "Rendez-vous à {} !",
        ),
    },
    "templates and placeholders": {
        "en": (
            *("Done: %d%%", "Hello %recipient.name%, welcome.", "{{% if user %}}Good morning{{% endif %}}"),
            *(
                "I accept the %sterms%s.",
                "Hello ##NAME##, welcome.",
                "The value is {{n}}ms.",
                "Dear [First Name],",
            ),
        ),
        "fr": (
            *(
                "Terminé : %d%%",
                "Bonjour %recipient.name%, bienvenue.",
                "{{% if user %}}Bonjour{{% endif %}}",
            ),
            *("J'accepte les %sconditions%s.", "Bonjour ##NOM##, bienvenue.", "La valeur est {{n}}ms."),
        ),
    },
    "invisible characters": {
        "en": (
            "The trans\u00adla\u00adtion of the book is good.",
            "The hou\u200bse is red.",
            "\ufeffI am here.",
        ),
        "fr": ("La traduc\u00adtion du livre est bonne.", "La mai\u200bson est rouge.", "\ufeffJe suis là."),
    },
    "parts between separators": {
        "en": ("Home | About us | Contact us", "News · Sport · Weather", "Home • Products • Prices"),
        "fr": ("Accueil | Qui sommes-nous | Contact", "Actualités · Sport · Météo"),
    },
}


@dataclass(frozen=True)
class Case:
    """A text and what its translation must hold; ``not_held`` must not be there."""

    text: str
    held: tuple[str, ...]
    not_held: tuple[str, ...] = ()


def main() -> None:
    """Translate the cases and write the record, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=int, default=40, help="cases of each kind and direction")
    parser.add_argument("--json", type=Path, default=RECORD)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    translators = {language: Translator.load(model, device="cpu") for language, model in MODELS.items()}
    rows = [
        measured(kind, language, list(cases(kind, language, options.limit)), translator)
        for kind in FRAMES
        for language, translator in translators.items()
    ]
    record = {"rows": rows, **provenance()}
    options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measured(kind: str, language: str, given: Sequence[Case], translator: Translator) -> dict[str, Any]:
    """How many of some cases are right, and how many of the others have a flag; five that are wrong."""
    found = translator.translate([case.text for case in given])
    wrong = [
        (case, translation)
        for case, translation in zip(given, found, strict=True)
        if not _is_right(case, translation.text)
    ]
    return {
        "kind": kind,
        "from": language,
        "cases": len(given),
        "right": len(given) - len(wrong),
        "wrong_without_a_flag": sum(not translation.flags for _, translation in wrong),
        "examples": [[case.text, translation.text] for case, translation in wrong[:5]],
    }


def cases(kind: str, language: str, limit: int) -> Iterator[Case]:
    """``limit`` cases of a kind in a language, the same ones at every call."""
    rng = random.Random(f"{kind} {language}")
    frames = FRAMES[kind][language]
    make = _MAKE.get(kind, _plain)
    for index in range(limit if kind in _MAKE else len(frames)):
        yield make(frames[index % len(frames)], language, rng)


def _amount(frame: str, language: str, rng: random.Random) -> Case:
    whole = rng.choice([rng.randint(1000, 9999), rng.randint(10_000, 99_999), rng.randint(10**5, 10**7)])
    cents = rng.choice(["", "00", f"{rng.randint(1, 99):02}"])
    english = f"{whole:,}{'.' if cents else ''}{cents}"
    french = f"{whole:,}".replace(",", " ") + (f",{cents}" if cents else "")
    read, written = (english, french) if language == "en" else (french, english)
    sign = re.search(r"[$€£]|USD", frame)
    return Case(frame.format(read), (written, *((sign.group(),) if sign else ())))


def _name(frame: str, _: str, rng: random.Random) -> Case:
    given, surname, number = rng.choice(GIVEN), rng.choice(SURNAMES), str(rng.randint(1, 200))
    held = [value for key, value in (("{g}", given), ("{s}", surname), ("{n}", number)) if key in frame]
    return Case(frame.format(g=given, s=surname, n=number), tuple(held))


def _time(frame: str, language: str, rng: random.Random) -> Case:
    hour, minute = rng.randint(0, 23), rng.choice(["", "15", "30", "45"])
    english = f"{(hour - 1) % 12 + 1}{':' if minute else ''}{minute} {'am' if hour < 12 else 'pm'}"
    french = f"{hour} h{' ' if minute else ''}{minute}"
    read, written = (english, french) if language == "en" else (french, english)
    return Case(frame.format(read), (written,))


def _plain(frame: str, _: str, __: random.Random) -> Case:
    text = frame.replace("{{", "{").replace("}}", "}")
    literals = re.findall(r"%d%%|%[\w.]+%|\{[^}]*\}|%s|##\w+##|\[First Name\]| [|·•] ", text)
    return Case(text, tuple(literals), ("\u00ad", "\u200b", "\ufeff"))


_MAKE: dict[str, Callable[[str, str, random.Random], Case]] = {
    "amounts of money": _amount,
    "names of people and streets": _name,
    "times of day": _time,
}


def _is_right(case: Case, translation: str) -> bool:
    written = re.sub("[\u00a0\u202f]", " ", translation)
    return all(written.count(one) >= min(case.held.count(one), 2) for one in set(case.held)) and not any(
        one in translation for one in case.not_held
    )


def fresh(text: str) -> str:
    """The page with its table made anew."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    lines = ["| kind | from | cases | right | wrong without a flag |", "|---|---|--:|--:|--:|"]
    for row in record["rows"]:
        lines.append(
            f"| {row['kind']} | {row['from']} | {row['cases']} | {row['right']} "
            f"| {row['wrong_without_a_flag']} |"
        )
    table = "\n".join(lines)
    return MARKED.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)


if __name__ == "__main__":
    main()
