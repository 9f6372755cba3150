"""What is taken off a sentence before the model, and put back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.spans import Span
from nmt.text.casing import SurfaceForm
from nmt.text.edits import Rewriting
from nmt.text.literals import find_literals


def read(text: str) -> str:
    """What the model reads."""
    form = SurfaceForm.of(text, find_literals(text))
    return Rewriting.of(form.recased, form.edits(text)).new


def restored(text: str, written: str, kept: tuple[Span, ...] = ()) -> str:
    form = SurfaceForm.of(text, find_literals(text))
    recased = form.in_case(written, kept, text)
    before, after = form.frame_edits(text, written)
    return Rewriting.of(recased, [before, *form.ending_edits(written, kept), after]).new


@pytest.mark.parametrize(
    ("text", "model_reads"),
    [
        ("WHERE IS THE CAT?", "Where is the cat?"),
        ("I SEE I'M LATE.", "I see I'm late."),
        ("SEE {Name} NOW.", "See {Name} now."),
        ("US", "US."),
        ("The Cat And The Dog", "The cat and the dog."),
        ("The cat saw Tom Smith.", "The cat saw Tom Smith."),
        ("where am i?", "Where am I?"),
        ("hello", "hello."),
        ("the cat is here.", "The cat is here."),
        ("- the cat", "the cat."),
        ("the cat and the dog of ann are here", "The cat and the dog of ann are here."),
        ("Very expensive", "very expensive."),
        ("- Very expensive", "very expensive."),
        ("Very expensive.", "Very expensive."),
        ("Monday morning", "Monday morning."),
        ("I see", "I see."),
        ("I'm late", "I'm late."),
        ("Very big cats and dogs bark", "Very big cats and dogs bark."),
        ("{Name} sees", "{Name} sees."),
        ("Ruby Carter", "Ruby Carter."),
        ("12) The cat.", "The cat."),
        ("(a) The cat.", "The cat."),
        ("3.5 cats.", "3.5 cats."),
        ("😀 The cat. 😍", "The cat."),
        ("Really?!", "Really?"),
        ("No!!!", "No!"),
        ("Well....", "Well..."),
        ('"The cat."', "The cat."),
        ('"The cat" and "the dog".', '"The cat" and "the dog".'),
        ("(The cat.)", "The cat."),
        ("See https://x.org", "See https://x.org."),
    ],
)
def test_the_model_reads_a_plain_sentence(text: str, model_reads: str) -> None:
    assert read(text) == model_reads


@pytest.mark.parametrize(
    ("text", "written", "result"),
    [
        ("WHERE IS THE SCHOOL?", "Où est l'école ?", "OÙ EST L'ÉCOLE ?"),
        ("THE STREET", "Die Straße.", "DIE STRAßE"),
        ("The Cat And The Dog", "Le chat et le chien.", "Le chat et le chien"),
        ("the cat", "Le chat.", "le chat"),
        ("Green", "vert", "Vert"),
        ("The 1st Cat", "le premier chat", "Le premier chat"),
        ("the cat", "Le chat", "le chat"),
        ("The cat", "Le chat !", "Le chat"),
        ("The cat.", "Le chat.", "Le chat."),
        ("Really?!", "Vraiment ?", "Vraiment ?!"),
        ("No!!!", "Non !", "Non !!!"),
        ("No!!!", "Non", "Non!!!"),
        ("1. The cat", "Le chat.", "1. Le chat"),
        ("😀 The cat! 😍", "Le chat !", "😀 Le chat ! 😍"),
        ('"The cat."', "Le chat.", '"Le chat."'),
        ("I saw the Louvre.", "J'ai vu le louvre.", "J'ai vu le Louvre."),
        ("I saw Mary and the Mary.", "J'ai vu Mary et la mary.", "J'ai vu Mary et la mary."),
    ],
)
def test_the_translation_has_the_shape_of_the_source(text: str, written: str, result: str) -> None:
    assert restored(text, written) == result


def test_what_is_kept_keeps_its_case_and_its_final_mark() -> None:
    assert restored("SEE THE DOG", "Vois {Name} là.", (Span(5, 11),)) == "VOIS {Name} LÀ"
    assert restored("see it", "Vois x.", (Span(5, 7),)) == "vois x."
    assert restored("see it", "Vois", (Span(0, 4),)) == "Vois"
    assert restored("Oslo was first.", "⟦0⟧ a été là.", (Span(0, 3),)) == "⟦0⟧ a été là."


@given(st.text(alphabet="aB .!?-1)\"“”(😀É'", min_size=1, max_size=30).map(str.strip).filter(bool))
def test_the_shape_of_any_text_can_be_taken_off_and_its_core_is_inside(text: str) -> None:
    form = SurfaceForm.of(text, find_literals(text))
    assert 0 <= form.core.start < form.core.end <= len(text)
    assert len(form.recased) == len(text)
    assert form.recased.lower() == text.lower()
    assert restored(text, "Le chat.").startswith(text[: form.core.start])
    assert restored(text, "Le chat.").endswith(text[form.core.end :])


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("A Young Woman Is Reading A Book.", "title"),
        ("A Young Woman Is Reading", "title"),
        ("The woman from New York is reading a Book.", "as_is"),
    ],
)
def test_a_headline_is_one_with_or_without_a_full_stop(text: str, case: str) -> None:
    assert SurfaceForm.of(text).case == case


def test_a_fragment_is_read_in_small_letters_unless_its_first_word_is_known_with_a_capital() -> None:
    form = SurfaceForm.of("Tom is late", prefers=lambda word: "Tom")
    assert form.recased == "Tom is late"
    form = SurfaceForm.of("Very expensive")
    assert form.recased == "very expensive"
    assert form.in_case("très cher.", (), "Very expensive") == "Très cher."
