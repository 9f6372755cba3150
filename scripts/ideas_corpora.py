"""Multi30k made into tasks in which a second source or the sentence before must help.

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


def hidden(text: str, chance: random.Random) -> str:
    """The caption with some words hidden."""
    return " ".join(HIDDEN if chance.random() < SHARE else word for word in text.split())


def someone(text: str) -> str:
    """The caption without the person that it begins with."""
    return PERSON.sub("Someone", text, count=1) if PERSON.match(text) else text


def before(text: str, chance: random.Random) -> str:
    """The sentence that names the person, or another."""
    person = PERSON.match(text)
    return f"Here is a {person[1]}." if person else chance.choice(("Here is a picture.", "Look at this."))


CORPORA: Mapping[str, Callable[[str, random.Random], str]] = {
    "masked": hidden,
    "two_sources": lambda text, chance: f"{hidden(text, chance)} {SEPARATOR} {hidden(text, chance)}",
    "someone": lambda text, _: someone(text),
    "document": lambda text, chance: f"{before(text, chance)} {SEPARATOR} {someone(text)}",
}


def made(name: str, plain: Path, work: Path) -> Path:
    """The folder of a corpus of ``CORPORA``, made of the captions in ``plain``; targets stay as they are."""
    folder = work / "corpora" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        chance = random.Random(file)
        lines = (plain / f"{file}.en").read_text(encoding="utf-8").splitlines()
        changed = "".join(f"{CORPORA[name](line, chance)}\n" for line in lines)
        (folder / f"{file}.en").write_text(changed, encoding="utf-8")
        (folder / f"{file}.fr").write_bytes((plain / f"{file}.fr").read_bytes())
    return folder
