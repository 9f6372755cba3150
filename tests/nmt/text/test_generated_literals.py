"""B9: numbers and literals of generated sentences are kept or flagged, by the model that ships."""

from __future__ import annotations

import json
import os
import platform
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.text.numbers import compare_numbers
from nmt.translator import Translator

N_SENTENCES = 1000
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


def word(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 8)))


LITERALS: dict[str, Callable[[random.Random], str]] = {
    "url": lambda rng: f"https://{word(rng)}.org/{word(rng)}?{word(rng)}={rng.randint(1, 99)}",
    "email": lambda rng: f"{word(rng)}.{word(rng)}@{word(rng)}.com",
    "placeholder": lambda rng: rng.choice(["{%s}", "{{%s}}", "${%s}", "%%(%s)s", "<%s/>"]) % word(rng),
    "path": lambda rng: f"/{word(rng)}/{word(rng)}.txt",
    "handle": lambda rng: f"@{word(rng)}",
    "hashtag": lambda rng: f"#{word(rng)}",
    "version": lambda rng: f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
    "code": lambda rng: f"{word(rng)}_{word(rng)}()",
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


@pytest.mark.slow
def test_numbers_and_literals_are_kept_or_flagged() -> None:
    texts, parts = map(list, zip(*generated(N_SENTENCES), strict=True))
    translator = Translator.load(device="cpu")
    translations = translator.translate(texts, TranslationOptions(generation=GenerationConfig(beam_size=1)))
    cases: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    silent: list[str] = []
    for text, chosen, translation in zip(texts, parts, translations, strict=True):
        flags = {flag.kind for flag in translation.flags}
        for kind, written in chosen:
            cases[kind] += 1
            good = (
                translation.text.count(written) >= text.count(written)
                if kind in LITERALS
                else written in translation.text or compare_numbers(text, translation.text).ok
            )
            kept[kind] += good
            if not good and not flags & {"literal_lost", "number_mismatch", "loop", "untranslated"}:
                silent.append(kind)
    record = {
        "promise": "B9: numbers, URLs and other literals are kept or flagged",
        "command": "PASSERELLE_RECORD=docs/reliability pytest -m slow "
        "tests/nmt/text/test_generated_literals.py",
        "model": translator.config.name,
        "sentences": N_SENTENCES,
        "kept": {kind: [kept[kind], cases[kind]] for kind in cases},
        "lost_and_not_flagged": len(silent),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPU cores, shared",
    }
    if folder := os.environ.get("PASSERELLE_RECORD"):
        Path(folder, "literals.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    assert not silent
    assert all(kept[kind] == cases[kind] for kind in LITERALS)
    assert sum(kept[kind] for kind in NUMBERS) >= 0.95 * sum(cases[kind] for kind in NUMBERS)
