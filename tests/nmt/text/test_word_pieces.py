"""What may not follow a whole word."""

from __future__ import annotations

from nmt.text.word_pieces import NO_WORD_PIECES, WordPieces

PIECES = ["</s>", "▁jeune", "sse", "'", "▁", "<0xE9>", "-être", "9", ".", "▁l'", "⟦0⟧"]


def test_after_a_word_come_a_space_a_mark_or_the_end_but_no_letter() -> None:
    never = WordPieces(PIECES, "fr").never_after((1,))
    assert [PIECES[id_] for id_ in never] == ["sse", "<0xE9>", "9", "⟦0⟧"]


def test_anything_may_follow_a_mark_an_elided_article_or_nothing() -> None:
    french = WordPieces(PIECES, "fr")
    assert [french.never_after(prefix) for prefix in ((), (1, 8), (9,), (1, 4))] == [()] * 4


def test_a_language_without_spaces_has_no_whole_words() -> None:
    assert WordPieces(PIECES, "ja").never_after((1,)) == ()
    assert NO_WORD_PIECES.never_after((1,)) == ()
