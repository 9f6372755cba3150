"""Markdown beyond CommonMark: the signs of its dialects stay, the text in them is translated."""

from __future__ import annotations

import pytest

from nmt.documents import read_document
from nmt.spans import Span
from tests.nmt.documents.doubles import aligned, texts, translated
from tests.nmt.markup.stub import translation_of

CASES = [
    ("> [!NOTE]\n> The dog runs.\n", ["The dog runs."]),
    ("> [!WARNING]\n>\n> The dog runs.\n> The cat sleeps.\n", ["The dog runs. The cat sleeps."]),
    ("> [!tip]- A title\n> The dog runs.\n", ["A title", "The dog runs."]),
    ("- one\n\n  > [!IMPORTANT]\n  > The dog runs.\n", ["one", "The dog runs."]),
    ('!!! note "The dog"\n    The dog runs.\n', ["The dog", "The dog runs."]),
    ('!!! note "note"\n    note\n', ["note", "note"]),
    (
        "!!! danger\n\n    The dog runs.\n\n    The cat.\n\nAfter it.\n",
        ["The dog runs.", "The cat.", "After it."],
    ),
    ('???+ tip inline end "The dog"\n    - one thing\n', ["The dog", "one thing"]),
    ('1. one\n\n    !!! note "The dog"\n        It runs.\n', ["one", "The dog", "It runs."]),
    (":::tip Be careful\n\nThe dog runs.\n\n:::\n", ["Be careful", "The dog runs."]),
    (":::note[The dog]{#id}\nIt runs.\n:::\n", ["The dog", "It runs."]),
    ('::: {.callout-note collapse="true"}\nIt runs.\n:::\n', ["It runs."]),
    ("/// note | The dog\n    type: warning\nIt runs.\n///\n", ["The dog", "It runs."]),
    ('=== "Tab one"\n\n    The cat sleeps.\n', ["Tab one", "The cat sleeps."]),
    ("Use $x^2$ and $a_i \\leq b$ here.\n\n$$\nE = mc^2\n$$\n", ["Use $x^2$ and $a_i \\leq b$ here."]),
    ("It costs $5 or $6 now.\n", ["It costs $5 or $6 now."]),
    ("\\begin{align}\nabc &= d\n\\end{align}\n\n\\[\nabc\n\\]\n\nWords.\n", ["Words."]),
    ('{% include a.html text="Hello" %}\n\n{% if x %}The dog runs.{% endif %}\n', ["The dog runs."]),
    (
        "Hello {% if x %}old{% endif %} friend, {{ name | upper }}.\n",
        ["Hello old friend, {{ name | upper }}."],
    ),
    ("<% if user %>\nThe dog runs.\n<% end %>\n", ["The dog runs."]),
    ('{{< figure src="a.png" >}}\n\n{{% tip %}}The dog runs.{{% /tip %}}\n', ["The dog runs."]),
    (
        'import Tabs from "@theme/Tabs";\nimport {\n  a\n} from "b";\n\nexport const a = 1;\n\nWords.\n',
        ["Words."],
    ),
    ("{/* a remark\nof two lines */}\n\nWords.\n", ["Words."]),
    ("Dog\n: A small animal.\n: A friend.\n", ["Dog", "A small animal.", "A friend."]),
    ("Dog\n\n:   A small animal.\n\n    It runs.\n", ["Dog", "A small animal.", "It runs."]),
    ("Text[^a].\n\n[^a]: The cat.\n[^b]: The dog.\n", ["Text.", "The cat.", "The dog."]),
    ("*[HTML]: Hyper Text\n*[CSS]: Style\n", ["Hyper Text", "Style"]),
    ("See [[Page name|the page]] and ![[image.png]] now.\n", ["See the page and now."]),
    ("A ==marked word== here.\n", ["A marked word here."]),
    ("# Title {#my-id}\n\n## The dog {: .cls }\n", ["Title", "The dog"]),
    ('The dog runs.\n{: .cls }\n\n[TOC]\n\n--8<-- "a.md"\n', ["The dog runs."]),
    ("- [ ] The dog runs.\n- [x] The cat.\n", ["The dog runs.", "The cat."]),
    ("```md\n!!! note\n    text\n> [!NOTE]\n```\n\n    !!! note\n        text\n", []),
]


@pytest.mark.parametrize(("source", "wanted"), CASES)
def test_the_texts_of_a_dialect_are_found_and_its_signs_stay(source: str, wanted: list[str]) -> None:
    assert texts("a.md", source) == wanted
    assert translated("a.md", source, lambda text: text.swapcase()).decode().casefold() == source.casefold()


def test_math_templates_and_wiki_pages_are_kept_spans() -> None:
    extract = read_document(
        "a.md", b"Use $x^2$, {{ name }}, <%= link %>, <kbd>Tab</kbd>, [[Page]]."
    ).extracts[0]

    kept = [extract.text[span.start : span.end] for span in extract.keep]
    assert kept == ["$x^2$", "{{ name }}", "<%= link %>", "Tab", "[[Page]]"]


@pytest.mark.parametrize(
    "source",
    [
        "Press <kbd>Tab</kbd> now.",
        'You can check <a href="x">the guide</a> first.',
        "The small <em>red</em> dog <b>runs</b> fast.",
        "A dash. <br>The dog.",
        "It is 50% shorter[\\*](https://example.com/why) than it.",
        "See the note[^1] and the price[*](#star).",
        "Water[<sup>1</sup>](#n1) is good.",
        "[Home](#home) | [About](#about)",
        "A [![badge](b.svg)](https://example.com) here.",
        "Thanks to [@ann](https://example.com) and <a name='x'></a> all.",
        "One line.\nAnother line that is longer than it.\nAnd one.",
        "A line  \nand \\\nanother",
        "> one\nlazy line of it",
        "- one\n     far from it",
    ],
)
def test_white_space_beside_tags_and_lines_stays(source: str) -> None:
    assert translated("a.md", source, lambda text: text.swapcase()).decode().casefold() == source.casefold()


def test_code_spans_that_the_translator_glued_are_parted() -> None:
    document = read_document("a.md", b"Give the `dev` `env` value.")
    kept = [(Span(9, 12), Span(17, 20)), (Span(13, 16), Span(20, 23))]
    translation = translation_of("Give the dev env value.", "Donnez la valeur devenv.", "0-0", kept=kept)

    assert document.restore([translation]).decode() == "Donnez la valeur `dev` `env`."


def test_code_spans_that_the_translator_copied_as_one_are_two() -> None:
    document = read_document("a.md", b"Give the `a.dev` `env` value.")
    kept = [(Span(9, 18), Span(17, 26))]
    translation = translation_of(
        "Give the a.dev env value.", "Donnez la valeur a.dev env.", "4-0 5-1 3-6", kept=kept
    )

    assert document.restore([translation]).decode() == "Donnez la valeur `a.dev` `env`."


def test_code_that_the_translator_lost_takes_no_word_away() -> None:
    document = read_document("a.md", b"The `run` command.")
    translation = aligned("The run command.", "La commande.", [(0, 0), (1, 1)])

    assert document.restore([translation]).decode() == "La `run` commande."


def test_a_sign_that_is_a_link_is_not_given_to_the_translator() -> None:
    assert texts("a.md", "It is shorter[\\*](https://example.com) here[2](#n).") == ["It is shorter here."]


HEADINGS = """# My tool

- [Configuration](#configuration)
- [The `run` command](#the-run-command "Title")
- [Second](#usage-1), `[x](#usage)`, <a href="#usage">first</a>
- [Own](#my-id), [elsewhere](other.md#usage), [no such](#nothing)

## Configuration

## The `run` command

## Usage

## Usage

## Own anchor {#my-id}

```md
[x](#usage)
```

See [the reference][c].

[c]: #configuration
"""


def test_links_to_headings_follow_the_translated_headings() -> None:
    words = {"Configuration": "Réglages de base", "The run command": "La run commande", "Usage": "L'emploi !"}

    result = translated("a.md", HEADINGS, lambda text: words.get(text, text)).decode()

    assert "[Réglages de base](#réglages-de-base)" in result
    assert '(#la-run-commande "Title")' in result
    assert '[Second](#lemploi--1), `[x](#usage)`, <a href="#lemploi-">first</a>' in result
    assert "[Own](#my-id), [elsewhere](other.md#usage), [no such](#nothing)" in result
    assert "```md\n[x](#usage)\n```" in result
    assert "[c]: #réglages-de-base\n" in result
    assert "{#my-id}" in result


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Hello, World!", "hello-world"),
        ("A.b_c-d", "ab_c-d"),
        ("Déjà vu ?", "déjà-vu-"),
        ("`code` & *stress*", "code--stress"),
        ("C++ and C#", "c-and-c"),
        ("Version 1.0.1 (2024)", "version-101-2024"),
        ("[A link](x.md) here", "a-link-here"),
        ("日本語 text", "日本語-text"),
    ],
)
def test_anchors_are_made_as_github_makes_them(heading: str, anchor: str) -> None:
    source = f"# Other\n\n[x](#other)\n\n# {heading}\n\n[y](#{anchor})\n"

    result = translated("a.md", source, lambda text: f"{text} zut" if text not in "xy" else text).decode()

    assert "[x](#other-zut)" in result
    assert f"[y](#{anchor}" in result
    assert f"[y](#{anchor})" not in result
