"""de + Oslo, l' + minou."""

from __future__ import annotations

import pytest

from nmt.text.elision import agree_in_number, count_unelided, elide


@pytest.mark.parametrize(
    ("before", "word", "result"),
    [
        ("près de ", "Oslo", "près d'Oslo"),
        ("Je vois l'", "minou", "Je vois le minou"),
        ("parce que ", "Émile", "parce qu'Émile"),
        ("Jusqu'", "Paris", "Jusque Paris"),
        ("la ", "école", "l'école"),
        ("de ", "Paris", "de Paris"),
        ("d'", "Oslo", "d'Oslo"),
        ("monde ", "Oslo", "monde Oslo"),
        ("de ", "Hugo", "de Hugo"),
        ("l'", "Hugo", "l'Hugo"),
        ("vole ", "2", "vole 2"),
        ("", "Oslo", "Oslo"),
    ],
)
def test_elision_by_examples(before: str, word: str, result: str) -> None:
    change = elide(before, word)
    kept = before if change is None else before[: len(before) - change[0]] + change[1]
    assert kept + word == result


@pytest.mark.parametrize(
    ("before", "source", "words", "result"),
    [
        ("J'accepte la ", "terms", "conditions", "J'accepte les conditions"),
        ("Le ", "new rules", "règles nouvelles", "Les règles nouvelles"),
        ("au ", "users", "jeux", "aux jeux"),
        ("le ", "bus", "bus", "le bus"),
        ("un ", "access", "accès", "un accès"),
        ("la ", "page", "page", "la page"),
        ("le ", "notice", "avis", "le avis"),
        ("sous ", "terms", "conditions", "sous conditions"),
    ],
)
def test_an_article_becomes_plural_before_plural_words(
    before: str, source: str, words: str, result: str
) -> None:
    change = agree_in_number(before, source, words)
    kept = before if change is None else before[: len(before) - change[0]] + change[1]
    assert kept + words == result


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Tu peux le envoyer.", 1),
        ("ce genre de arnaque, que il aime", 2),
        ("l'homme qu'il aime, le onze, le oui, le héros", 0),
        ("Une école et la amie", 1),
    ],
)
def test_words_that_are_not_elided_are_counted(text: str, count: int) -> None:
    assert count_unelided(text, "fr") == count
    assert count_unelided(text, "en") == 0
