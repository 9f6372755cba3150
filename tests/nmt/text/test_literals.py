"""What is copied: each kind by examples, and prose that only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.spans import Span
from nmt.text.literals import Literal, find_literals
from nmt.text.placeholders import RESERVED

VARIABLES = """
    {name} {0} {} {0:.2f} {{x}} ${y} $HOME %s %d %(n)d %1$s %.2f
    %1 %L2 %12 %n %name% :name [NAME] <b> </b> <br/> &nbsp; &#233;
"""
ICU = "{n, plural, =0 {none} one {# day {x}} other {# days}}"
CODE = "get_name foo() a.b() myVar iPhone __init__ std::vector --flag --a=b -v A4 COVID-19 0xFF LTc USDcoin"
EXAMPLES = {
    "placeholder": [*VARIABLES.split(), ICU, "{ name }", '<x id="1"/>', "{{ user.name }}"],
    "url": [
        "https://example.com",
        "http://x.y/{id}/z?q=1&r=2#s",
        "https://en.wikipedia.org/wiki/Foo_(bar)",
        "www.a.org",
        "example.com/path",
        "mailto:a@b.org",
    ],
    "email": ["john.doe@example.org", "a+b@c-d.co.uk"],
    "path": ["/etc/hosts", "./a/b.txt", "~/x", "C:\\Users\\me\\f.txt", "src/main.py", "report.pdf"],
    "handle": ["@maria", "@a_b"],
    "hashtag": ["#birthday", "#été2024"],
    "version": ["2.1.3", "v2", "v1.2-beta", "192.168.0.1"],
    "code": [*CODE.split(), "`x y`", "$A = \\pi r^2$", "$$E = mc^2$$", "$x$", "\\(a + b\\)", "\\[y = 2\\]"],
    "emoji": ["😍", "👨‍👩‍👧", "🇫🇷", "👍🏽", "1️⃣", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "😀😀", "🏳️‍🌈"],
    "phone": ["01 42 68 53 00", "+33 1 42 68 53 00", "+1 (415) 555-2671", "020 7946 0958"],
    "copyright": [
        "© 2024 Acme Inc",
        "Copyright © 2019-2024, Black & Sons",
        "© Reuters",
        "Copyright 2024 by Jean Dupont",
    ],
    "symbol": ['12"', "5.5″", "²", "½", "™", "①", "-3.5 °C", "70°F"],
}
PROSE = [
    "from `old' to `new'",
    "0 12 34 and 0.5 1 000 000 000",
    "Copyright Law",
    "(c) The rule (c) 12 rules",
    "the copyright of 2024 Tests",
    "and/or",
    "item(s)",
    "70 % de",
    "a 5% increase",
    "100% sure",
    "3rd",
    "5km",
    "U.S.",
    "e.g. this",
    "a -- b",
    "well-known",
    "I went--and came.",
    "3 < 4 > 2",
    "It costs $5 for a and b = $ here.",
    "He owes me $5 and not $6.",
    'He said "I have 12" and "I have 13".',
    "\\[sic\\]",
    "No. 1 is 1/2.",
    "a.m.",
    "He said: (no).",
    "C'est l'été.",
    "McDonald",
    "the TVs",
    "le XIXe siècle, la IIIe fois",
    "Charles IIth",
]


@pytest.mark.parametrize(("kind", "written"), [(kind, text) for kind in EXAMPLES for text in EXAMPLES[kind]])
@pytest.mark.parametrize("around", ["Look at {}, please.", "{} is here", "See ({}).", "Say {}"])
def test_a_literal_is_found_whole_wherever_it_stands(kind: str, written: str, around: str) -> None:
    text = around.replace("{}", written)
    start = around.index("{}")
    assert find_literals(text) == [Literal(kind, Span(start, start + len(written)))]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_no_literal(text: str) -> None:
    assert find_literals(text) == []
    assert find_literals(f"He said {text} to me.") == []


@pytest.mark.parametrize("piece", RESERVED)
def test_pieces_of_the_vocabulary_written_by_a_user_are_literals(piece: str) -> None:
    assert find_literals(f"a {piece} b") == [Literal("placeholder", Span(2, 2 + len(piece)))]


def test_numbers_are_found_only_when_asked_for() -> None:
    text = "It costs $1,000.50 or 20€ at 3:30, -5 degrees, 50% of 1/2."
    assert find_literals(text) == []
    found = find_literals(text, numbers=True)
    assert [text[literal.span.start : literal.span.end] for literal in found] == [
        *("$1,000.50", "20€", "3:30", "-5", "50%", "1/2")
    ]
    phone = find_literals("Call 06 12 34 56 or 555-1234 on the 10th.", numbers=True)
    assert [literal.span for literal in phone] == [Span(5, 16), Span(20, 28), Span(36, 40)]
    assert [literal.kind for literal in find_literals("2.1.3", numbers=True)] == ["version"]
    units = find_literals("1,234.5 kg, 3km and 5 kings", numbers=True)
    assert [literal.span for literal in units] == [Span(0, 10), Span(12, 15), Span(20, 21)]


def test_characters_outside_of_the_vocabulary_are_symbols_a_phrase_at_a_time() -> None:
    text = "He said Привет мир to her → then left. 猫"

    def is_known(character: str) -> bool:
        return character.isascii()

    found = find_literals(text, is_known=is_known)
    assert [text[literal.span.start : literal.span.end] for literal in found] == ["Привет мир", "→", "猫"]
    assert {literal.kind for literal in found} == {"symbol"}
    assert find_literals("x Łódź", is_known=lambda character: character != "Ł")[0].span == Span(2, 6)


@given(st.text(max_size=60))
def test_literals_are_in_order_never_empty_and_never_overlap(text: str) -> None:
    end = 0
    for literal in find_literals(text, numbers=True, is_known=str.isascii):
        assert end <= literal.span.start < literal.span.end <= len(text)
        end = literal.span.end


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("Done: %d%%, or 100%% of it", ["%d%%", "%%"]),
        ("I accept the %sterms and privacy policy%s.", ["%s", "%s"]),
        ("Change it in the %1$ssettings%2$s.", ["%1$s", "%2$s"]),
        ("Hello %recipient.name%, welcome", ["%recipient.name%"]),
        ("{% if user %}Hello{% endif %}", ["{% if user %}", "{% endif %}"]),
        ("<% if x %>Yes<%= y %>", ["<% if x %>", "<%= y %>"]),
        ("Dear [First Name], see [note]", ["[First Name]"]),
        ('[gallery ids="1,2"] Hello [/gallery]', ['[gallery ids="1,2"]', "[/gallery]"]),
        ("Hello ##NAME##, welcome.", ["##NAME##"]),
        ("Please click <1>Force</1>.", ["<1>", "</1>"]),
        ("Write it as YYYY-MM-DD or hh:mm a", ["YYYY-MM-DD", "hh:mm a"]),
        ("AT&T and R&D", ["AT&T", "R&D"]),
        ("Tom & Jerry, 50% of salt and 20% sure", []),
    ],
)
def test_templates_and_what_is_glued_to_words(text: str, literals: list[str]) -> None:
    assert [text[one.span.start : one.span.end] for one in find_literals(text)] == literals
