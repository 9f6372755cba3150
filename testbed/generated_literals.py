"""Sentences with numbers and other literals in them, made from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

TEMPLATES = [
    "Please visit {0} for details.",
    "Send {0} and {1} to my brother tomorrow.",
    "The page {0} was not found.",
    "He wrote {0} on the door, and she wrote {1}.",
    "Where is {0}?",
    "You have {0} new messages from {1}.",
    "I bought {0} of them and paid {1} for it.",
    "Open {0}, then close {1} and wait for {2}.",
    "WHERE CAN I FIND {0}?",
    "It is {0} today",
    "- see {0} ({1})",
    "My sister lives near the station; her number is {0}!",
]


def _word(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8)))


LITERALS: dict[str, Callable[[random.Random], str]] = {
    "url": lambda rng: f"https://{_word(rng)}.org/{_word(rng)}?{_word(rng)}={rng.randint(1, 99)}",
    "email": lambda rng: f"{_word(rng)}.{_word(rng)}@{_word(rng)}.com",
    "placeholder": lambda rng: rng.choice(["{%s}", "{{%s}}", "${%s}", "%%(%s)s", "<%s/>"]) % _word(rng),
    "path": lambda rng: f"/{_word(rng)}/{_word(rng)}.txt",
    "handle": lambda rng: f"@{_word(rng)}",
    "hashtag": lambda rng: f"#{_word(rng)}",
    "version": lambda rng: f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
    "code": lambda rng: f"{_word(rng)}_{_word(rng)}()",
    "emoji": lambda rng: rng.choice(["😀", "👨‍👩‍👧", "🇫🇷", "👍🏽", "❤️", "1️⃣"]),
    "symbol": lambda rng: rng.choice(["→", "猫", "½", "Привет", "™"]),
}
NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "integer": lambda rng: str(rng.randint(2, 99_999)),
    "grouped": lambda rng: f"{rng.randint(1, 999)},{rng.randint(0, 999):03d}",
    "decimal": lambda rng: f"{rng.randint(0, 99)}.{rng.randint(1, 99)}",
    "price": lambda rng: f"${rng.randint(1, 999)}.{rng.randint(10, 99)}",
    "time": lambda rng: f"{rng.randint(1, 12)}:{rng.randint(10, 59)}",
    "percent": lambda rng: f"{rng.randint(1, 99)}%",
}


def generated(n: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Sentences, each with the literals and numbers in it, in order, and their kinds."""
    rng = random.Random(20)
    for _ in range(n):
        template = rng.choice(TEMPLATES)
        kinds = rng.sample([*LITERALS, *NUMBERS], template.count("{"))
        chosen = [(kind, (LITERALS | NUMBERS)[kind](rng)) for kind in kinds]
        text = template
        for place, (_, written) in enumerate(chosen):
            text = text.replace(f"{{{place}}}", written, 1)
        yield text, chosen
