"""Shorthand of chats that a model reads in full: "r u ok" as "are you ok", stp as "s'il te plaît".

Words count in small letters alone, apart from the first of a text. Letters that stand for a word (u, r, c)
count beside words that they go with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmt.spans import Span, overlap
from nmt.text.edits import Edit

_WORDS = {
    "en": """
        pls=please plz=please thx=thanks thnx=thanks tnx=thanks tks=thanks ty=thank_you
        tysm=thank_you_so_much ur=your luv=love gr8=great m8=mate l8r=later l8=late b4=before 2moro=tomorrow
        tmrw=tomorrow tmr=tomorrow 2nite=tonight tonite=tonight 2day=today cya=see_you btw=by_the_way,
        idk=I_don't_know tbh=to_be_honest, imo=in_my_opinion, imho=in_my_opinion, fyi=for_your_information,
        asap=as_soon_as_possible np=no_problem nvm=never_mind omw=on_my_way wyd=what_are_you_doing
        hbu=how_about_you wbu=what_about_you ttyl=talk_to_you_later brb=be_right_back gtg=I_have_to_go
        g2g=I_have_to_go jk=just_kidding omg=oh_my_God, bday=birthday msg=message ppl=people cuz=because
        coz=because bc=because tho=though thru=through sry=sorry soz=sorry congrats=congratulations
        gonna=going_to gotta=have_to dunno=don't_know lemme=let_me gimme=give_me kinda=kind_of sorta=sort_of
        cmon=come_on im=I'm ive=I've youre=you're youve=you've theyre=they're theyve=they've thats=that's
        whats=what's wheres=where's hows=how's whos=who's theres=there's heres=here's dont=don't cant=can't
        wont=won't didnt=didn't doesnt=doesn't isnt=isn't arent=aren't wasnt=wasn't werent=weren't
        havent=haven't hasnt=hasn't hadnt=hadn't couldnt=couldn't wouldnt=wouldn't shouldnt=shouldn't
        aint=isn't
    """,
    "fr": """
        stp=s'il_te_plaît svp=s'il_vous_plaît slt=salut bjr=bonjour bsr=bonsoir jsp=je_ne_sais_pas
        tkt=ne_t'inquiète_pas, bcp=beaucoup dsl=désolé, rdv=rendez-vous pk=pourquoi pq=pourquoi
        pkoi=pourquoi ds=dans qd=quand tte=toute tjrs=toujours tjs=toujours jms=jamais mtn=maintenant
        aprem=après-midi chui=je_suis chuis=je_suis mci=merci mrc=merci pr=pour qqn=quelqu'un
        qqch=quelque_chose ptet=peut-être ptetre=peut-être pcq=parce_que psk=parce_que pck=parce_que
        jpp=je_n'en_peux_plus dac=d'accord koi=quoi keske=qu'est-ce_que jtm=je_t'aime pb=problème
        tlm=tout_le_monde dispo=disponible grv=grave lgtps=longtemps bisx=bisous vrmt=vraiment nn=non
    """,
}
"""Language -> word=what it stands for, with _ for a space."""
_LAUGHTER = {
    ("en", "fr"): (re.compile(r"(?<!\w)lol(?!\w)", re.IGNORECASE), "mdr"),
    ("fr", "en"): (re.compile(r"(?<!\w)(?:mdr|ptdr)(?!\w)", re.IGNORECASE), "lol"),
}
_BEFORE_U = (
    "can|could|do|did|are|will|would|should|if|when|what|where|how|why|to|of|for|with|from|about|love|luv|miss|see|thank|"
    "call|tell|ask|help|give|hope|need|want|like|hate|know|got|let|get|bless|as|than|that|and"
)
_PHRASES = {
    "en": (
        (r"c u\b", "see you"),
        (r"r u\b", "are you"),
        (r"u r\b", "you are"),
        (r"ur(?= (?:the|a|an|so|not|my|very|right|wrong|welcome|late|too)\b)", "you're"),
        (r"lets(?<=^lets)(?= \w+)", "let's"),
        (r"wanna(?= \w+.*\?)", "do you want to"),
        (r"wanna\b", "want to"),
        (
            r"u(?= (?:can|are|ok|know|want|have|need|should|will|guys|like|think|do|did|all|too|going)\b)",
            "you",
        ),
        (rf"(?:{_BEFORE_U}) (?P<short>u)\b(?!\s*[=+*/,])", "you"),
        (r"k(?=[.!]*$)(?<=^k)", "OK"),
    ),
    "fr": (
        (r"[aà] t(?:t|te)(?=[.!?…]*$)", "à tout à l'heure"),
        (r"[aà] ?\+(?=[.!?…]*$)", "à plus tard"),
        (r"cc(?= |$)", "coucou"),
        (
            r"g(?= (?:pas|rien|plus|fini|vu|fait|dit|faim|soif|mal|compris|reçu|eu|un|une|le|la|les|des)\b)",
            "j'ai",
        ),
        (r"c(?= (?:pas|bon|quoi|qui|ok|vrai|trop|cool|nul|moi|la|le|un|une)\b)", "c'est"),
        (r"t(?= (?:où|ou|qui|sûr|sur|là|la|trop|pas|un|une|en|chez|à)\b)", "tu es"),
        (r"(?:il )?ya\b", "il y a"),
        (r"tt(?= \w)", "tout"),
        (r"ki\b", "qui"),
        (r"ke\b", "que"),
    ),
}
"""Language -> patterns of what is shorthand in its place alone, each with what it stands for."""
_IN_PHRASES = {"en": "u r c k ur lets wanna", "fr": "t tt tte cc g c ki ke ya"}
"""What each of their matches has one of, or a plus sign."""
_ANY_WORD = re.compile(r"[^\W_]+")
_WORD = re.compile(r"(?<![\w@#./:_'’-])[^\W_]+(?![\w@/_'’-]|[.:]\w)")


def shorthand_edits(text: str, language: str, recased: str | None = None) -> list[Edit]:
    """Write the shorthand of ``text`` in full; only of English and French.

    Args:
        text: a sentence.
        language: ISO 639-1 code of it.
        recased: the text in the case that a model reads, which decides the capitals; None: as it is.

    >>> [edit.text for edit in shorthand_edits("r u ok? pls call me asap", "en")]
    ['are you', 'please', 'as soon as possible']
    """
    if language not in _WORDS:
        return []
    if "+" not in text and _shorthand_of(language).isdisjoint(_ANY_WORD.findall(text.lower())):
        return []
    edits: list[Edit] = []
    for span, words in (*_phrases(text, language), *_words(text, language)):
        if not any(overlap(span, edit.span) for edit in edits):
            edits.append(Edit(span, _as_it_begins(recased or text, span, words)))
    return sorted(edits, key=lambda edit: edit.span.start)


def find_laughter(text: str, source: str, target: str) -> list[tuple[Span, str]]:
    """Where somebody laughs in letters, and how the other language does: lol is mdr."""
    pattern, laughter = _LAUGHTER.get((source, target), (None, ""))
    return [(Span(*match.span()), laughter) for match in pattern.finditer(text)] if pattern else []


def _phrases(text: str, language: str) -> Iterator[tuple[Span, str]]:
    for pattern, words in _compiled(language):
        for match in pattern.finditer(text):
            if _is_small(text, match.start(), match.group()):
                yield Span(*match.span("short" if "short" in pattern.groupindex else 0)), words


def _words(text: str, language: str) -> Iterator[tuple[Span, str]]:
    known = _table(language)
    for match in _WORD.finditer(text):
        words = known.get(match.group().lower())
        if words is not None and _is_small(text, match.start(), match.group()):
            end = match.end()
            is_last = not text[end:].strip() or text[end:].lstrip()[0] in ",.!?;:…"
            yield Span(match.start(), end), words.rstrip(",") if is_last else words


def _is_small(text: str, start: int, word: str) -> bool:
    """In small letters, or with a capital where the text begins."""
    return word.islower() or (not text[:start].strip() and word[1:] == word[1:].lower())


def _as_it_begins(text: str, span: Span, words: str) -> str:
    """With a capital where the text has one."""
    return words[0].upper() + words[1:] if text[span.start].isupper() else words


@cache
def _shorthand_of(language: str) -> frozenset[str]:
    """Every word and letter of its shorthand."""
    return frozenset(_table(language)) | frozenset(_IN_PHRASES[language].split())


@cache
def _table(language: str) -> dict[str, str]:
    pairs = (pair.split("=") for pair in _WORDS[language].split())
    return {word: words.replace("_", " ") for word, words in pairs}


@cache
def _compiled(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"(?<![\w@#./:_'’-]){pattern}", re.IGNORECASE), words)
        for pattern, words in _PHRASES[language]
    )
