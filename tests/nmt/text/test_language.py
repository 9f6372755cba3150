"""Language detection: what is told, and that nothing is told where the text does not tell."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from nmt.errors import InputError
from nmt.text.language import CERTAIN, MOST_CHARACTERS, Detection, candidates, detect


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The meeting was moved to Friday afternoon."),
        ("en", "TWO YOUNG MEN ARE PLAYING FOOTBALL IN THE PARK"),
        ("fr", "La réunion a été déplacée à vendredi après-midi."),
        ("fr", "Ou est la gare, s'il vous plait ? Je suis un peu perdu."),
        ("de", "Die Sitzung wurde auf Freitagnachmittag verschoben."),
        ("es", "La reunión se ha aplazado al viernes por la tarde."),
        ("it", "La riunione è stata rinviata a venerdì pomeriggio."),
        ("pt", "A reunião foi adiada para sexta-feira à tarde."),
        ("nl", "De vergadering is verplaatst naar vrijdagmiddag."),
        ("pl", "Spotkanie przełożono na piątek po południu."),
        ("ru", "Совещание перенесли на вторую половину пятницы."),
        ("ar", "تم تأجيل الاجتماع إلى بعد ظهر يوم الجمعة."),
        ("ja", "会議は金曜日の午後に延期されました。"),
        ("zh", "会议推迟到星期五下午。"),
    ],
)
def test_a_sentence_tells_its_language(language: str, text: str) -> None:
    found = detect(text)

    assert found.language == language
    assert CERTAIN <= found.score <= 1


@pytest.mark.parametrize(
    "text", ["", "  \n\t", "😀", "!!! ...", "42", "123 456 789", "http://example.com/a?b=1"]
)
def test_a_text_without_words_has_no_language(text: str) -> None:
    assert detect(text).language is None
    assert detect(text, ["en", "fr"]).language is None


@pytest.mark.parametrize("text", ["no", "OK", "Paris", "Emmanuel Macron", "Hello", "New York Times"])
def test_words_of_many_languages_are_not_guessed(text: str) -> None:
    found = detect(text)

    assert found.language is None
    assert found.score < CERTAIN


def test_one_word_can_be_enough_among_two_languages() -> None:
    assert detect("Bonjour").language is None
    assert detect("Bonjour", ["en", "fr"]).language == "fr"


def test_a_foreign_phrase_does_not_turn_a_text() -> None:
    text = "We went home. She said: « je ne sais pas ». Then it rained all night."

    assert detect(text).language == "en"


def test_a_text_of_two_languages_has_both_among_its_first_candidates() -> None:
    text = "The contract was signed on Monday in Paris. Le contrat a été signé lundi à Paris."

    assert {found.language for found in candidates(text)[:2]} == {"en", "fr"}


def test_candidates_are_probabilities_best_first() -> None:
    found = candidates("Where is the train station?")

    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert 0.9 < sum(scores) <= 1 + 1e-6
    assert all(one.language and len(one.language) == 2 for one in found)


def test_candidates_among_some_languages_sum_to_one() -> None:
    found = candidates("Wo ist der Bahnhof?", ["fr", "en"])

    assert {one.language for one in found} == {"en", "fr"}
    assert sum(one.score for one in found) == pytest.approx(1)


def test_a_language_that_is_not_known_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"known are af, am, .*fr"):
        detect("text", ["en", "klingon"])


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    beginning = "It rained all night. " * (MOST_CHARACTERS // 20)

    assert detect(beginning + "Il a plu toute la nuit. " * 10_000) == detect(beginning)


def test_threads_find_the_same() -> None:
    texts = ["It rained all night.", "Il a plu toute la nuit.", "Es regnete die ganze Nacht."] * 20

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(detect, texts)) == [detect(text) for text in texts]


def test_half_a_surrogate_pair_is_read() -> None:
    assert detect("It rained all night.\ud800").language == "en"


def test_neither_model_nor_torch_is_loaded_before_it_is_needed() -> None:
    program = "import sys, nmt.text.language; sys.exit('torch' in sys.modules or 'py3langid' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_detection_without_language_says_how_near_it_was() -> None:
    found = detect("Merci beaucoup")

    assert found == Detection(None, found.score)
    assert 0.3 < found.score < CERTAIN


@pytest.mark.parametrize("text", ["", "Paris", "!!!"])
def test_a_text_that_tells_nothing_has_no_candidates(text: str) -> None:
    assert candidates(text) == []
    assert detect(text, ["fr"]).language is None
