"""What is not read is refused by its name, with the reason and what to do."""

from __future__ import annotations

import pytest

from nmt.documents import SUFFIXES, read_document
from nmt.errors import InputError


def test_pdf_is_refused_by_name_and_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"PDF is not translated.*lose its form.*docx") as caught:
        read_document("report.PDF", b"%PDF-1.7 secret")

    assert "secret" not in str(caught.value)
    assert "pdf" not in SUFFIXES


@pytest.mark.parametrize(("suffix", "step"), [("idml", "make an XLIFF"), ("tmx", "nmt tm import")])
def test_other_formats_of_translators_say_what_to_do(suffix: str, step: str) -> None:
    with pytest.raises(InputError, match=f"(?i){suffix} is .*{step}"):
        read_document(f"a.{suffix}", b"PK")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"named \.xyz cannot be translated; known are .*pptx.*eml"):
        read_document("a.xyz", b"")
