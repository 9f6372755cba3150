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


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"named \.xyz cannot be translated; known are .*pptx.*eml"):
        read_document("a.xyz", b"")
