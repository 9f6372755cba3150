"""French."""

from __future__ import annotations

import re

from nmt.text.languages.rules import CAPITALISED_WORD, FIRST_WORD, SPACES, Language

_CAPITALISED = """
    dieu noël pâques toussaint ascension assomption pentecôte ramadan hanoukka bible coran église état
    parlement internet
"""
_CARDINALS = """
    zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept
    dix-huit dix-neuf vingt
"""
_ORDINALS = """
    minuit premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième
"""
_UNMISTAKABLE = """
    aux avec cette dans des elle est il je les leur nous pour qui sont une vous
"""
_TELLING = """
    au ce du et la le mon ne nos sur un vos
"""
_ENDINGS = """
    e es s ent ons ez er é ée és ées a as ai ait ais aient ions iez âmes èrent ât ant ants ante antes era
    erai eras erait erais eraient eront erons erez ir i ie is it ies isse issent issait issaient issant
    ira irait ît ment ement eur euse eurs euses ique iques iquement iste istes isme ation ations able
    ables x aux al ale ales if ive ifs ives ien ienne iens té tés age ages ance ances ence ences ure ures
    ette ettes eux elle elles
"""

FRENCH = Language(
    code="fr",
    script="LATIN",
    decimal_point=",",
    group_mark=" ",
    spaced_marks=";:!?»",
    money_with_sign=re.compile(rf"\d[{SPACES}]?[$€£¥]"),
    units={
        "km/h": "km|kilomet|mph",
        "km²": "km|square",
        "km": "km|kilomet",
        "cm": "cm|centimet",
        "mm": "mm|millimet",
        "kg": "kg|kilo",
        "mg": "mg|milligram",
        "ml": "ml|millilit",
        "mL": "ml|millilit",
        "kWh": "kwh|kilowatt",
        "kW": "kw|kilowatt",
        "MHz": "mhz|megahertz",
        "GHz": "ghz|gigahertz",
        "kHz": "khz|kilohertz",
        "Hz": "hz|hertz",
        "h": r"h(?!\w)|hour|o'clock|[ap]\.?m(?!\w)|:",
        "Mo": "mb|megabyte",
        "Go": "gb|gigabyte",
        "To": "tb|terabyte",
        "ms": "ms|millisecond",
    },
    cardinals=tuple(_CARDINALS.split()),
    ordinals=tuple(_ORDINALS.split()),
    longest_small_word=4,
    capitalised=frozenset(f"{word}{ending}" for word in _CAPITALISED.split() for ending in ("", "s")),
    unmistakable=frozenset(_UNMISTAKABLE.split()),
    telling=frozenset(_TELLING.split()),
    endings=("", *_ENDINGS.split()),
    short_share=0.4,
    articles=re.compile(r"(?:(?:les?|la|une?|des)\s+|l['’])", re.IGNORECASE),
    determiners=(
        (("du", "de la"), ("de l'",)),
        (("au", "à la"), ("à l'",)),
        (("le", "la"), ("l'",)),
        (("un", "une"), ("un", "une")),
        (("de",), ("d'",)),
        (("ce", "cette"), ("cet", "cette")),
        (("mon", "ma"), ("mon",)),
        (("ton", "ta"), ("ton",)),
        (("son", "sa"), ("son",)),
        (("que",), ("qu'",)),
        (("ne",), ("n'",)),
        (("se",), ("s'",)),
    ),
    titles=r"M\.|MM\.|Mmes?|Mlles?|Dr\.?|Pr\.?|Me|Monsieur|Madame|Mademoiselle|Docteur|Maître",
    labels="nom|prénom|nom complet|contact|patiente?|cliente?|auteure?|signé|à l'attention de",
    street=r"\d+(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|impasse|chemin|allée|quai|route|square)"
    rf"\s+(?:(?:de|du|des|de\s+la)\s+|d['’]|de\s+l['’])?{CAPITALISED_WORD}(?:[\s-]+{CAPITALISED_WORD})*",
    first_name=re.compile(
        rf"{FIRST_WORD}(?<!tion)(?<!ment)(?<!ble)(?<!té)(?<!ance)(?<!ence)(?<!age)(?<!isme)(?<!iste)(?<!eur)"
        r"(?<!euse)(?<!ique)(?<!elle)(?<!ette)(?<!ant)(?<!ante)(?<!ent)(?<!ente)(?<!é)(?<!ée)(?<!er)(?<!ir)"
        r"(?<!re)(?<!ez)(?<!ait)(?<!s)(?<!x)(?!\w)"
    ),
    negations=re.compile(
        r"(?<!\w)(?:(?<!le )(?<!un )(?<!au )pas(?! à pas)|jamais|non|"
        r"(?<!sans )aucune?s?|rien|personne|sans(?! (?:aucun )?doute)|ni|nulle?|nullement|guère)(?!\w)|"
        r"(?<!\w)(?:ne\s|n['’])[^.!?]{0,60}?(?<!\w)plus(?!\w)",
        re.IGNORECASE,
    ),
    denying=re.compile(
        r"(?<!\w)(?:in\w{5,}|im\w{4,}|ir\w{4,}|il\w{5,}|dé\w{3,}|més?\w{3,}|mal\w*|peu|ne|n(?=['’])|moins|"
        r"manqu\w*|refus\w*|interdi\w*|ignor\w*|évit\w*|échou\w*|empêch\w*|défense|cess\w*|arrêt\w*|"
        r"plutôt|seul\w*|hein|faux|oubli\w*|dépourvu\w*|absen\w*|qu(?=['’])|hors)(?!\w)",
        re.IGNORECASE,
    ),
)
