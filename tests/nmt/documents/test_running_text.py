"""txt, md and html: what is no text comes back character by character."""

from __future__ import annotations

import codecs

import pytest
from markdown_it import MarkdownIt

from nmt.documents import read_document
from nmt.errors import InputError
from tests.nmt.documents.doubles import aligned, same, texts, translated

MARKDOWN = """---
title: Not this
---

# A title with *stress*

A paragraph with **bold words**, _more_, `code here`, a [link to a page](http://a.example/x_y "T t") and
a second line, then ![a picture](img.png) and <http://b.example> and a \\*star\\* &amp; more[^1].

> A quotation
> of two lines

1. First thing
   - nested ~~gone~~ thing
2. Second thing\\
   after a break

| Name | Value of it |
|------|------------:|
| left \\| right | `x\\|y` is it |

```python
print("not this")
```

    indented code

<div align="center">A <b>block</b> of HTML</div>

Title below
===========

[ref]: http://c.example "Reference"
"""


def test_markdown_comes_back_as_it_was() -> None:
    assert translated("a.md", MARKDOWN, same).decode() == MARKDOWN


def test_markdown_translates_text_and_nothing_else() -> None:
    found = texts("a.md", MARKDOWN)

    assert found == [
        "A title with stress",
        "A paragraph with bold words, more, code here, a link to a page and a second line, then and "
        "http://b.example and a *star* & more.",
        "a picture",
        "A quotation of two lines",
        "First thing",
        "nested gone thing",
        "Second thing",
        "after a break",
        "Name",
        "Value of it",
        "left | right",
        "x|y is it",
        "A block of HTML",
        "Title below",
    ]


def test_markdown_code_and_addresses_are_kept_spans() -> None:
    extract = read_document("a.md", b"Run `make all` at <http://b.example> now.").extracts[0]

    kept = [extract.text[span.start : span.end] for span in extract.keep]
    assert kept == ["make all", "http://b.example"]


def test_markdown_emphasis_moves_with_its_words() -> None:
    document = read_document("a.md", b"The **red car** stops [here now](x.html).")
    translation = aligned(
        "The red car stops here now.",
        "Ici et maintenant la voiture rouge s'arrête.",
        [(4, 0), (5, 2), (0, 3), (2, 4), (1, 5), (3, 6), (6, 7)],
    )

    result = document.restore([translation]).decode()

    assert result == "[Ici et maintenant](x.html) la **voiture rouge** s'arrête."


@pytest.mark.parametrize(
    "source", ["***both** one*", "**a *b* c**", "*a **b***", "__x__ _y_ **z**", "a ~~b~~ c"]
)
def test_nested_emphasis_comes_back_as_it_was(source: str) -> None:
    assert translated("a.md", source, same).decode() == source


def test_equal_cells_of_a_table_are_each_translated() -> None:
    table = "| red | red |\n|-----|-----|\n| red | d |\n"

    assert translated("a.md", table).decode() == table.replace("red", "RED").replace(" d ", " D ")


def test_what_would_become_markdown_is_escaped() -> None:
    result = translated("a.md", "A plain word", lambda text: "Un *mot* [simple](x)").decode()

    assert "<em>" not in MarkdownIt().render(result)
    assert "<a" not in MarkdownIt().render(result)


def test_markdown_paragraph_is_filled_to_its_width_and_starts_no_list() -> None:
    source = "> A line that is about fifty characters wide, no more\n> and one more\n"
    result = translated("a.md", source, lambda text: "mot " * 12 + "- 1. # mot mot").decode()

    assert all(line.startswith("> ") and len(line) <= 62 for line in result.splitlines())
    assert not any(line[2:].startswith(("- ", "1. ", "# ")) for line in result.splitlines())


def test_plain_text_keeps_blank_lines_indentation_and_line_ends() -> None:
    source = "  One.\r\n\r\n\r\n\tTwo two.\r\n123\r\n"

    assert translated("a.txt", source) == b"  ONE.\r\n\r\n\r\n\tTWO TWO.\r\n123\r\n"


def test_lines_broken_at_a_margin_are_one_text() -> None:
    sentence = "The council met on Monday to discuss the new bridge over the river and its cost."
    words = [word for _ in range(3) for word in sentence.split()]
    lines, line = [], ""
    for word in words:
        if len(line) + 1 + len(word) > 60:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    source = "\n".join([*lines, line]) + "\n\nAnother paragraph.\n"

    assert texts("a.txt", source) == [" ".join(words), "Another paragraph."]
    assert translated("a.txt", source, same).decode() == source


def test_a_poem_and_a_list_keep_their_lines() -> None:
    source = (
        "The river runs below the town and never looks behind,\nIt carries leaves,\nIt carries rain,\n"
        "It has no peace of mind.\n\n- one thing that is long enough to be broken at a margin\n- another\n"
    )

    assert len(texts("a.txt", source)) == 6


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_encoding_and_byte_order_mark_are_kept(mark: bytes) -> None:
    codec = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}[
        mark
    ]

    assert translated("a.txt", mark + "Café au lait".encode(codec)) == mark + "CAFÉ AU LAIT".encode(codec)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"abc\nd\xe9f", "not UTF-8 at byte 5, line 2"),
        ("ab".encode("utf-16-le"), "NUL character at character 1"),
        ("ab".encode("utf-32"), "UTF-32"),
    ],
)
def test_another_encoding_is_an_error_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_document("a.txt", data)

    assert "save it as UTF-8" in str(caught.value)


def test_html_keeps_its_tags_and_names_its_new_language() -> None:
    source = (
        '<!DOCTYPE html>\n<html lang="en-GB"><body><p>Some <b>bold</b> words.</p><code>x</code></body></html>'
    )

    result = translated("a.html", source).decode()

    assert result == source.replace('"en-GB"', '"fr"').replace(
        "Some <b>bold</b> words.", "SOME <b>BOLD</b> WORDS."
    )
