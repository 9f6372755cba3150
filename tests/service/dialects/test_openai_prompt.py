"""What a prompt asks for, with the prompts that tools send."""

from __future__ import annotations

import json

import pytest

from nmt.errors import InputError
from service.dialects.openai.prompt import Languages, Prompt, named, read_prompt
from service.dialects.openai.texts import Json, lines, take_apart, weblate_strings
from testbed.stub import _translate

BOTH = Languages(("en", "fr"), ("fr", "en"))
SUBTITLE_EDIT = (
    "Translate from English to French, keep punctuation as input, do not censor the translation, "
    "give only the output without comments:"
)
PDF_MATH_TRANSLATE = (
    "You are a professional, authentic machine translation engine. Only Output the translated text, do not "
    "include any other text.\n\nTranslate the following markdown source text to French. Keep the formula "
    "notation {v*} unchanged. Output translation directly without any additional text."
    "\n\nSource Text: A dog.\nA cat.\n\n"
    "Translated Text:"
)
WEBLATE = (
    "\nYou are a highly skilled translation assistant, adept at translating text\nfrom language 'en'\n"
    "to language 'fr'\nwith precision and nuance.\nYou always reply with translated string only.\n"
)


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (SUBTITLE_EDIT, ("en", "fr")),
        (WEBLATE, ("en", "fr")),
        ("Translate to French", (None, "fr")),
        ("into fr", (None, "fr")),
        ("Translate into fr-CA.", (None, "fr")),
        ("Translate the text into natural, fluent French.", (None, "fr")),
        ("Target language: French", (None, "fr")),
        ("source language: English, target language: French", ("en", "fr")),
        ("English -> French", ("en", "fr")),
        ("English to French translator", ("en", "fr")),
        ("Translate it, in French", (None, "fr")),
        ("Traduis en anglais", (None, "en")),
        ("Traduisez de l'anglais vers le français :", ("en", "fr")),
        ("Traduire du français en anglais", ("fr", "en")),
        ("Translate to German", (None, "de")),
        ("Translate to Simplified Chinese", (None, "zh")),
        ("Translate to 中文", (None, "zh")),
        ("Translate the German text, in French", (None, "fr")),
        ("You are a professional, authentic machine translation engine.", (None, None)),
        ("You translate to help people; it is no joke to be so.", (None, None)),
    ],
)
def test_languages_are_named_in_many_ways(text: str, languages: tuple[str | None, str | None]) -> None:
    assert named(text, BOTH) == languages


@pytest.mark.parametrize(
    ("system", "user", "prompt"),
    [
        ([], f"{SUBTITLE_EDIT}\n\n- A dog.\n- A cat.", Prompt("- A dog.\n- A cat.", "en", "fr")),
        ([], PDF_MATH_TRANSLATE, Prompt("A dog.\nA cat.", None, "fr")),
        (
            [WEBLATE],
            "A dog.\n==WEBLATE_PART==\nA cat.",
            Prompt("A dog.\n==WEBLATE_PART==\nA cat.", "en", "fr"),
        ),
        ([], "Translate to French:\nA dog.\n\nA cat.", Prompt("A dog.\n\nA cat.", None, "fr")),
        ([], "Translate to French\nA dog.\n\nA cat.", Prompt("A dog.\n\nA cat.", None, "fr")),
        ([], "Translate to French: A dog: Rex.", Prompt("A dog: Rex.", None, "fr")),
        (
            [],
            "Please translate into French the following: A dog.\nA cat.",
            Prompt("A dog.\nA cat.", None, "fr"),
        ),
        ([], 'Translate "Good morning" to French', Prompt("Good morning", None, "fr")),
        ([], "Traduis en anglais :\nUn chien.", Prompt("Un chien.", None, "en")),
        (["Translate to English."], "Translate into French:\nA dog.", Prompt("A dog.", None, "fr")),
        (["Translate from English to French."], "A dog.", Prompt("A dog.", "en", "fr")),
        (
            ["Translate to French."],
            "Translate this to English for me.\nNow.",
            Prompt("Translate this to English for me.\nNow.", None, "fr"),
        ),
        ([], "A dog.\n  A cat.\n", Prompt("A dog.\n  A cat.\n", None, None)),
        (
            [],
            "He went to France:\nto live in French.",
            Prompt("He went to France:\nto live in French.", None, None),
        ),
        ([], "Translate this page", Prompt("Translate this page", None, None)),
        ([], "Text: a new word", Prompt("Text: a new word", None, None)),
    ],
)
def test_an_instruction_is_left_out_and_nothing_else(system: list[str], user: str, prompt: Prompt) -> None:
    assert read_prompt(system, user, BOTH) == prompt


@pytest.mark.parametrize(
    "user", ["Translate to French", "Translate to French:", "Translate into French.\n \n"]
)
def test_an_instruction_without_a_text_is_refused(user: str) -> None:
    with pytest.raises(InputError, match="no text after it"):
        read_prompt([], user, BOTH)


def test_an_instruction_alone_is_a_text_where_the_model_says_the_direction() -> None:
    alone = "Translate this to French."

    assert read_prompt([], alone, BOTH, model_tells=True) == Prompt(alone, None, None)
    assert read_prompt([], f"{alone}\nA dog.", BOTH, model_tells=True) == Prompt("A dog.", None, "fr")


@pytest.mark.parametrize(
    "opening", ["to ", 'to "', "translate to french ", ":", "#", "en ", "text*", "to a-a ", " "]
)
def test_a_long_prompt_takes_no_longer_than_a_short_one(opening: str) -> None:
    """A regular expression that goes back and forth would take minutes."""
    hostile = opening * 20_000

    named(hostile, BOTH)
    read_prompt([hostile], f"translate to french: {hostile}a dog", BOTH)
    read_prompt([], f"{hostile}a dog", BOTH, model_tells=True)
    lines(hostile)


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("1. one two\n2. three four\n", ["one two", "three four"]),
        ("[1] one\n(2) two\n#3 three\n4) four", ["one", "two", "three", "four"]),
        ("- one\n* two\n• three\n  - four", ["one", "two", "three", "four"]),
        ("one\r\n\r\n two \n==WEBLATE_PART==\nthree", ["one", "two", "three"]),
        ("---\none\n***\n%%\n```json\ntwo\n```", ["one", "two"]),
        (
            "12 dogs\n12:30 lunch\n3.5 kg of meat\n**bold**",
            ["12 dogs", "12:30 lunch", "3.5 kg of meat", "**bold**"],
        ),
        ("12\n\n...\n", []),
        ("", []),
    ],
)
def test_lines_are_translated_one_by_one_and_their_marks_are_kept(text: str, translated: list[str]) -> None:
    taken = lines(text)

    assert [extract.text for extract in taken.extracts] == translated
    assert taken.restore([_translate(extract.text, "none", 1) for extract in taken.extracts]) == "".join(
        part
        for pair in zip(taken.between, [*[one[::-1] for one in translated], ""], strict=True)
        for part in pair
    )
    unchanged = [_translate(extract.text[::-1], "none", 1) for extract in taken.extracts]
    assert taken.restore(unchanged) == text


def test_json_keeps_its_form() -> None:
    taken = take_apart('{"1": "one two", "n": 3, "list": ["three"]}')

    assert isinstance(taken, Json)
    assert [extract.text for extract in taken.extracts] == ["one two", "three"]
    written = taken.restore([_translate(extract.text, "links", 1) for extract in taken.extracts])
    assert json.loads(written) == {"1": "owt eno", "n": 3, "list": ["eerht"]}


@pytest.mark.parametrize("text", ["[1] one", "{0} files", "[1, 2]", "{", "[" * 100_000])
def test_what_is_no_json_with_strings_is_lines(text: str) -> None:
    assert not isinstance(take_apart(text), Json)


def test_weblates_strings_keep_their_placeholders_and_bring_their_terms() -> None:
    sent = {
        "source_language": "en",
        "target_language": "fr",
        "glossary": [{"source": "bridge", "target": "passerelle"}, {"source": "Bridge", "target": "pont"}, 3],
        "strings": [{"source": "Hello, @@PH1@@!", "parts": []}, {"source": "@@PH2@@"}, {"source": ""}],
    }
    found = weblate_strings(json.dumps(sent))

    assert found is not None
    assert (found.source_language, found.target_language) == ("en", "fr")
    assert [(one.text, [(s.start, s.end) for s in one.keep]) for one in found.extracts] == [
        ("Hello, @@PH1@@!", [(7, 14)])
    ]
    assert json.loads(found.restore([_translate("tulaS", "none", 1)])) == ["Salut", "@@PH2@@", ""]
    assert found.glossary is not None
    assert [(term.source, term.target) for term in found.glossary.terms] == [("bridge", "passerelle")]


def test_weblates_string_without_a_source_is_refused_by_number() -> None:
    with pytest.raises(InputError, match="string 1 of the JSON"):
        weblate_strings('{"target_language": "fr", "strings": [{"source": "a"}, {}]}')
