"""Documents made by a seed: Markdown and its dialects, office documents, catalogues of strings."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from io import BytesIO
from xml.sax.saxutils import escape

import docx
import odfdo
from docx.enum.text import WD_BREAK

TEXT = (
    "the dog runs in a garden near our house while the old cat sleeps under that red car and nobody sees "
    "how green leaves fall from every tree of this quiet town"
)
WORDS = TEXT.split()
HEADING_ENDS = ("", " {#own}", " {: .cls }", " ##")


def sentence(chance: random.Random, low: int = 3, high: int = 12) -> str:
    words = [chance.choice(WORDS) for _ in range(chance.randint(low, high))]
    return " ".join(words).capitalize() + chance.choice([".", ".", "!", "?"])


def phrase(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 3)))


# Markdown


def inline(chance: random.Random) -> str:
    """A sentence with inline elements of some dialect, white space as people write it."""
    kinds: list[Callable[[str], str]] = [
        lambda text: f"**{text}**",
        lambda text: f"*{text}*",
        lambda text: f"_{text}_",
        lambda text: f"~~{text}~~",
        lambda text: f"=={text}==",
        lambda text: f'[{text}](https://example.com/a_b "{text}")',
        lambda text: f"[{text}][ref]",
        lambda text: f"![{text}](image.png)",
        lambda text: f"[![{text}](badge.svg)](https://example.com)",
        lambda text: f"<em>{text}</em>",
        lambda text: f"<kbd>{text}</kbd>",
        lambda text: f'<a href="https://example.com">{text}</a>',
        lambda text: f"[[{text.split()[0]}|{text.split()[-1]}]]",
        lambda text: f"[[{text.split()[0]}]]",
        lambda text: "`code_span` `other`",
        lambda text: "$x^2$",
        lambda text: "{{ page.title }}",
        lambda text: "{% if page.x %}" + text + "{% endif %}",
        lambda text: "<%= link %>",
        lambda text: "word[^1]",
        lambda text: "word[*](#star)",
        lambda text: "word[<sup>1</sup>](#n1)",
        lambda text: f"**{text}**{{: .class}}",
        lambda text: f"one<br>{text}",
        lambda text: f"one <br> {text}",
        lambda text: "<https://example.com>",
        lambda text: r"a \* b \_ c",
        lambda text: "fish &amp; chips",
        lambda text: f"@{text.split()[0]} #{text.split()[0]}",
        lambda text: "![[image.png]]",
    ]
    words = sentence(chance, 5, 12).split()
    for _ in range(chance.randint(0, 3)):
        words.insert(chance.randrange(1, len(words)), chance.choice(kinds)(phrase(chance)))
    return " ".join(words)


def paragraph(chance: random.Random) -> str:
    """One line, a sentence a line, or filled to a width."""
    sentences = [inline(chance) for _ in range(chance.randint(1, 4))]
    way = chance.randrange(3)
    if way == 0:
        return " ".join(sentences)
    if way == 1:
        return chance.choice(["\n", "\n", "  \n", "\\\n"]).join(sentences)
    lines, width = [""], chance.randint(40, 70)
    for word in " ".join(sentences).split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width and word[:1].isalpha():
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *(others + line if line else line for line in lines[1:])])


BLOCKS: dict[str, Callable[[random.Random], str]] = {
    "heading": lambda c: (
        f"{'#' * c.randint(1, 4)} {phrase(c)}{c.choice(['', ' {#own}', ' {: .cls }', ' ##'])}"
    ),
    "setext": lambda c: f"{phrase(c)}\n{c.choice(['===', '---'])}",
    "paragraph": paragraph,
    "list": lambda c: "\n".join(f"{c.choice('-*')} {inline(c)}" for _ in range(3)),
    "nested list": lambda c: f"1. {inline(c)}\n   - {inline(c)}\n   - {inline(c)}\n2. {inline(c)}",
    "tasks": lambda c: f"- [ ] {inline(c)}\n- [x] {inline(c)}",
    "quotation": lambda c: indented(paragraph(c), "> ", "> "),
    "lazy quotation": lambda c: f"> {sentence(c)}\n{sentence(c)}",
    "GitHub callout": lambda c: f"> [!{c.choice(['NOTE', 'TIP', 'WARNING'])}]\n> {inline(c)}",
    "Obsidian callout": lambda c: f"> [!info]- {phrase(c)}\n> {inline(c)}",
    "MkDocs admonition": lambda c: (
        f'{c.choice(["!!!", "???", "???+"])} note "{phrase(c)}"\n{indented(paragraph(c), "    ", "    ")}'
    ),
    "untitled admonition": lambda c: f"!!! warning\n\n    {inline(c)}",
    "nested admonition": lambda c: f'!!! note "{phrase(c)}"\n    !!! tip\n        {inline(c)}',
    "container": lambda c: f":::{c.choice(['tip', ' note'])} {phrase(c)}\n\n{inline(c)}\n\n:::",
    "labelled container": lambda c: f":::note[{phrase(c)}]{{.cls}}\n{inline(c)}\n:::",
    "slashes": lambda c: f"/// note | {phrase(c)}\n    type: warning\n{inline(c)}\n///",
    "tabs": lambda c: f'=== "{phrase(c)}"\n\n    {inline(c)}\n\n=== "{phrase(c)}"\n\n    {inline(c)}',
    "math": lambda c: "$$\nE = mc^2 + a_i\n$$",
    "brackets": lambda c: "\\[\n\\frac{a}{b}\n\\]",
    "Liquid": lambda c: f'{{% include a.html text="{phrase(c)}" %}}\n\n{{% if x %}}{inline(c)}{{% endif %}}',
    "ERB": lambda c: f"<% if user %>\n{inline(c)}\n<% end %>",
    "shortcode": lambda c: '{{< figure src="a.png" >}}',
    "MDX": lambda c: (
        f'import Tabs from "@theme/Tabs";\n\n<Tabs>\n  <Tab label="Mac">{sentence(c)}</Tab>\n</Tabs>'
    ),
    "definition list": lambda c: f"{phrase(c)}\n: {inline(c)}\n: {inline(c)}",
    "wide definition": lambda c: f"{phrase(c)}\n:   {inline(c)}\n\n    {inline(c)}",
    "footnotes": lambda c: f"[^1]: {inline(c)}\n[^b]: {inline(c)}\n    {sentence(c)}",
    "abbreviations": lambda c: f"*[HTML]: {phrase(c)}\n*[CSS]: {phrase(c)}",
    "table": lambda c: (
        f"| {phrase(c)} | {phrase(c)} |\n|---|:-:|\n| `a\\|b` | {sentence(c)}<br>{sentence(c)} |"
    ),
    "code": lambda c: f"```md\n# {phrase(c)}\n> [!NOTE]\n[x](#a)\n```",
    "indented code": lambda c: f"    {phrase(c)}\n    x = 1",
    "HTML": lambda c: f'<div align="center">\n<b>{phrase(c)}</b> {sentence(c)}\n</div>',
    "comment": lambda c: f"<!-- {phrase(c)} -->",
    "rule": lambda c: "---",
    "contents": lambda c: "[TOC]",
    "reference": lambda c: '[ref]: https://example.com "A title"',
    "lines of a list": lambda c: f"- {indented(paragraph(c), '', '  ')}\n\n  {inline(c)}",
    "attributes": lambda c: f"{inline(c)}\n{{: .cls #id}}",
    "snippet": lambda c: '--8<-- "a.md"',
}


def markdown(seed: int) -> str:
    chance = random.Random(seed)
    names = list(BLOCKS)
    # every block comes early, the rest by chance
    chosen = [names[(seed * 4 + place) % len(names)] for place in range(4)]
    chosen += [chance.choice(names) for _ in range(6)]
    chance.shuffle(chosen)
    text = "\n\n".join(BLOCKS[name](chance) for name in chosen)
    front = "---\ntitle: Not this\n---\n\n" if seed % 3 == 0 else ""
    return front + text + "\n" * (seed % 3)


# Office documents


def word_document(seed: int) -> bytes:
    chance = random.Random(seed)
    document = docx.Document()
    for _ in range(5):
        paragraph = document.add_paragraph(style=chance.choice(["Normal", "Heading 1", "List Bullet"]))
        for _ in range(chance.randint(1, 5)):
            text = chance.choice(["", " ", "  "]) + phrase(chance) + chance.choice([" ", ", ", "\t", "  "])
            run = paragraph.add_run(text)
            run.bold = chance.choice([None, True])
            run.italic = chance.choice([None, None, True])
            if chance.random() < 0.2:
                run.add_break(WD_BREAK.LINE)
    table = document.add_table(rows=2, cols=2)
    for row in table.rows:
        for cell in row.cells:
            cell.text = sentence(chance)
    document.sections[0].header.paragraphs[0].text = phrase(chance)
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def text_document(seed: int) -> bytes:
    chance = random.Random(seed)
    document = odfdo.Document("text")
    document.body.clear()
    for _ in range(5):
        pieces = []
        for _ in range(chance.randint(1, 5)):
            words = escape(phrase(chance))
            pieces.append(
                chance.choice(
                    [
                        words,
                        f'<text:span text:style-name="T1">{words}</text:span>',
                        f'<text:a xlink:href="https://example.com">{words}</text:a>',
                        f'{words}<text:s text:c="2"/>',
                        f"{words}<text:tab/>",
                        f"{words}<text:line-break/>",
                    ]
                )
            )
        document.body.append(odfdo.Element.from_tag(f"<text:p>{' '.join(pieces)}</text:p>"))
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


# Catalogues


def message(chance: random.Random) -> str:
    """A string of a program."""
    text = sentence(chance)
    return chance.choice(
        [
            text,
            f" {text} ",
            f"{text}\n",
            f"{text}\n\n  {sentence(chance)}",
            f"{phrase(chance)}  {phrase(chance)}",
            f"<b>{phrase(chance)}</b>  {text}",
            f"<b>{phrase(chance)}</b>\n<i>{text}</i> ",
            f'Click <a href="x">{phrase(chance)}</a> <br/> {text}',
            "{n, plural, =0 {nothing} one {# " + phrase(chance) + "} other {# " + phrase(chance) + "}}",
            phrase(chance) + " {n, plural, one {<b>#</b> file} other {<b>#</b> files}} " + phrase(chance),
            f"{{g, select, male {{{phrase(chance)}}} other {{{{n, plural, other {{{phrase(chance)}}}}}}}}}",
            f"{phrase(chance)} %(name)s, {{{{count}}}} & {phrase(chance)}",
            f"\t{text}",
            f"“{text}”",
        ]
    )


def json_catalogue(seed: int) -> str:
    chance = random.Random(seed)
    data = {f"key{number}": message(chance) for number in range(12)}
    return json.dumps(data, ensure_ascii=False, indent=chance.choice([2, 4, "\t", None]))


def yaml_catalogue(seed: int) -> str:
    chance = random.Random(seed)
    lines = ["# a comment", "en:"]
    for number in range(8):
        key, text = f"  key{number}:", sentence(chance, 8, 14)
        words = text.split()
        half = len(words) // 2
        folded = " ".join(words[:half]), " ".join(words[half:])
        lines.append(
            chance.choice(
                [
                    f"{key} {text}",
                    f"{key} '{text}'  # why",
                    f'{key} "{text}"',
                    f"{key} |\n    {text}\n\n      {phrase(chance)}",
                    f"{key} >-\n    {folded[0]}\n    {folded[1]}",
                    f"{key} |+\n    {text}\n",
                    f"{key} {folded[0]}\n    {folded[1]}",
                    f'{key} "{folded[0]}\n    {folded[1]}"',
                    f"{key} [{phrase(chance)}, '{phrase(chance)}']",
                    f"{key} &a{number} {phrase(chance)}",
                    f"{key}\n    - :year\n    - {phrase(chance)}",
                ]
            )
        )
    return "\n".join(lines) + "\n"


def po_catalogue(seed: int) -> str:
    chance = random.Random(seed)
    entries = ['msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: \\n"\n']
    for number in range(8):
        quoted = json.dumps(f"{number} {message(chance)}", ensure_ascii=False)
        entries.append(f'#: src/a.c:{number}\n#, c-format\nmsgctxt "c"\nmsgid {quoted}\nmsgstr ""\n')
    return "\n".join(entries)


def xliff_source(chance: random.Random, version: int) -> str:
    pair, point = ("g", "x") if version == 1 else ("pc", "ph")
    words = [escape(phrase(chance)) for _ in range(3)]
    return chance.choice(
        [
            f'{words[0]} <{point} id="1"/> {words[1]} <{point} id="2"/>, {words[2]}.',
            f'<{pair} id="1">{words[0]}</{pair}> <{pair} id="2">{words[1]} <{point} id="3"/></{pair}> a',
            f'{words[0]}  <{point} id="1"/>{words[1]} {words[2]}<{point} id="2"/>',
            f'{{n, plural, one {{<{point} id="1"/> {words[0]}}} other {{{words[1]} <{point} id="2"/>}}}}',
            f'{words[0]} <{pair} id="1">@<{pair} id="2">ann</{pair}></{pair}>, {words[1]}',
            f" {words[0]}\n      {words[1]} &amp; {words[2]}",
            f'<{point} id="1"/> <{point} id="2"/> {words[0]} <{point} id="3"/>',
        ]
    )


def xliff_catalogue(seed: int) -> str:
    chance = random.Random(seed)
    version = seed % 2 + 1
    sources = [xliff_source(chance, version) for _ in range(8)]
    if version == 1:
        units = "\n".join(
            f'    <trans-unit id="{number}" xml:space="preserve">\n'
            f"      <source>{source}</source>\n    </trans-unit>"
            for number, source in enumerate(sources)
        )
        return (
            '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
            f"  <file original='a' source-language=\"en\"><body>\n{units}\n  </body></file>\n</xliff>\n"
        )
    units = "\n".join(
        f'    <unit id="{number}" xml:space="preserve"><segment>\n<source>{source}</source></segment></unit>'
        for number, source in enumerate(sources)
    )
    return (
        '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en">\n'
        f'  <file id="f">\n{units}\n  </file>\n</xliff>\n'
    )
