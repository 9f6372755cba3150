"""A negation of one side that nothing on the other can stand for is seen."""

from __future__ import annotations

import pytest

from nmt.text.negation import compare_negations

KEPT, LOST, INVENTED = (False, False), (True, False), (False, True)


@pytest.mark.parametrize(
    ("english", "french", "found"),
    [
        ("I am not happy.", "Je ne suis pas heureux.", KEPT),
        ("I am not happy.", "Je suis heureux.", LOST),
        ("I'm happy.", "Je ne suis pas heureux.", INVENTED),
        ("They don’t eat.", "Ils mangent.", LOST),
        ("She never eats.", "Elle ne mange jamais.", KEPT),
        ("VAT not applicable", "TVA applicable", LOST),
        ("I no longer know.", "Je ne sais plus.", KEPT),
        ("Without sugar", "Sans sucre", KEPT),
        ("It is unfinished.", "Ce n'est pas fini.", KEPT),
        ("I only have one.", "Je n'en ai qu'un.", KEPT),
        ("No smoking", "Défense de fumer", KEPT),
        ("A cat sits on the step.", "Un chat est assis sur le pas de la porte.", KEPT),
        ("Isn't there a door?", "Y a-t-il une porte ?", KEPT),
        ("No doubt he is right.", "Il a sûrement raison.", KEPT),
        ("No doubt he is right.", "Il a sans doute raison.", KEPT),
        ("There is no doubt.", "Il ne fait aucun doute.", KEPT),
        ("He is probably right.", "Il a sans aucun doute raison.", KEPT),
        ("He is right.", "Il a raison sans rien dire.", INVENTED),
        ("Answer no later than Friday.", "Répondez au plus tard vendredi.", KEPT),
        ("The notes are here.", "Les notes sont ici.", KEPT),
    ],
)
def test_both_directions(english: str, french: str, found: tuple[bool, bool]) -> None:
    assert compare_negations(english, french, ("en", "fr")) == found
    assert compare_negations(french, english, ("fr", "en")) == found[::-1]


def test_languages_that_are_not_known_have_none() -> None:
    assert compare_negations("I am not here.", "Ich bin hier.", ("en", "de")) == KEPT
