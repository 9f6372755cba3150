"""What depends on the language does so: the same library with a model that reads French, writes English."""

from __future__ import annotations

import dataclasses

import pytest

from nmt.confidence import expected_length_ratio
from nmt.config import GenerationConfig
from nmt.errors import InputError, ModelFolderError, UnsupportedLanguageError
from nmt.model_folder.registry import languages_of, resolve_model
from nmt.options import TranslationOptions
from nmt.pipeline.flags import is_too_short
from nmt.pipeline.prepare import Preparer
from nmt.pipeline.quality import Judge
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.casing import SurfaceForm
from nmt.text.elision import agree
from nmt.text.glossary import Glossary, Term
from nmt.text.languages import rules
from nmt.text.literals import find_literals
from nmt.text.numbers import compare_numbers, in_english, is_unit, rewritten
from nmt.text.placeholders import REGISTER, RESERVED
from nmt.tokenizer import Tokenizer
from nmt.translator import Translator
from tests.nmt.conftest import train_tokenizer
from tests.nmt.shipping import ships
from tests.nmt.test_translator import CopyModel, loaded

GREEDY = GenerationConfig(beam_size=1)


@pytest.fixture(scope="module")
def reserved_tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer(vocab_size=400, user_defined_symbols=list(RESERVED)))


@pytest.fixture(scope="module")
def translator(reserved_tokenizer: Tokenizer) -> Translator:
    """A model that copies, and says that it reads French and writes English."""
    made = loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size))
    swapped = made.config.model_copy(update={"source_language": "fr", "target_language": "en"})
    return Translator(dataclasses.replace(made, config=swapped))


def flags(translation) -> list[str]:
    return [flag.kind for flag in translation.flags]


def test_it_takes_its_own_languages_only(translator):
    assert translator.translate(["Le chat."], TranslationOptions(source="fr", target="en"))
    with pytest.raises(UnsupportedLanguageError, match="translates fr to en, not 'en' to 'fr'"):
        translator.translate(["The cat."], TranslationOptions(source="en", target="fr"))


def test_english_has_no_form_of_address_whatever_pieces_there_are(translator):
    assert not translator.has_formality
    (plan,) = translator.plan(["Le chat est ici."], TranslationOptions(formality="formal"))
    assert REGISTER["formal"] not in plan.sentences[0].model_input.text
    assert "register_unavailable" in flags(
        translator.translate(["Le chat est ici."], TranslationOptions(formality="formal"))[0]
    )


def test_french_typography_is_refused(translator):
    with pytest.raises(InputError, match="french_typography: the model tiny writes en; leave it out"):
        translator.translate(["Le chat."], TranslationOptions(french_typography=True))


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("je suis fatigué", "I am tired", "I am tired"),
        ("j'ai faim", "I'm hungry", "I'm hungry"),
        ("lundi je viens", "Monday I come", "Monday I come"),
        ("le chat dort", "The cat sleeps", "the cat sleeps"),
        ("français et anglais", "French and English", "French and English"),
        ("dieu merci", "God be thanked", "god be thanked"),
        ("mars est passé", "March is over", "march is over"),
    ],
)
def test_a_text_without_capitals_has_only_those_that_english_always_writes(text, written, expected):
    form = SurfaceForm.of(text, language="fr")
    assert form.case == "lower"
    assert form.in_case(written, (), text, "en") == expected


def test_a_lone_i_is_english_only():
    assert SurfaceForm.of("comme i parle", language="fr").recased == "comme i parle"
    assert SurfaceForm.of("what i say").recased == "what I say"


def test_headlines_of_each_language_leave_its_own_small_words_small():
    assert SurfaceForm.of("Le Petit Prince Joue avec Deux Jeunes Hommes", language="fr").case == "title"
    assert SurfaceForm.of("Two Young Men Play Football in Paris Today").case == "title"
    assert SurfaceForm.of("Two Young Men Play Football with Paris Today").case == "as_is"


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("1er", "1st"),
        ("2e", "2nd"),
        ("3ème", "3rd"),
        ("11e", "11th"),
        ("21e", "21st"),
        ("112e", "112th"),
        ("3,5", "3.5"),
        ("3,500", "3.500"),
        ("1 000", "1,000"),
        ("1\u202f234\u202f567,89", "1,234,567.89"),
        ("1.000.000", "1,000,000"),
        ("12,5%", "12.5%"),
        ("-3,5", "-3.5"),
        ("1,5 Go", "1.5 GB"),
        ("3 km", "3 km"),
        ("06 12 34 56 78", "06 12 34 56 78"),
        ("2019", "2019"),
        ("12:30", "12:30"),
        ("1/2", "1/2"),
        ("10-12", "10-12"),
        ("1,2,3", "1,2,3"),
    ],
)
def test_a_number_that_is_copied_is_written_the_english_way(number, written):
    assert in_english(number) == rewritten(number, "fr", "en") == written


def test_a_number_that_is_copied_is_written_the_french_way_too_and_else_left_alone():
    assert rewritten("2nd", "en", "fr") == "2e"
    assert rewritten("2e", "fr", "de") == "2e"
    found = find_literals("Le 2e et la 1re de 5 Go", numbers=True)
    assert [literal.kind for literal in found] == ["number"] * 3
    assert found[-1].span == Span(19, 23)


def test_units_are_those_of_the_source():
    assert compare_numbers("un disque de 5 Go", "a 5 GB disk", source_language="fr").ok
    assert compare_numbers("un disque de 5 Go", "a 5 disk", source_language="fr").missing == ("Go",)
    assert compare_numbers("5 Go", "5", source_language="en").ok, "no unit in English"
    assert compare_numbers("3 km", "3 kilometers", source_language="fr").ok
    assert compare_numbers("1,5 à 15 h 30", "1.5 at 3:30 pm", source_language="fr").ok
    assert is_unit("5 Mo", 2, 4, "fr")
    assert not is_unit("5 Mo", 2, 4, "en")


@pytest.mark.parametrize(
    ("before", "word", "change"),
    [
        ("He saw a ", "owl", "an "),
        ("He saw an ", "kitten", "a "),
        ("An ", "kitten", "A "),
        ("He saw a ", "kitten", None),
        ("He saw a ", "hour", None),
        ("He saw an ", "unit", None),
        ("He saw an ", "MP", None),
        ("He went via ", "Oslo", None),
        ("de ", "Oslo", None),
    ],
)
def test_the_english_article_agrees_with_a_term_put_in(before, word, change):
    found = agree(before, word, "en")
    assert (found and found[1]) == change
    if found:
        assert before[len(before) - found[0] :].lower() in ("a ", "an ")


def test_words_agree_by_language():
    assert agree("de ", "Oslo", "fr") == (3, "d'")
    assert agree("de ", "Oslo", "de") is None


def test_words_with_a_capital_in_their_language_are_no_names(reserved_tokenizer):
    def names(text: str, language: str) -> list[str]:
        other = "en" if language == "fr" else "fr"
        preparer = Preparer(reserved_tokenizer, language, other)
        sentence = preparer.prepare(text, (), (), TranslationOptions())
        return [entry.text for entry in sentence.copied if entry.is_name]

    assert "noël" in rules("fr").capitalised
    assert names("Il dit Pentecôte et Zwolsky.", "fr") == ["Zwolsky"]
    assert "Wednesday" not in names("It is Wednesday, Zwolsky.", "en")
    assert names("Il dit Wednesdayish.", "fr") == ["Wednesdayish"]
    assert names("Vérifier tout.", "fr") == [], "an infinitive is no name"
    assert names("Xyqwzov arrive.", "fr") == ["Xyqwzov"]
    assert {"i", "monday", "english"} <= rules("en").always_capital


def test_a_term_is_put_in_with_its_article(translator):
    glossary = Glossary.of([Term("chat", "owl")])
    [translation] = translator.translate(
        ["a chat est ici."], TranslationOptions(glossary=glossary, generation=GREEDY)
    )
    assert "an owl" in translation.text


def test_lengths_are_judged_by_direction():
    source = "Deux jeunes hommes jouent au football dans le parc de la ville."
    english = source[: int(0.37 * len(source))]
    assert not is_too_short(source, english, "en")
    assert is_too_short(source, english, "fr")
    assert expected_length_ratio("en", "fr") * expected_length_ratio("fr", "en") == pytest.approx(1)
    assert expected_length_ratio("de", "pl") == 1


def test_the_judge_looks_for_the_units_of_its_source():
    def raised(source: str, target: str, *languages: str) -> tuple[str, ...]:
        candidate = Candidate(target, (), -1.0, -1.0, finished=True)
        return Judge(*languages).verdict(source, 9, candidate, None).flags

    assert raised("un disque de 5 Go neuf", "a new disk of 5", "fr", "en") == ("number_mismatch",)
    assert raised("un disque de 5 Go neuf", "a new disk of 5 GB", "fr", "en") == ()


def test_a_model_that_ships_is_found_by_its_languages(tmp_path, monkeypatch):
    ships(monkeypatch, tmp_path, a=("en", "fr"), b=("fr", "en"))

    assert resolve_model().name == "a"
    assert resolve_model(source="fr").name == resolve_model(target="en").name == "b"
    assert resolve_model("b", source="fr", target="en").name == "b"
    assert languages_of(tmp_path / "b") == ("fr", "en")
    with pytest.raises(ModelFolderError, match=r"no model that ships .* from de .*: there is a \(en"):
        resolve_model(source="de")
    with pytest.raises(ModelFolderError, match=r"the model does not translate from fr .*: there is a \(en"):
        resolve_model("a", source="fr")
    (tmp_path / "a" / "config.json").write_text("{")
    with pytest.raises(ModelFolderError, match="cannot be read as JSON"):
        languages_of(tmp_path / "a")
