"""English."""

from __future__ import annotations

import re

from nmt.text.languages.rules import CAPITALISED_WORD, FIRST_WORD, Language

_CAPITALISED = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter halloween thanksgiving ramadan hanukkah pentecost god
    bible internet
"""
_PEOPLES = """
    english french german spanish italian portuguese dutch swedish danish norwegian finnish polish russian
    ukrainian greek turkish arabic hebrew chinese japanese korean indian american canadian mexican brazilian
    british irish scottish welsh swiss belgian austrian european african asian australian latin
"""
_ALSO_COMMON = {"may", "march", "august", "mays", "marches", "god", "gods", "bible", "bibles"}
_WITH_PLURALS = frozenset(f"{word}{ending}" for word in _CAPITALISED.split() for ending in ("", "s"))
_CARDINALS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
"""
_ORDINALS = """
    midnight first second third fourth fifth sixth seventh eighth ninth tenth
"""
_UNMISTAKABLE = """
    and are from have not that the there they this which with would you
"""
_TELLING = """
    at in is it my of to was we were your
"""
_ENDINGS = """
    s es ed d ing er ers or ors ly e y ies ied ier iest est ness nesses able ible ably ment ments ation
    ations ion ions al ally ic ical ically ist ists ism ity ities ful less ize izes ized izing ise ises
    ised ising ward wards ive ish
"""

ENGLISH = Language(
    code="en",
    script="LATIN",
    decimal_point=".",
    group_mark=",",
    spaced_marks="",
    money_with_sign=re.compile(r"[$€£¥]\d"),
    units={
        "km/h": "km|kilomètre",
        "km²": "km|kilomètre",
        "km": "km|kilomètre",
        "cm": "cm|centimètre",
        "mm": "mm|millimètre",
        "kg": "kg|kilo",
        "mg": "mg|milligramme",
        "ml": "ml|millilitre",
        "mL": "ml|millilitre",
        "kWh": "kwh|kilowatt",
        "kW": "kw|kilowatt",
        "MHz": "mhz|mégahertz",
        "GHz": "ghz|gigahertz",
        "kHz": "khz|kilohertz",
        "Hz": "hz|hertz",
        "MB": "mb|mo|mégaoctet",
        "GB": "gb|go|gigaoctet",
        "TB": "tb|to|téraoctet",
        "ms": "ms|milliseconde",
    },
    cardinals=tuple(_CARDINALS.split()),
    ordinals=tuple(_ORDINALS.split()),
    longest_small_word=3,
    capitalised=_WITH_PLURALS,
    always_capital=_WITH_PLURALS - _ALSO_COMMON | frozenset(_PEOPLES.split()) | {"i"},
    unmistakable=frozenset(_UNMISTAKABLE.split()),
    telling=frozenset(_TELLING.split()),
    endings=("", *_ENDINGS.split()),
    short_share=0.35,
    determiners=((("a",), ("an",)),),
    articles=re.compile(r"(?:the|an?)\s+", re.IGNORECASE),
    titles=r"Mrs?\.?|Ms\.?|Miss|Dr\.?|Prof\.?|Sir|Lady|Rev\.|Sgt\.?|Capt\.?",
    labels="name|first name|last name|surname|full name|contact|patient|customer|client|author|signed|attn",
    street=rf"\d+[A-Za-z]?,?\s+(?:{CAPITALISED_WORD}\s+){{1,3}}"
    r"(?:Street|St\.?|Road|Rd\.?|Avenue|Ave\.?|Lane|Drive|Square|Court|Close|Crescent|Boulevard|Way)(?!\w)",
    first_name=re.compile(
        rf"{FIRST_WORD}(?<!ing)(?<!ed)(?<!ly)(?<!tion)(?<!ness)(?<!ment)(?<!ble)(?<!s)(?!\w)"
    ),
    negations=re.compile(
        r"(?<!\w)(?:not|never|no(?! doubt| later than| sooner)|none|nobody|nothing|nowhere|neither|nor|"
        r"cannot|without(?! (?:a )?doubt)|non)(?!\w)|n['’]t(?!\w)",
        re.IGNORECASE,
    ),
    denying=re.compile(
        r"(?<!\w)(?:un\w{3,}|in\w{5,}|im\w{4,}|ir\w{4,}|il\w{4,}|dis\w{3,}|mis\w{3,}|\w+less(?:ly|ness)?|lack\w*|"
        r"fail\w*|refus\w*|only|just|but|hardly|barely|rarely|seldom|few\w*|little|free|out|off|until|"
        r"before|than|too|stop\w*|avoid\w*|den\w+|forbid\w*|ban\w*|prevent\w*|lest|any\w*|ever|deny|miss\w*|"
        r"wrong|neglect\w*|ignor\w*|hate\w*|doubt\w*|forg[eo]t\w*|short|keep|kept|person)(?!\w)",
        re.IGNORECASE,
    ),
    negated_question=re.compile(r"\W*\w+n['’]t\s[^.!]*\?"),
)
