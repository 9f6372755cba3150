"""``check_translation`` names what is wrong and is silent about what is right."""

from __future__ import annotations

import pytest

from nmt.pipeline.check import check_translation
from nmt.text.glossary import Glossary, Term


@pytest.mark.parametrize(
    ("source", "target", "problems"),
    [
        ("It costs $1,250.00.", "Cela coûte 1 250,00 $.", []),
        ("It costs $1,250.00.", "Cela coûte 1 250 000 $.", ["number", "number"]),
        ("Call me at 5:30 pm.", "Appelle-moi à 17 h 30.", []),
        ("Call me at 5 pm.", "Appelle-moi à 8 h.", ["number", "number"]),
        ("Two to fourteen days", "Deux à quatre jours", ["number", "number"]),
        ("Hello {name}!", "Bonjour {name} !", []),
        ("Hello {name}!", "Bonjour {nom} !", ["literal", "literal"]),
        ("Are you there?", "Vous êtes là.", ["punctuation"]),
        ("The red house (old)", "La maison rouge (vieille", ["punctuation"]),
        ("You can optionally add a name.", "Vous pouvez optionally ajouter un nom.", ["untranslated"]),
        ("The dog is here.", "Le chien chien est ici.", ["doubled_word"]),
        ("We thank you.", "Nous nous remercions vous.", []),
        ("The dog is here.", "", ["empty"]),
        ("", "", []),
        ("The committee will meet on Thursday to discuss the new budget.", "Le comité.", ["length"]),
        ("The cats are here.", "Les minous sont ici.", ["term"]),
    ],
)
def test_problems_are_named(source: str, target: str, problems: list[str]) -> None:
    glossary = Glossary.of([Term("cats", "chats")])
    assert [problem.kind for problem in check_translation(source, target, glossary=glossary)] == problems


def test_the_other_direction() -> None:
    assert check_translation("Le 2e étage à 14 h 30", "The 2nd floor at 2:30 pm", ("fr", "en")) == []
    (problem,) = check_translation("Il y a 12 chats.", "There are cats.", ("fr", "en"))
    assert (problem.kind, problem.detail) == ("number", "12 is missing")
