"""The lexical translation table is counted from links of both directions."""

from __future__ import annotations

from collections import Counter

from scripts.make_lexical_table import count_links, own_pairs, table_lines


def test_a_link_counts_where_both_directions_have_it() -> None:
    lines = [("the cat", "le chat"), ("cat the", "chat le")]
    assert count_links(lines, ["0-0 1-1", "0-0"], ["0-0 1-0 1-1", "0-0 1-1"]) == {
        ("the", "le"): 1,
        ("cat", "chat"): 2,
    }


def test_a_line_has_the_links_of_a_word_and_its_forms_the_most_frequent_first() -> None:
    links = Counter({("zoo", "zoo"): 2, ("zoo", "parc"): 1, ("éclair", "éclair"): 3, ("rare", "rare"): 2})
    links |= Counter({("2", "deux"): 9, ("the", "le"): 900, ("the", "chat"): 1, ("the", "la"): 300})
    assert table_lines(links) == ["the\t1201\tle:900 la:300", "zoo\t3\tzoo:2 parc:1", "éclair\t3\téclair:3"]


def test_the_own_corpus_is_counted() -> None:
    pairs = own_pairs()
    assert len(pairs) > 60_000
    assert all(source and target for source, target in pairs)
