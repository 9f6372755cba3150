"""Three hundred texts that make translators fail, and what must hold for the translation of any text.

The texts are made from seeds, so every run sees the same. ``broken_promises`` is the whole contract of B7:
bounded length, nothing lost or invented between sentences, loops flagged, blank lines blank.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator

from nmt.pipeline.result import Translation
from nmt.text.repetition import repeats_itself

WORDS = (
    *("the", "a", "cat", "dog", "house", "tree", "river", "city", "and", "of", "in", "to", "with", "big"),
    *("small", "red", "old", "runs", "sees", "likes", "under", "over", "when", "because", "children"),
    *("people", "water", "bread", "morning", "night", "always", "never", "home", "school", "garden"),
)
OTHER_SCRIPTS = {
    "Russian": "Это очень красивый дом, и я хочу там жить.",
    "Ukrainian": "Доброго ранку, як ваші справи сьогодні?",
    "Greek": "Καλημέρα, πώς είστε σήμερα;",
    "Arabic": "مرحبا بكم في مدينتنا الجميلة.",
    "Hebrew": "שלום, מה שלומך היום?",
    "Persian": "سلام، حال شما چطور است؟",
    "Hindi": "नमस्ते, आप कैसे हैं?",
    "Bengali": "আপনি কেমন আছেন?",
    "Tamil": "வணக்கம், எப்படி இருக்கிறீர்கள்?",
    "Thai": "สวัสดีครับ วันนี้อากาศดีมาก",
    "Chinese": "今天天气很好，我们去公园散步吧。",
    "Japanese": "今日は天気がいいので、公園に行きましょう。",
    "Korean": "오늘 날씨가 좋으니 공원에 갑시다.",
    "Georgian": "გამარჯობა, როგორ ხართ?",
    "Armenian": "Բարեւ, ինչպես եք?",
    "Amharic": "ሰላም፣ እንደምን ነህ?",
}
OTHER_LANGUAGES = {
    "German": "Das ist ein sehr schönes Haus und ich möchte gerne dort wohnen.",
    "Spanish": "Esta es una casa muy bonita y me gustaría vivir en ella.",
    "Italian": "Questa è una casa molto bella e vorrei abitarci.",
    "Dutch": "Dit is een heel mooi huis en ik zou er graag willen wonen.",
    "Polish": "To jest bardzo piękny dom i chciałbym tam mieszkać.",
    "Turkish": "Bu çok güzel bir ev ve orada yaşamak istiyorum.",
    "Finnish": "Tämä on erittäin kaunis talo ja haluaisin asua siellä.",
    "Vietnamese": "Đây là một ngôi nhà rất đẹp và tôi muốn sống ở đó.",
    "French": "C'est une très belle maison et je voudrais y habiter.",
    "Latin": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae.",
}
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"


def pathologies(*, size: int = 20_000) -> Iterator[tuple[str, str]]:
    """Names and texts, 300 of them; the longest have about ``size`` characters, or five times as many."""
    yield from _white_space()
    yield from _symbols(size)
    yield from _scripts()
    yield from _repetitions(size)
    yield from _without_full_stop(size)
    yield from _long_words(size)
    yield from _mixtures(size)


def _white_space() -> Iterator[tuple[str, str]]:
    blanks = [
        "",
        " ",
        "\n",
        "\t",
        "\r\n",
        "\u00a0",
        "\u3000",
        "\u2028",
        "\n\n\n",
        " \n \n ",
        "\x0b\x0c",
        "\x85",
    ]
    for index, blank in enumerate(blanks):
        yield f"blank {index}", blank
        yield f"blank {index} around text", f"{blank}The cat sleeps.{blank}"
        yield f"blank {index} between texts", f"The cat sleeps.{blank}The dog runs.{blank}"
    yield "blank lines", "One dog.\n\n\n\nTwo cats.\n \n\t\nThree birds.\n\n"
    yield "spaces inside", "The    cat \t sleeps   in  the     house."


def _symbols(size: int) -> Iterator[tuple[str, str]]:
    for mark in "!?.,;:-_*#=~/\\|@%&+<>^`'\"":
        yield f"only {mark} once", mark
        yield f"only {mark} often", mark * 200
    for emoji in ("😀", "👨‍👩‍👧‍👦", "🇫🇷", "❤️", "👍🏽", "☃", "→", "™"):
        yield f"only {emoji}", emoji
        yield f"many {emoji}", emoji * 60
        yield f"text with {emoji}", f"I love you {emoji} so much {emoji}{emoji}!"
    for number in ("0", "12345", "3.14", "1,000,000", "12:30", "-5 °", "50%", "1/2", "2026-11-21", "9" * 300):
        yield f"number {number[:12]}", number
    for code in (*range(1, 9), 14, 27, 31, 127, 0x80, 0x9F, 0xFFFD, 0xFFFF, 0xE000, 0x10FFFF):
        yield f"control {code:x}", f"The cat{chr(code)} sleeps."
        yield f"control {code:x} alone", chr(code) * 3
    yield "punctuation for ever", "?!" * (size // 2)


def _scripts() -> Iterator[tuple[str, str]]:
    for name, text in OTHER_SCRIPTS.items():
        yield f"script {name}", text
        yield f"script {name} in English", f"She said {text} and left the house."
    for name, text in OTHER_LANGUAGES.items():
        yield f"language {name}", text
        yield f"language {name} and English", f"{text} This is a house."
    yield "right to left marks", "\u202eThe cat sleeps.\u202c \u200fThe dog runs.\u200e"
    yield "bold letters", "𝐓𝐡𝐞 𝐜𝐚𝐭 𝐬𝐥𝐞𝐞𝐩𝐬."
    yield "wide letters", "Ｔｈｅ ｃａｔ ｓｌｅｅｐｓ."
    yield "zalgo", "".join(letter + "\u0301\u0302\u0303" for letter in "The cat sleeps.")
    yield "zero width inside", "The c\u200bat sl\u200deeps in\ufeff the house."
    yield "zero width alone", ZERO_WIDTH * 20


def _repetitions(size: int) -> Iterator[tuple[str, str]]:
    for word in ("word", "very", "ha", "I", "the", "no,", "Hello!", "blorf", "New York", "yes and no"):
        for times in (5, 30, 150):
            yield f"{word} {times} times", " ".join([word] * times)
    yield "one word for ever", "word " * (size // 2)
    yield "one sentence for ever", "The cat sleeps. " * (size // 16)
    yield "one line for ever", "The cat sleeps.\n" * (size // 16)
    for letter in "aeox":
        yield f"{letter} long", f"N{letter * 40}!"


def _without_full_stop(size: int) -> Iterator[tuple[str, str]]:
    for index in range(6):
        generator = random.Random(index)
        length = size if index == 0 else size // 20
        words = [generator.choice(WORDS) for _ in range(length // 5)]
        yield f"no full stop {index}", " ".join(words)
        yield f"only commas {index}", ", ".join(words[:200])
    yield "no spaces", "".join(random.Random(7).choice(WORDS) + "," for _ in range(size // 50))
    yield "hyphens", "a-" * (size // 40)


def _long_words(size: int) -> Iterator[tuple[str, str]]:
    generator = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    for length in (30, 90, 100, 101, 500, size, 5 * size):
        yield f"word of {length} letters", "".join(generator.choice(letters) for _ in range(length))
        yield f"one letter {length} times", "x" * length
        yield f"word of {length} letters in a sentence", f"The {'é' * length} sleeps, I think."
    yield "a long address", "See https://example.org/" + "a/b-" * 100 + " for more."


def _mixtures(size: int) -> Iterator[tuple[str, str]]:
    pieces = [
        "The cat sleeps.",
        "\n",
        "\n\n",
        "😀",
        "12",
        "Привет",
        "???",
        "x" * 120,
        "NO!",
        " ",
        "word " * 20,
    ]
    for index in range(17):
        generator = random.Random(100 + index)
        yield f"mixture {index}", " ".join(generator.choice(pieces) for _ in range(12))
    for index in range(6):
        generator = random.Random(200 + index)
        points = [generator.randrange(0x20, 0x3000) for _ in range(80)]
        text = "".join(chr(point) for point in points if unicodedata.category(chr(point)) not in ("Cs", "Cn"))
        yield f"random characters {index}", text
    yield "capitals", "THE CAT SLEEPS IN THE HOUSE AND THE DOG RUNS IN THE GARDEN."
    yield "a list", "\n".join(f"- The {word}" for word in WORDS[:20]) * max(1, size // 20_000)


def broken_promises(text: str, translation: Translation) -> list[str]:
    """What the translation of ``text`` fails to keep; nothing for a sound one."""
    broken: list[str] = []
    flags: dict[int, set[str]] = {}
    for flag in translation.flags:
        flags.setdefault(flag.sentence, set()).add(flag.kind)
    read = written = 0
    for index, sentence in enumerate(translation.sentences):
        source = text[sentence.source.start : sentence.source.end]
        target = translation.text[sentence.target.start : sentence.target.end]
        if text[read : sentence.source.start] != translation.text[written : sentence.target.start]:
            broken.append(f"what stands before sentence {index} has changed")
        broken += [f"text before sentence {index} lost"] * _has_text(text[read : sentence.source.start])
        read, written = sentence.source.end, sentence.target.end
        raised = flags.get(index, set())
        if not target.strip():
            broken.append(f"sentence {index} is empty")
        if repeats_itself(source, target) and "loop" not in raised:
            broken.append(f"sentence {index} loops and has no flag")
        if sentence.truncated and "truncated" not in raised:
            broken.append(f"sentence {index} is truncated and has no flag")
        if len(target) > 8 * len(source) + 200:
            broken.append(f"sentence {index}: {len(target)} characters for {len(source)}")
        if len(source) > 100 and len(target) < len(source) / 4 and "truncated" not in raised:
            broken.append(f"sentence {index}: {len(target)} characters for {len(source)}, and no flag")
    if text[read:] != translation.text[written:] or _has_text(text[read:]):
        broken.append("what stands after the last sentence has changed or was not translated")
    source_lines, target_lines = text.split("\n"), translation.text.split("\n")
    if [not line.strip() for line in source_lines] != [not line.strip() for line in target_lines]:
        broken.append("lines were added or lost, or a blank line is no longer blank")
    return broken


def _has_text(text: str) -> bool:
    """Whether there is a character that a reader would miss."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text)
