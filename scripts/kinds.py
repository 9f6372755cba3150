"""Kinds of text that people report as broken: what each is about, kept or not, and whether a flag says so.

    python -m scripts.kinds [--limit 40] [--json docs/reliability/kinds.json] [--table]

Cases are generated with invented names and amounts, in both directions, and translated by the models that
ship. ``--table`` writes the table of docs/behaviours_record.md from the record.
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

from nmt.text.roman import english_ordinal
from nmt.translator import Translator
from training.provenance import provenance

RECORD = Path(__file__).resolve().parent.parent / "docs" / "reliability" / "kinds.json"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "behaviours_record.md"
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
    "formulas": {
        "en": (
            *("The area is {} here.", "We know that {} is right.", "Let {} be given.", "{} is famous."),
            "It follows from {} that the house is red.",
        ),
        "fr": (
            *("L'aire est {} ici.", "Nous savons que {} est juste.", "Soit {} donné.", "{} est célèbre."),
            "Il suit de {} que la maison est rouge.",
        ),
    },
    "words alone with a capital": {"en": ("{}",), "fr": ("{}",)},
    "shorthand of chats": {"en": ("{}",), "fr": ("{}",)},
    "telephone numbers": {
        "en": ("Call {}.", "Phone: {}", "My number is {}, call me tonight.", "{}"),
        "fr": ("Appelez-moi au {}.", "Tél. : {}", "Mon numéro est le {}, rappelle-moi ce soir.", "{}"),
    },
    "words between two placeholders": {
        "en": (
            *("I accept the %s{}%s.", "Please read our %s{}%s before you continue.", "See <1>{}</1> first."),
            *("I have read the **{}** and agree.", "Go to <a>{}</a> to change your password."),
        ),
        "fr": (
            *("J'accepte les %s{}%s.", "Veuillez lire nos %s{}%s avant de continuer.", "Voir <1>{}</1>."),
            *("J'ai lu les **{}** et je suis d'accord.", "Ouvrez <a>{}</a> pour changer de mot de passe."),
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
    "captions in brackets": {
        "en": ("[{}]", "({})"),
        "fr": ("[{}]", "({})"),
    },
    "words in brackets": {
        "en": (
            *("The house ({}) is old.", "She bought a car ({}) yesterday.", "He has a dog ({})."),
            *("My neighbour has a garden ({}) near the river.", "We saw a boat ({})."),
        ),
        "fr": (
            *("La maison ({}) est vieille.", "Elle a acheté une voiture ({}) hier.", "Il a un chien ({})."),
            *("Mon voisin a un jardin ({}) près de la rivière.", "Nous avons vu un bateau ({})."),
        ),
    },
    "centuries": {
        "en": (
            *("He lived in the {} century.", "a {}-century castle", "It was built in the {} century."),
            *("The {} century was a time of war.", "In the {} century, trains were slow."),
        ),
        "fr": (
            *("Il vivait au {} siècle.", "un château du {} siècle", "Il a été construit au {} siècle."),
            *("Le {} siècle fut une époque de guerre.", "Au {} siècle, les trains étaient lents."),
        ),
    },
    "roman numerals": {
        "en": ("Louis {} was a king.", "See Chapter {} for details.", "Read Part {} of the book.", "Act {}"),
        "fr": ("Louis {} était roi.", "Voir le chapitre {}.", "Lisez la partie {} du livre.", "Acte {}"),
    },
    "ranks": {
        "en": (
            *("He finished in {} place.", "She lives on the {} floor.", "This is the {} time."),
            *("Read the {} chapter.", "It is the {} largest city in the country."),
        ),
        "fr": (
            *("Il a terminé à la {} place.", "Elle habite au {} étage.", "C'est la {} fois."),
            *("Lisez le {} chapitre.", "C'est la {} ville du pays."),
        ),
    },
    "speakers": {
        "en": ("{}: Where are you?", "{}: I am here.", "- {}: No, I am not."),
        "fr": ("{} : Où es-tu ?", "{} : Je suis ici.", "- {} : Non, merci."),
    },
    "scores": {
        "en": ("They won {}.", "The final score was {}.", "We lost {} on Sunday.", "Perth beat Oslo {}."),
        "fr": ("Ils ont gagné {}.", "Le score final était de {}.", "Nous avons perdu {} dimanche."),
    },
    "ranges in words": {
        "en": (
            *(
                "Delivery takes {} to {} days.",
                "Wait {} to {} minutes.",
                "The children are {} to {} years old.",
            ),
            *("It takes between {} and {} hours.", "Add {} or {} apples."),
        ),
        "fr": (
            *("Livraison en {} à {} jours.", "Attendez {} à {} minutes.", "Les enfants ont de {} à {} ans."),
            *("Il faut entre {} et {} heures.", "Ajoutez {} ou {} pommes."),
        ),
    },
    "letters alone": {"en": ("{} {} {}", "{} {}", "{}, {}, {}"), "fr": ("{} {} {}", "{} {}", "{}, {}, {}")},
    "stars around words": {
        "en": ("**{}**", "**{}** The house is big.", "The house is big. **{}**", "**{}:** The house is big."),
        "fr": (
            *("**{}**", "**{}** La maison est grande.", "La maison est grande. **{}**"),
            "**{} :** La maison est grande.",
        ),
    },
    "line ends written out": {
        "en": ("Hello\\nGoodbye", "The door is open.\\nClose it.", "Thank you.\\n", "Name\\tAge\\nCity"),
        "fr": ("Bonjour\\nAu revoir", "La porte est ouverte.\\nFermez-la.", "Merci.\\n", "Nom\\tÂge\\nVille"),
    },
    "text in the other language": {
        "en": (
            *(
                "Le {} est dans la {}.",
                "Je ne sais pas où est le {} de la {}.",
                "Nous avons vu le {} dans une {}.",
            ),
            "Il y a un {} et une {} pour vous.",
        ),
        "fr": (
            *("The {} is in the {}.", "I do not know where the {} of the {} is.", "We saw the {} in a {}."),
            "There is a {} and a {} for you.",
        ),
    },
}
FILLS: dict[str, dict[str, Sequence[tuple[str, str]]]] = {
    "captions in brackets": {
        "en": (
            *(("the door opens", "porte"), ("music playing", "musique"), ("a dog barks", "chien")),
            *(("phone ringing", "téléphone"), ("laughter", "rire"), ("applause", "applaudi")),
            *(("rain falls on the roof", "toit"), ("a child cries", "enfant"), ("silence", "silence")),
            ("birds are singing", "oiseau"),
        ),
        "fr": (
            *(("la porte s'ouvre", "door"), ("musique douce", "music"), ("un chien aboie", "dog")),
            *(("le téléphone sonne", "phone"), ("rires", "laugh"), ("applaudissements", "appla")),
            *(("la pluie tombe sur le toit", "roof"), ("un enfant pleure", "chil"), ("silence", "silence")),
            ("les oiseaux chantent", "bird"),
        ),
    },
    "words in brackets": {
        "en": (
            *(("big and red", "big red"), ("optionally", "optionally"), ("small and black", "small black")),
            *(("very expensive", "very expensive"), ("tomorrow morning", "tomorrow morning")),
            *(("new", "new"), ("too large", "too large"), ("not mine", "mine"), ("twice", "twice")),
            ("with a key", "with key"),
        ),
        "fr": (
            *(("grande et rouge", "grande rouge"), ("facultativement", "facultativement")),
            *(("petite et noire", "petite noire"), ("très cher", "cher"), ("demain matin", "demain matin")),
            *(("neuf", "neuf"), ("pas le mien", "pas mien"), ("deux fois", "deux fois")),
            *(("avec une clé", "avec clé"), ("trop grand", "trop grand")),
        ),
    },
    "stars around words": {
        "en": (("Warning", ""), ("Read this first", ""), ("Important", ""), ("New rules", ""), ("Note", "")),
        "fr": (
            ("Attention", ""),
            ("À lire d'abord", ""),
            ("Important", ""),
            ("Remarque", ""),
            ("Danger", ""),
        ),
    },
    "words between two placeholders": {
        "en": (
            *(("terms and privacy policy", "politique"), ("terms of use", "utilisation"), ("rules", "règle")),
            *(("settings", "paramètre|réglage|configuration"), ("user guide", "guide"), ("list", "liste")),
            *(("account settings", "compte"), ("frequently asked questions", "questions"), ("map", "carte")),
            ("new version", "version"),
        ),
        "fr": (
            *(
                ("conditions d'utilisation", "terms|conditions"),
                ("règles de confidentialité", "rules|policy"),
            ),
            *(
                ("paramètres", "settings|parameters"),
                ("guides", "guides"),
                ("questions fréquentes", "question"),
            ),
            *(("paramètres du compte", "account"), ("listes", "lists"), ("cartes", "maps|cards")),
            ("nouvelles versions", "versions"),
        ),
    },
    "words alone with a capital": {
        "en": (
            *(
                ("Owls", "hibou|chouette"),
                ("Blankets", "couverture"),
                ("Shoes", "chaussure"),
                ("Keys", "clé|touche"),
            ),
            *(("Drinks", "boisson"), ("Bread", "pain"), ("Kitchen", "cuisine"), ("Lawyers", "avocat")),
            *(
                ("Umbrella", "parapluie"),
                ("Villages", "village"),
                ("Hospitals", "hôpita"),
                ("Rivers", "rivière|fleuve"),
            ),
            *(
                ("Ladders", "échelle"),
                ("Spoon", "cuill"),
                ("Beautiful", "be(?:au|lle)"),
                ("Expensive", "ch(?:er|ère)"),
            ),
            *(
                ("Swim", "nager|nage"),
                ("Yesterday", "hier"),
                ("Apples", "pomme"),
                ("Farmers", "agriculteur|fermier"),
            ),
        ),
        "fr": (
            *(("Hiboux", "owl"), ("Couvertures", "blanket|cover"), ("Chaussures", "shoe"), ("Clés", "key")),
            *(("Boissons", "drink|beverage"), ("Pain", "bread"), ("Cuisine", "kitchen|cooking|cuisine")),
            *(("Avocats", "lawyer|avocado"), ("Parapluie", "umbrella"), ("Villages", "village")),
            *(
                ("Hôpitaux", "hospital"),
                ("Rivières", "river"),
                ("Échelles", "ladder|scale"),
                ("Cuillère", "spoon"),
            ),
            *(
                ("Belle", "beautiful|lovely"),
                ("Cher", "expensive|dear"),
                ("Nager", "swim"),
                ("Hier", "yesterday"),
            ),
            *(("Pommes", "apple"), ("Agriculteurs", "farmer")),
        ),
    },
    "shorthand of chats": {
        "en": (
            *(("r u at home?", "maison"), ("im at work", "travail"), ("thx for the book", "merci.*livre")),
            *(("pls open the door", "porte"), ("idk where he is", "sais pas"), ("c u tomorrow", "demain")),
            *(
                ("i dont have a car", "pas de voiture"),
                ("whats ur name?", "nom|appel"),
                ("brb", "revien|retour"),
            ),
            *(
                ("ur so nice", "gentil|sympa"),
                ("wanna eat?", "manger"),
                ("call me asap", "(?:dès que|au plus vite|le plus vite) ?(?:possible)?"),
            ),
        ),
        "fr": (
            *(
                ("t où ?", "where are you"),
                ("slt ça va ?", "h(?:i|ello|ey)"),
                ("jsp où il est", "don't know"),
            ),
            *(("merci bcp", "thank"), ("tu viens stp ?", "come|coming"), ("chui au travail", "I'm at work")),
            *(("g faim", "hungry"), ("pk tu pleures ?", "why"), ("dsl pour hier", "sorry")),
            *(
                ("on mange qd ?", "when"),
                ("rdv demain", "appointment|meet|see you"),
                ("tt va bien", "everything|all"),
            ),
        ),
    },
    "text in the other language": {
        "en": (("chat", "maison"), ("livre", "voiture"), ("pain", "cuisine"), ("vélo", "gare")),
        "fr": (("cat", "house"), ("book", "car"), ("bread", "kitchen"), ("bicycle", "station")),
    },
}
"""Kind -> language -> what goes into its frames, and what tells that it was translated, or not."""
FORMULAS = (
    *(r"$A = \pi r^2$", "$$E = mc^2$$", r"$\frac{a}{b}$", "$x_1 + x_2 = 3$", r"\(a^2 + b^2 = c^2\)", "$n$"),
    *(r"$$\int_0^1 f(t) dt$$", r"\[y = 2x\]", r"$\alpha < \beta$", r"$\sum_{i=1}^{n} i$"),
)
PHONES = {
    "en": ("(555) 999-9999", "555-999-9999", "020 7999 9999", "+44 20 7999 9999", "1-800-999-9999"),
    "fr": ("01 99 99 99 99", "06.99.99.99.99", "+33 1 99 99 99 99", "0199999999"),
}
"""Forms of telephone numbers; each 9 is a digit."""
NUMERALS = "0 I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI"
ROMAN = NUMERALS.split()
SPELLED = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
}


@dataclass(frozen=True)
class Case:
    """A text and what its translation must hold; ``not_held`` must not be there."""

    text: str
    held: tuple[str, ...]
    not_held: tuple[str, ...] = ()
    pattern: str = ""
    """A regular expression that the translation must match somewhere."""


def main() -> None:
    """Translate the cases and write the record, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=int, default=40, help="cases of each kind and direction")
    parser.add_argument("--kind", action="append", choices=FRAMES, help="this kind alone; may be repeated")
    parser.add_argument("--json", type=Path, default=RECORD)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    translators = {language: Translator.load(model, device="cpu") for language, model in MODELS.items()}
    rows = [
        measured(kind, language, list(cases(kind, language, options.limit)), translator)
        for kind in options.kind or FRAMES
        for language, translator in translators.items()
    ]
    if options.kind:
        rows = _in_place(json.loads(RECORD.read_text(encoding="utf-8"))["rows"], rows)
    record = {"rows": rows, **provenance()}
    options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _in_place(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a record with some measured again."""
    rows = {(row["kind"], row["from"]): row for row in (*old, *new)}
    return [rows[kind, language] for kind in FRAMES for language in MODELS if (kind, language) in rows]


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
    make = _escaped if kind == "line ends written out" else _MAKE.get(kind, _plain)
    for index in range(limit if kind in _MAKE else len(frames)):
        yield make(frames[index % len(frames)], language, rng)


_SAYS = {"$": r"\$|\bdollars?\b", "€": r"€|\beuros?\b", "£": r"£|\b(?:livres?|pounds?)\b", "USD": "USD"}
"""What a translation may have for a sign of money; a code stays."""


def _amount(frame: str, language: str, rng: random.Random) -> Case:
    whole = rng.choice([rng.randint(1000, 9999), rng.randint(10_000, 99_999), rng.randint(10**5, 10**7)])
    cents = rng.choice(["", "00", f"{rng.randint(1, 99):02}"])
    english = f"{whole:,}{'.' if cents else ''}{cents}"
    french = f"{whole:,}".replace(",", " ") + (f",{cents}" if cents else "")
    read, written = (english, french) if language == "en" else (french, english)
    sign = re.search(r"[$€£]|USD", frame)
    return Case(frame.format(read), (written,), pattern=_SAYS[sign.group()] if sign else "")


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
    literals = re.findall(r"%d%%|%s|%[\w.]+%|\{[^}]*\}|##\w+##|\[First Name\]| [|·•] ", text)
    return Case(text, tuple(literals), ("\u00ad", "\u200b", "\ufeff"))


def _filled(kind: str, language: str, rng: random.Random) -> tuple[str, str]:
    return rng.choice(FILLS[kind][language])


def _told(kind: str) -> Callable[[str, str, random.Random], Case]:
    """Cases whose translation begins or goes on as their fill says, in any case of letters."""

    def make(frame: str, language: str, rng: random.Random) -> Case:
        inner, known = _filled(kind, language, rng)
        return Case(frame.format(inner), (), pattern=rf"(?i)\b(?:{known})")

    return make


def _phone(frame: str, language: str, rng: random.Random) -> Case:
    digits = [rng.randint(0, 9) for _ in range(10)]
    form = rng.choice(PHONES[language])
    number = re.sub("9", lambda _: str(digits.pop()), form)
    return Case(frame.format(number), (number,))


def _caption(frame: str, language: str, rng: random.Random) -> Case:
    inner, known = _filled("captions in brackets", language, rng)
    if rng.random() < 0.6:
        inner, known = inner.upper(), known.upper()
    before, after = (re.escape(sign) for sign in frame.split("{}"))
    return Case(frame.format(inner), (), pattern=rf"^{before}[^\[\]()]*{known}[^\[\]()]*{after}$")


def _bracketed(frame: str, language: str, rng: random.Random) -> Case:
    inner, copies = _filled("words in brackets", language, rng)
    copied = "|".join(copies.split())
    return Case(frame.format(inner), (), pattern=rf"\((?![^()]*\b(?:{copied})\b)[^()]*\w[^()]*\)")


def _century(frame: str, language: str, rng: random.Random) -> Case:
    n = rng.randint(4, 21)
    english = f"{n}{'st' if n == 21 else 'th'}"
    if language == "en":
        return Case(frame.format(english), (f"{ROMAN[n]}e siècle",))
    read = f"{ROMAN[n]}e" if rng.random() < 0.7 else f"{n}e"
    return Case(frame.format(read), (), pattern=rf"\b{english}[ -]century")


def _roman(frame: str, _: str, rng: random.Random) -> Case:
    number = ROMAN[rng.randint(2, 18)]
    return Case(frame.format(number), (), pattern=rf"\b{number}\b")


def _rank(frame: str, language: str, rng: random.Random) -> Case:
    n = rng.randint(2, 30)
    english, words = english_ordinal(n), ("second|third" if n < 4 else r"\w+th")
    if language == "en":
        return Case(frame.format(english), (), pattern=rf"\b{n}(?:e|ème|nde?)\b|(?i:second|\w+ième)")
    return Case(frame.format(f"{n}{rng.choice(('e', 'ème'))}"), (), pattern=rf"\b{english}\b|(?i:{words})")


def _speaker(frame: str, _: str, rng: random.Random) -> Case:
    name = rng.choice(GIVEN).upper()
    return Case(frame.format(name), (name,))


def _score(frame: str, _: str, rng: random.Random) -> Case:
    score = f"{rng.randint(0, 9)}-{rng.randint(0, 9)}"
    return Case(frame.format(score), (score,))


def _range(frame: str, language: str, rng: random.Random) -> Case:
    low = rng.randint(2, 9)
    high = low + 1 if " or " in frame or " ou " in frame else rng.randint(low + 1, 16)
    read, written = (
        [SPELLED[one].split()[n] for n in (low, high)]
        for one in (language, "fr" if language == "en" else "en")
    )
    pattern = rf"(?i)\b(?:{written[0]}|{low})\b.*\b(?:{written[1]}|{high})\b"
    return Case(frame.format(*read), (), pattern=pattern)


def _letters(frame: str, _: str, rng: random.Random) -> Case:
    text = frame.format(*rng.sample("ABCDEFGHJKLMNOPQRSTUVWXYZ", frame.count("{}")))
    return Case(text, (), pattern=f"^{text}$")


def _stars(frame: str, language: str, rng: random.Random) -> Case:
    text = frame.format(_filled("stars around words", language, rng)[0])
    before, after = (r"\*\*" if edge == "**" else "" for edge in (text[:2], text[-2:]))
    inside = r"[^*]+(?:\*\*[^*]+)?" if before != after or text.count("**") != 2 or not after else "[^*]+"
    return Case(text, ("**", "**"), pattern=f"^{before}{inside}{after}$")


def _escaped(frame: str, _: str, __: random.Random) -> Case:
    pattern = "".join(rf"[^\\]*\\{mark}" for mark in re.findall(r"\\([nt])", frame)) + r"[^\\]*$"
    return Case(frame, (), pattern=f"^{pattern}")


def _formula(frame: str, _: str, rng: random.Random) -> Case:
    formula = rng.choice(FORMULAS)
    return Case(frame.format(formula), (formula,))


def _between(frame: str, language: str, rng: random.Random) -> Case:
    inner, known = _filled("words between two placeholders", language, rng)
    first, last = re.findall(r"%s|</?\w+>|\*\*", frame)
    pattern = rf"{re.escape(first)}(?! )[^%<*]*(?i:{known})[^%<*]*(?<! ){re.escape(last)}"
    return Case(frame.format(inner), (), pattern=pattern)


def _other(frame: str, language: str, rng: random.Random) -> Case:
    text = frame.format(*_filled("text in the other language", language, rng))
    return Case(text, (text,))


_MAKE: dict[str, Callable[[str, str, random.Random], Case]] = {
    "amounts of money": _amount,
    "names of people and streets": _name,
    "times of day": _time,
    "captions in brackets": _caption,
    "words in brackets": _bracketed,
    "centuries": _century,
    "roman numerals": _roman,
    "ranks": _rank,
    "speakers": _speaker,
    "scores": _score,
    "ranges in words": _range,
    "letters alone": _letters,
    "stars around words": _stars,
    "formulas": _formula,
    "words alone with a capital": _told("words alone with a capital"),
    "shorthand of chats": _told("shorthand of chats"),
    "telephone numbers": _phone,
    "words between two placeholders": _between,
    "text in the other language": _other,
}


def _is_right(case: Case, translation: str) -> bool:
    written = re.sub("[\u00a0\u202f]", " ", translation)
    return (
        all(written.count(one) >= min(case.held.count(one), 2) for one in set(case.held))
        and not any(one in translation for one in case.not_held)
        and re.search(case.pattern, written) is not None
    )


def fresh(text: str) -> str:
    """The page with its table made anew: a row for each kind of which some case is wrong."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    sides = list(dict.fromkeys(row["from"] for row in record["rows"]))
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in record["rows"]:
        by_kind.setdefault(row["kind"], []).append(row)
    lines = [f"| right, of cases | {' | '.join(f'from {side}' for side in sides)} |", "|---|--:|--:|"]
    all_right = []
    for kind, rows in by_kind.items():
        if all(row["right"] == row["cases"] for row in rows):
            all_right.append(f"{kind} ({sum(row['cases'] for row in rows)})")
        else:
            shares = {row["from"]: f"{row['right']}/{row['cases']}" for row in rows}
            lines.append(f"| {kind} | {' | '.join(shares.get(side, '') for side in sides)} |")
    if all_right:
        lines += ["", f"All cases of both directions are right of: {', '.join(all_right)}."]
    unflagged = sum(row["wrong_without_a_flag"] for row in record["rows"])
    lines += ["", f"Wrong without a flag: {unflagged}."]
    table = "\n".join(lines)
    return MARKED.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)


if __name__ == "__main__":
    main()
