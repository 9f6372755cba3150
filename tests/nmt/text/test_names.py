"""What is surely the name of a person or a street is found, and what is translated is not."""

from __future__ import annotations

import pytest

from nmt.text.names import find_names, given_names


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("Dr. Black met Ruby Rivers.", "en", ["Black", "Ruby Rivers"]),
        ("Dear Mrs. Stone,", "en", ["Stone"]),
        ("Name: Ruby Carter", "en", ["Ruby Carter"]),
        ("JOHN: Where are you?", "en", ["JOHN"]),
        ("- MARIE : Oui, je viens.", "fr", ["MARIE"]),
        ("NOTE : la porte est ouverte.", "fr", []),
        ("Contact: see below", "en", []),
        ("19 Nguyen Street, Perth", "en", ["19 Nguyen Street"]),
        ("I live at 4B Old Mill Road now.", "en", ["4B Old Mill Road"]),
        ("Ruby Carter", "en", ["Ruby Carter"]),
        ("We saw Grace O'Neill and Jean-Luc de la Tour.", "en", ["Grace O'Neill", "Jean-Luc de la Tour"]),
        ("Queen Elizabeth II spoke.", "en", []),
        ("Grace is a virtue.", "en", []),
        ("The Bank of England and New York", "en", []),
        ("Rose Garden Opens In London After Long Delay", "en", []),
        ("Le Dr Petit a vu Rose Dubois.", "fr", ["Petit", "Rose Dubois"]),
        ("Mme Lefèvre habite 12 bis, rue des Lilas.", "fr", ["Lefèvre", "12 bis, rue des Lilas"]),
        ("Ruby Carter's house and Mr Black’s", "en", ["Ruby Carter", "Black"]),
        ("Tom Is Here.", "en", []),
        ("Tom Bought A New Car For Mary Yesterday.", "en", []),
        ("Yesterday Emma Cook called me.", "en", ["Emma Cook"]),
        ("Elle habite au 12 rue de la Paix, à Lyon.", "fr", ["12 rue de la Paix"]),
        ("Nom : Jean Boulanger", "fr", ["Jean Boulanger"]),
        ("M. le président", "fr", []),
        ("Herr Schmidt", "de", []),
    ],
)
def test_names_are_found(text: str, language: str, names: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_names(text, language)] == names


def test_given_names_are_single_words_with_a_capital() -> None:
    assert len(given_names()) > 500
    assert all(name[0].isupper() for name in given_names())
