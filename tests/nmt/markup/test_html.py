"""HTML: what is translated, what is copied, and that nothing else changes."""

from __future__ import annotations

import pytest

from nmt.errors import ConfigError, InputError
from nmt.markup import extract_html, looks_like_html, translate_markup
from nmt.spans import Span
from tests.nmt.markup.stub import same, shouted, translation_of


def texts(html: str, **options: object) -> list[str]:
    return [extract.text for extract in extract_html(html, **options).extracts]


def shout(html: str, **options: object) -> str:
    extracted = extract_html(html, **options)
    return extracted.restore([shouted(extract) for extract in extracted.extracts])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One <b>two</b> three.</p>", ["One two three."]),
        ("<p>One</p><p>two</p>", ["One", "two"]),
        ("<ul><li>One<li>two</ul>", ["One", "two"]),
        ("  one\n   two\t<i> three</i> ", ["one two three"]),
        ("one<br>two", ["one two"]),  # goes on with a small letter
        ("One.<br>Two", ["One.", "Two"]),
        ("one<br><br>two", ["one", "two"]),
        ("un<b>happ</b>y", ["unhappy"]),
        ("a<img src=x>b", ["a b"]),
        ("a<!-- c -->b", ["ab"]),
        ("<a href=1>Home</a> <a href=2>About</a>", ["Home", "About"]),
        ("Read <a>this</a> and <a>that</a>.", ["Read this and that."]),
        ("Hello <x id=1 />, you", ["Hello, you"]),
        ("A car<img src=x>.", ["A car."]),
        ("A table<sup>1</sup>, a chair", ["A table, a chair"]),
        ("Caf&eacute; &amp; tea&nbsp;!", ["Café & tea\u00a0!"]),
        ("<title>A &amp; b</title>", ["A & b"]),
        ("12 – 3.5 € 😀", []),
        ("", []),
        ("<script>one</script><style>two</style><!-- three -->", []),
        ("<noscript><p>One</p></noscript>", ["One"]),
        ("<select><option>One<option>two</select>", ["One", "two"]),
    ],
)
def test_sentences_are_whole_and_blocks_apart(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>one <code>two <b>x</b></code> three</p>",
        "<p>one <span translate='no'>two</span> three</p>",
        '<p>one <b class="x notranslate">two</b> three</p>',
        "<p>one <kbd>two</kbd> three</p>",
    ],
)
def test_a_copied_element_is_a_word_to_keep(html: str) -> None:
    (extract,) = extract_html(html).extracts

    assert [extract.text[span.start : span.end].split()[0] for span in extract.keep] == ["two"]
    assert shout(html) == html.replace("one", "ONE").replace("three", "THREE")


@pytest.mark.parametrize(
    "html",
    [
        "<pre>one\n  <b>two</b></pre>",
        "<p translate=no>one <b>two</b></p>",
        "<div class=notranslate><p>one</p><p>two</p></div>",
        "<script>one</script>",
        "<svg><text>one</text></svg>",
        "<textarea>one</textarea>",
        "<p translate=no>one<p translate=no>two",
    ],
)
def test_copied_blocks_are_not_looked_into(html: str) -> None:
    assert texts(html) == []
    assert shout(html) == html


def test_translate_yes_within_translate_no_is_translated() -> None:
    html = "<div translate=no>one <p translate=yes>two <b>three</b></p> four</div> five"

    assert shout(html) == "<div translate=no>one <p translate=yes>TWO <b>THREE</b></p> four</div> FIVE"


def test_what_is_translated_ends_with_its_element() -> None:
    html = "<span translate=no>one <b translate=yes>two</b> three</span> four"

    assert texts(html) == ["two", "four"]
    assert shout(html) == "<span translate=no>one <b translate=yes>TWO</b> three</span> FOUR"


def test_a_pre_that_says_translate_yes_keeps_its_white_space() -> None:
    assert shout("<pre translate=yes>  one\n    two  three</pre>") == (
        "<pre translate=yes>  ONE\n    TWO  THREE</pre>"
    )


@pytest.mark.parametrize(
    "html",
    [
        "<P  CLASS='a'\n id=x >\n\t one <B data-a='1 > 0'>two</B >\r\n</P>",
        "&nbsp; one <i class=icon></i> two &nbsp;",
        "<b>one</b>",
        "<b><i>one</i> two</b>",
        "<a href='?a=1&b=2'>one</a><br/>",
        "<!DOCTYPE html>\r\n<html>\r\n<body>one</body>\r\n</html>\r\n",
        "one <img src='a.png' alt=''> two",
        "one<br>two",
        "<i class=icon></i> one <i class=icon></i>",
        "one <b></b> two",
        "<?php one ?>one",
        "one </> two <b",
        "caf&eacute; &#8217; one",
        "one <wbr><x id='1'/> two",
        "<p>one <i> </i> </p>",
        "<b>one <i>two</b> three</i> four",
        "one</b> two <i>three",
    ],
)
def test_all_but_the_words_stays_as_it_is(html: str) -> None:
    extracted = extract_html(html)

    assert extracted.restore([same(extract) for extract in extracted.extracts]) == html


def test_the_translation_is_escaped_and_spelled_as_the_source_spells() -> None:
    extracted = extract_html("<p>caf&eacute; &lt; tea</p>")

    (text,) = [extract.text for extract in extracted.extracts]
    result = extracted.restore([translation_of(text, "é < & > ü")])

    assert result == "<p>&eacute; &lt; &amp; > ü</p>"
    plain = extract_html("one")
    assert plain.restore([translation_of("one", "a < b & c")]) == "a &lt; b &amp; c"


def test_attributes_that_people_read_are_translated() -> None:
    html = (
        '<img alt="one &amp; two" src="one"><a title=\'it is "one"\' href="one">a1</a>'
        '<input placeholder=one name=one><meta name="description" content=" one ">'
        '<meta name="viewport" content="one">'
    )

    assert texts(html, attributes=()) == ["a1"]
    assert shout(html) == (
        '<img alt="ONE &amp; TWO" src="one"><a title=\'IT IS "ONE"\' href="one">A1</a>'
        '<input placeholder="ONE" name=one><meta name="description" content=" ONE ">'
        '<meta name="viewport" content="one">'
    )


def test_attributes_of_copied_elements_are_copied() -> None:
    html = "<p>one <b translate=no title=two>x</b></p>"

    assert texts(html) == ["one x"]


def test_the_quote_that_encloses_an_attribute_is_escaped_in_it() -> None:
    extracted = extract_html("<img alt='one'><img alt=\"one\">")

    result = extracted.restore([translation_of("one", 'l\'"un"'), translation_of("one", 'l\'"un"')])

    assert result == '<img alt=\'l&#39;"un"\'><img alt="l\'&quot;un&quot;">'


def test_tags_follow_their_words() -> None:
    extracted = extract_html('<p>The <b>red</b> <a href="x">car</a><img src=y>.</p>')
    source, target = "The red car.", "La voiture rouge."

    result = extracted.restore([translation_of(source, target, "0-0 2-1 1-2 3-3")])

    assert result == '<p>La <a href="x">voiture</a><img src=y> <b>rouge</b>.</p>'


def test_options_of_tags() -> None:
    html = "<p>one <x>two</x> three</p><p>four</p>"

    assert texts(html, splitting_tags=("X",)) == ["one", "two", "three", "four"]
    assert texts(html, non_splitting_tags=("p",)) == ["one two threefour"]
    assert texts(html, outline_detection=False) == ["one two threefour"]
    assert texts(html, ignore_tags=("p",)) == []
    (first, _) = extract_html(html, ignore_tags=("x",)).extracts
    assert [first.text[span.start : span.end] for span in first.keep] == ["two"]


def test_a_literal_that_the_translator_lost_is_put_back() -> None:
    extracted = extract_html("one <code>two</code> three")

    result = extracted.restore([translation_of("one two three", "un trois", "0-0 2-1")])

    assert result.count("<code>two</code>") == 1


def test_a_literal_outside_of_its_element_is_moved_into_it() -> None:
    extracted = extract_html("one <b>two big <code>x1</code></b> three")
    source, target = "one two big x1 three", "x1 UN TROIS DEUX GROS"
    kept = [(Span(12, 14), Span(0, 2))]

    result = extracted.restore([translation_of(source, target, "0-1 4-2 1-3 2-4", kept=kept)])

    assert result == "UN TROIS <b>DEUX GROS <code>x1</code></b>"


def test_a_wrong_number_of_translations_is_refused() -> None:
    with pytest.raises(ValueError, match="0 translations for 1 extracts"):
        extract_html("one").restore([])


@pytest.mark.parametrize(
    "piece", ["<b>", "</b>", "<b>a ", "<i>a</i>", "<a ", "<!--", "a<br>", "<p>a", "&", "</p>"]
)
def test_long_and_deep_html_takes_time_in_proportion(piece: str) -> None:
    html = "one " + piece * 600

    extracted = extract_html(html)

    assert extracted.restore([same(extract) for extract in extracted.extracts]).startswith("one")


class Keeping:
    """Takes what ``Translator.translate`` takes."""

    def __init__(self, *, attends: bool = True) -> None:
        self.attends = attends

    def translate(self, given, options, *, keep):
        if not self.attends and options.alignment != "none":
            raise ConfigError("the model has no attention")
        return [
            shouted(type(extract_html("x").extracts[0])(*pair))
            for pair in zip(given, map(tuple, keep), strict=True)
        ]


def test_several_texts_are_translated_together() -> None:
    assert translate_markup(Keeping(), ["<b>one</b> <code>x</code>", "", "<p>two<p>three"], "html") == [
        "<b>ONE</b> <code>x</code>",
        "",
        "<p>TWO<p>THREE",
    ]


def test_a_model_without_attention_translates_markup_too() -> None:
    assert translate_markup(Keeping(attends=False), ["<b>one</b> two"], "html") == ["<b>ONE</b> TWO"]


def test_xml_that_is_broken_is_an_error_before_anything_is_translated() -> None:
    with pytest.raises(InputError, match="line 1, column 4"):
        translate_markup(Keeping(), ["one<b>"], "xml")


MENTIONS = [
    '<span class="h-card"><a href="x" class="u-url mention">@<span>ann</span></a></span>',
    '<a href="x" class="mention hashtag">#<span>dogs</span></a>',
    '<a href="x"><span class="invisible">https://</span><span class="ellipsis">a.example</span></a>',
    "<span class='mention'><span>@</span><b>Ann Lee</b></span>",
    "<b>@</b><i>ann</i>",
    "<span>@<b>Ann Mary Lee</b></span>",
    "<a href='mailto:x'>ann@<i>a.example</i></a>",
    '<span class="mention" data-id="5">Ann Lee</span>',
]


@pytest.mark.parametrize("mention", MENTIONS)
@pytest.mark.parametrize("links", ["0-1 1-0", "0-0 2-1 3-1", ""])
def test_the_tags_of_a_mention_stay_in_their_order(mention: str, links: str) -> None:
    if mention.startswith("<b>@</b>"):
        mention = f"<span>{mention}</span>"
    extracted = extract_html(f"Thanks {mention}, I like it.")
    [extract] = extracted.extracts
    [kept] = extract.keep
    word = extract.text[kept.start : kept.end]
    target = f"{word}, merci"
    translation = translation_of(
        extract.text, target, links, kept=[(kept, Span(0, len(word)))], with_links=bool(links)
    )

    assert extracted.restore([translation]) == f"{mention}, merci"


def test_copied_words_that_the_translator_glued_are_parted() -> None:
    extracted = extract_html("<p>Give the <code>dev</code> <code>env</code> value.</p>")
    kept = [(Span(9, 12), Span(17, 20)), (Span(13, 16), Span(20, 23))]
    translation = translation_of("Give the dev env value.", "Donnez la valeur devenv.", "0-0", kept=kept)

    result = extracted.restore([translation])

    assert result == "<p>Donnez la valeur <code>dev</code> <code>env</code>.</p>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<input type="submit" value="Send it">', ["Send it"]),
        ("<INPUT TYPE=Button VALUE='Send it'>", ["Send it"]),
        ('<input type="reset" value="Clear">', ["Clear"]),
        ('<input type="text" value="Ann"><input value="Ann">', []),
        ('<input type="hidden" value="token"><input type="radio" value="yes">', []),
        ('<button value="send">Send</button><li value="three">x</li>', ["Send", "x"]),
        ('<optgroup label="Fruits"><option label="An apple" value="a"></optgroup>', ["Fruits", "An apple"]),
        ('<track label="English" src="x"><div label="no">yes</div>', ["English", "yes"]),
        ('<p aria-description="A remark">Text</p>', ["A remark", "Text"]),
    ],
)
def test_what_people_read_of_buttons_and_options_is_translated(html: str, expected: list[str]) -> None:
    assert texts(html) == expected
    assert shout(html).lower() == html.lower()


@pytest.mark.parametrize(
    ("text", "is_html"),
    [
        ("<p>One</p>", True),
        ("One<br>two", True),
        ("See <a href='x'>this</a>.", True),
        ("<b>one", False),
        ("a < b and c > d", False),
        ("<name> is <value>", False),
        ("Press <Enter>", False),
        ("<tag>x</tag>", False),
        ("1 <2> 3", False),
        ("", False),
    ],
)
def test_html_is_told_from_plain_text_with_angle_brackets(text: str, is_html: bool) -> None:
    assert looks_like_html(text) is is_html
