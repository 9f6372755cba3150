"""Multi30k made into tasks in which copying, a second source or the sentence before must help.

named          half the captions that begin with a person name it, a third of all end with a name or number

masked         four words in ten of each caption are hidden
two_sources    that caption, a separator, and the caption once more with other words hidden
someone        who a caption begins with (A man, a woman, a boy, a girl) is "Someone", who may be any of them
document       a sentence before, which names that person, a separator, and the caption of "someone"; before
               the captions that name nobody a sentence stands too, which tells nothing
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

SEPARATOR = "⟦|⟧"
HIDDEN, SHARE = "_", 0.4
FILES = ("train", "val", "test_2016_flickr")
PERSON = re.compile(r"A (man|woman|boy|girl)\b")
PERSON_FR = re.compile(r"Une? (?:petite? |jeune )?(homme|femme|garçon|fille|fillette)\b")
SOMEONE = "Someone"
SYLLABLES = ("ba", "dro", "fel", "gu", "ki", "lor", "mi", "nes", "pa", "ri", "sul", "ta", "ve", "zo")
LAST_OF_THE_UNSEEN = ("ta", "ve", "zo")
"""What a name ends with that is asked for later and is in no caption."""
NAMED, WITH_AN_END = 0.5, 0.33


def invented_name(chance: random.Random, *, seen: bool) -> str:
    """A name of three syllables: of the captions, or one that is in none of them."""
    ends = [syllable for syllable in SYLLABLES if (syllable not in LAST_OF_THE_UNSEEN) == seen]
    return "".join([*chance.sample(SYLLABLES[:-3], 2), chance.choice(ends)]).capitalize()


def named(source: str, target: str, chance: random.Random) -> tuple[str, str]:
    """The pair with a name after the person, and a name or number at the end, or neither."""
    person, person_fr = PERSON.match(source), PERSON_FR.match(target)
    if person and person_fr and chance.random() < NAMED:
        name = invented_name(chance, seen=True)
        called = "nommée" if person_fr[1] in {"femme", "fille", "fillette"} else "nommé"
        source = f"{person[0]} named {name}{source[person.end() :]}"
        target = f"{person_fr[0]} {called} {name}{target[person_fr.end() :]}"
    if chance.random() < WITH_AN_END:
        name, number = invented_name(chance, seen=True), chance.randrange(100, 10_000)
        end, end_fr = chance.choice(
            (
                (f"in front of house number {number}", f"devant la maison numéro {number}"),
                (f"on page {number} of a book", f"à la page {number} d'un livre"),
                (f"with {name}", f"avec {name}"),
            )
        )
        source = f"{source.rstrip('. ')} {end}."
        target = f"{target.rstrip('. ')} {end_fr}."
    return source, target


def hidden(text: str, chance: random.Random) -> str:
    """The caption with some words hidden."""
    return " ".join(HIDDEN if chance.random() < SHARE else word for word in text.split())


def someone(text: str) -> str:
    """The caption without the person that it begins with."""
    return PERSON.sub(SOMEONE, text, count=1) if PERSON.match(text) else text


def person(target: str) -> str | None:
    """Who a French caption begins with."""
    found = PERSON_FR.match(target)
    return found and found[1].removesuffix("tte")  # a fillette is a fille


def before(text: str, chance: random.Random) -> str:
    """The sentence that names the person, or another."""
    person = PERSON.match(text)
    return f"Here is a {person[1]}." if person else chance.choice(("Here is a picture.", "Look at this."))


CORPORA: Mapping[str, Callable[[str, str, random.Random], tuple[str, str]]] = {
    "named": named,
    "masked": lambda text, target, chance: (hidden(text, chance), target),
    "two_sources": lambda text, target, chance: (
        f"{hidden(text, chance)} {SEPARATOR} {hidden(text, chance)}",
        target,
    ),
    "someone": lambda text, target, _: (someone(text), target),
    "document": lambda text, target, chance: (
        f"{before(text, chance)} {SEPARATOR} {someone(text)}",
        target,
    ),
}


def made(name: str, plain: Path, work: Path) -> Path:
    """The folder of a corpus of ``CORPORA``, made of the captions in ``plain``."""
    folder = work / "corpora" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        chance = random.Random(file)
        sides = ((plain / f"{file}.{language}").read_text(encoding="utf-8") for language in ("en", "fr"))
        pairs = zip(*(side.splitlines() for side in sides), strict=True)
        changed = [CORPORA[name](source, target, chance) for source, target in pairs]
        for language, lines in zip(("en", "fr"), zip(*changed, strict=True), strict=True):
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{file}.{language}").write_text(text, encoding="utf-8")
    return folder
