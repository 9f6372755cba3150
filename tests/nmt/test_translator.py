"""The whole flow: with a double that copies its input, so every result is known, and a tiny Transformer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import nmt.search
import nmt.searchers.step
from nmt.alignment.aligner import ALIGN_TOKENS, Aligner
from nmt.batch import Batch
from nmt.config import AlignmentConfig, GenerationConfig, RnnConfig
from nmt.errors import (
    ConfigError,
    InputError,
    ModelFolderError,
    NumericalError,
    TextTooLongError,
    UnsupportedLanguageError,
)
from nmt.model_folder.checkpoint import LoadedModel
from nmt.models.build import build_model
from nmt.models.interface import Step
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.finish import FinishedSentence, finish
from nmt.pipeline.plan import Plan
from nmt.pipeline.result import Candidate, Document
from nmt.text.segment import split
from nmt.tokenizer import Tokenizer
from nmt.translator import Span, Translator
from tests.nmt.conftest import SENTENCES, save_tiny_model, tiny_config, tiny_model, train_tokenizer

ENGLISH = SENTENCES[::2]
GREEDY = GenerationConfig(beam_size=1)
GREEDY_ONLY = {"beam_size": 1}
PROBABILITY = 0.8


@dataclass(frozen=True)
class CopyState:
    ids: Tensor
    n_read: int


class CopyModel:
    """Predicts the source again, token by token with probability 0.8, attending to what it copies.

    EOS in the wrong place is all but impossible: a beam would soon be full of such hypotheses.
    """

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size
        self.batch_sizes: list[int] = []

    def start(self, source, beam_size):
        self.batch_sizes.append(source.size)
        return CopyState(source.source_BS.repeat_interleave(beam_size, dim=0), 0)

    def step(self, state, tokens_N):
        N, S = state.ids.shape
        log_probs_NV = torch.full((N, self.vocab_size), math.log((1 - PROBABILITY) / (self.vocab_size - 1)))
        log_probs_NV[:, 3] = -50.0
        position = min(state.n_read, S - 1)
        next_N1 = state.ids[:, position : position + 1]
        log_probs_NV.scatter_(1, next_N1, math.log(PROBABILITY))
        attention_NS = torch.zeros(N, S)
        attention_NS[:, position] = 1.0
        return Step(log_probs_NV, attention_NS), replace(state, n_read=state.n_read + 1)

    def reorder(self, state, rows_N):
        return replace(state, ids=state.ids[rows_N])

    def forward_with_attention(self, batch, layer=None, heads=None):
        B, S = batch.source_BS.shape
        T = batch.target_out_BT.size(1)
        attention_BTS = torch.zeros(B, T, S)
        for t in range(T):
            attention_BTS[:, t, min(t, S - 1)] = 1.0
        return torch.zeros(B, T, self.vocab_size), attention_BTS


def loaded(tokenizer, model=None, **model_options):
    config = tiny_config(tokenizer, **model_options)
    return LoadedModel(
        config, model or tiny_model(config), tokenizer, GenerationConfig(beam_size=3), Path("x")
    )


@pytest.fixture(scope="module")
def copier(tokenizer):
    return Translator(loaded(tokenizer, CopyModel(tokenizer.vocab_size)))


@pytest.fixture(scope="module")
def translator(tokenizer):
    """In double precision: large weights make float32 rounding visible in the scores."""
    return Translator(loaded(tokenizer, tiny_model(tiny_config(tokenizer)).double()))


def close(first, second):
    """Equal up to rounding of scores."""
    assert first.text == second.text
    assert first.score == pytest.approx(second.score, abs=1e-4)
    assert [a.text for a in first.alternatives] == [a.text for a in second.alternatives]
    assert [(s.source, s.target, s.truncated) for s in first.sentences] == [
        (s.source, s.target, s.truncated) for s in second.sentences
    ]


# the double: what is known


@settings(max_examples=30, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from([*ENGLISH, "  ", "\n\n", "\r\n", "\u2028\t", "\u00a0", " \n \n"]), max_size=12
    ),
    options=st.sampled_from([GREEDY, GenerationConfig(beam_size=3)]),
)
def test_a_model_that_copies_gives_the_text_back_exactly(copier, parts, options):
    text = " ".join(parts)
    translation = copier.translate([text], TranslationOptions(generation=options))[0]
    assert translation.text == text
    assert translation.sentences == () or translation.score == pytest.approx(math.log(PROBABILITY), abs=1e-4)
    assert not translation.truncated
    assert not translation.repaired


def test_spans_tokens_and_links_point_into_the_whole_text(copier):
    text = f"  {ENGLISH[0]}\n\n{ENGLISH[1]} {ENGLISH[2]}  "
    translation = copier.translate([text], TranslationOptions(alignment="soft"))[0]
    assert [text[s.source.start : s.source.end] for s in translation.sentences] == ENGLISH[:3]
    assert [translation.text[s.target.start : s.target.end] for s in translation.sentences] == ENGLISH[:3]
    tokens = translation.source_tokens
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert "".join(token.text for token in tokens) == "".join(text.split())
    assert translation.target_tokens == tokens
    assert [(link.source, link.target) for link in translation.links] == [(i, i) for i in range(len(tokens))]
    first, second, third = translation.sentences
    assert (first.source_tokens.start, third.source_tokens.end) == (0, len(tokens))
    assert first.source_tokens.end == second.source_tokens.start
    assert tokens[second.target_tokens.start].text == ENGLISH[1].split()[0]
    assert len(second.attention) == second.target_tokens.end - second.target_tokens.start
    assert len(second.attention[0]) == second.source_tokens.end - second.source_tokens.start


def test_the_score_is_the_mean_log_probability_with_eos(copier, tokenizer):
    sentence, other = ENGLISH[0], ENGLISH[1]
    translation = copier.translate([f"{sentence} {other}"])[0]
    assert [s.score for s in translation.sentences] == [pytest.approx(math.log(PROBABILITY), abs=1e-5)] * 2
    n = len(tokenizer.encode(sentence)) + len(tokenizer.encode(other))
    assert (translation.n_source_tokens, translation.n_target_tokens) == (n, n)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u200b", " \ufeff \n"])
@pytest.mark.parametrize("alignment", ["none", "links", "soft"])
def test_blank_text_is_its_own_translation(copier, text, alignment):
    translation = copier.translate([text], TranslationOptions(alignment=alignment))[0]
    assert translation.text == text
    assert (translation.sentences, translation.score, translation.n_target_tokens) == ((), 0.0, 0)
    assert translation.links == (None if alignment == "none" else ())


def test_no_texts_give_no_translations(copier):
    assert copier.translate([]) == []


def test_what_was_not_asked_for_is_none(copier):
    none, links, soft = (
        copier.translate(ENGLISH[:1], TranslationOptions(alignment=a))[0] for a in ("none", "links", "soft")
    )
    assert (none.source_tokens, none.target_tokens, none.links) == (None, None, None)
    assert none.sentences[0].source_tokens == Span(0, 0)
    assert links.links == soft.links != ()
    assert links.sentences[0].attention is None
    assert soft.sentences[0].attention is not None
    assert none.alternatives == ()


def test_a_hypothesis_at_the_maximum_length_is_called_truncated(copier, tokenizer):
    long, short = ENGLISH[0], "It."
    options = GenerationConfig(beam_size=2, max_length_ratio=0.01, max_length_offset=7)
    assert len(tokenizer.encode(short)) <= 8 < len(tokenizer.encode(long))
    cut, whole, both = copier.translate(
        [long, short, f"{short} {long}"], TranslationOptions(generation=options)
    )
    assert cut.truncated
    assert cut.sentences[0].truncated
    assert cut.n_target_tokens == 8
    assert long.startswith(cut.text)
    assert cut.score == pytest.approx(math.log(PROBABILITY), abs=1e-5)
    assert not whole.truncated
    assert both.truncated
    assert [sentence.truncated for sentence in both.sentences] == [False, True]


def test_a_sentence_over_the_limit_is_translated_in_parts_and_nothing_is_lost(copier, tokenizer):
    sentence = "the cat, " * 60 + "and the dog."
    assert len(tokenizer.encode(sentence)) > copier.config.max_source_tokens
    translation = copier.translate([sentence], TranslationOptions(alignment="links"))[0]
    assert translation.text == sentence
    assert translation.repaired
    assert len(translation.sentences) > 1
    assert not translation.truncated
    assert len(translation.links) == len(translation.source_tokens)
    assert max(s.source.end - s.source.start for s in translation.sentences) < 200
    assert not copier.translate(["the cat, and the dog."])[0].repaired


@pytest.mark.parametrize("text", ["the cat " * 12_500, "Where? " * 2_000, "x" * 10_000])
def test_a_long_text_comes_back_whole(copier, text):
    assert copier.translate([text], TranslationOptions(generation=GREEDY))[0].text == text


def test_a_line_is_one_sentence_if_asked_and_still_fits_the_model(copier):
    text = "One cat. Two dogs.\nThree."
    whole, apart = (
        copier.translate([text], TranslationOptions(split_sentences=asked))[0] for asked in (False, True)
    )
    assert (len(whole.sentences), len(apart.sentences)) == (2, 3)
    long = "One cat. " * 200
    (translation,) = copier.translate([long], TranslationOptions(split_sentences=False))
    assert len(translation.sentences) > 1
    assert translation.text == long


@pytest.mark.parametrize("budget", [100, ALIGN_TOKENS + 1])
def test_a_budget_for_search_is_no_larger_one_for_forced_passes(tokenizer, monkeypatch, budget):
    translator = Translator(loaded(tokenizer), n_workers=1)
    align, told = Aligner.align_encoded, []

    def spied(self, pairs, **options):
        told.append(options["max_batch_tokens"])
        return align(self, pairs, **options)

    monkeypatch.setattr(Aligner, "align_encoded", spied)
    translator.translate(
        ENGLISH, TranslationOptions(generation=GREEDY, alignment="links"), max_batch_tokens=budget
    )
    assert set(told) == {min(budget, ALIGN_TOKENS)}


def test_the_token_budget_bounds_batches_times_the_beam(tokenizer):
    model = CopyModel(tokenizer.vocab_size)
    copier = Translator(loaded(tokenizer, model), n_workers=1)
    longest = max(len(tokenizer.encode(sentence)) + 1 for sentence in ENGLISH)
    copier.translate(
        ENGLISH,
        TranslationOptions(generation=GenerationConfig(beam_size=4)),
        max_batch_tokens=3 * 4 * longest,
    )
    assert max(model.batch_sizes) >= 3
    assert model.batch_sizes[0] == 3
    assert sum(model.batch_sizes) == len(ENGLISH)
    model.batch_sizes.clear()
    copier.translate(ENGLISH, TranslationOptions(generation=GREEDY), max_batch_tokens=1)
    assert model.batch_sizes == [1] * len(ENGLISH)


# the tiny Transformer: what must not matter


@pytest.mark.parametrize("beam_size", [1, 4])
def test_batched_is_alone_in_any_order(translator, beam_size):
    options = GenerationConfig(beam_size=beam_size, n_best=min(beam_size, 3), max_length_ratio=1.0)
    texts = [*ENGLISH[:5], "", f"{ENGLISH[3]}\n\n{ENGLISH[4]}", "\n"]
    together = translator.translate(texts, TranslationOptions(generation=options))
    assert len({translation.text for translation in together}) > 5
    for text, translation in zip(texts, together, strict=True):
        close(translation, translator.translate([text], TranslationOptions(generation=options))[0])
    for translation, reverse in zip(
        together,
        translator.translate(texts[::-1], TranslationOptions(generation=options), max_batch_tokens=100)[::-1],
        strict=True,
    ):
        close(translation, reverse)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_number_of_workers_changes_nothing(tokenizer, beam_size):
    model = loaded(tokenizer, tiny_model(tiny_config(tokenizer)).double())
    options = GenerationConfig(beam_size=beam_size, n_best=min(beam_size, 3), max_length_ratio=1.0)
    alone, several = Translator(model, n_workers=1), Translator(model, n_workers=3)
    for first, second in zip(
        alone.translate(ENGLISH * 3, TranslationOptions(generation=options)),
        several.translate(ENGLISH * 3, TranslationOptions(generation=options), max_batch_tokens=50),
        strict=True,
    ):
        close(first, second)


def test_alignment_does_not_change_the_translation(translator):
    for first, second in zip(
        translator.translate(ENGLISH),
        translator.translate(ENGLISH, TranslationOptions(alignment="soft")),
        strict=True,
    ):
        close(first, second)


def test_every_row_of_the_soft_matrix_is_a_distribution(translator):
    translation = translator.translate([" ".join(ENGLISH[:2])], TranslationOptions(alignment="soft"))[0]
    for sentence in translation.sentences:
        for token, row in zip(
            translation.target_tokens[sentence.target_tokens.start : sentence.target_tokens.end],
            sentence.attention,
            strict=True,
        ):
            assert len(row) == sentence.source_tokens.end - sentence.source_tokens.start
            assert sum(row) == pytest.approx(1, abs=1e-4)
            assert translation.text[token.start : token.end] == token.text


def test_the_score_is_the_mean_of_a_forced_pass_over_the_same_tokens(translator, tokenizer, monkeypatch):
    found = []

    def recording(*arguments, **required):
        found.extend(nmt.search.search(*arguments, **required))
        return found[-1:]

    monkeypatch.setattr(nmt.searchers.step, "search", recording)
    model = translator.answerer.model
    finished = set()
    for text, beam_size in product(ENGLISH[:3], (1, 32)):
        options = GenerationConfig(
            beam_size=beam_size, max_length_ratio=0.1, length_normalization="none", repair_loops=False
        )
        translation = translator.translate([text], TranslationOptions(generation=options))[0]
        hypothesis = found[-1][0]
        finished.add(hypothesis.finished)
        batch = Batch.from_ids([tokenizer.encode(text)], [hypothesis.tokens], special=tokenizer.special)
        log_probs_TV = model(batch)[0].log_softmax(dim=-1)
        log_probs_T = log_probs_TV.gather(1, batch.target_out_BT[0].unsqueeze(1)).squeeze(1)
        n_predicted = len(hypothesis.tokens) + hypothesis.finished
        assert translation.truncated != hypothesis.finished
        assert translation.score == pytest.approx(float(log_probs_T[:n_predicted].mean()), abs=1e-4)
    assert finished == {True, False}


def test_n_best_is_different_and_in_order_and_its_first_is_the_translation(translator):
    options = GenerationConfig(beam_size=5, n_best=4, length_normalization="mean", repair_loops=False)
    for text in (ENGLISH[0], f"{ENGLISH[1]} {ENGLISH[2]}"):
        translation = translator.translate([text], TranslationOptions(generation=options))[0]
        texts = [alternative.text for alternative in translation.alternatives]
        assert texts[0] == translation.text
        assert 1 < len(texts) == len(set(texts)) <= 4
        assert translation.alternatives[0].score == pytest.approx(translation.score)
    single = translator.translate([ENGLISH[0]], TranslationOptions(generation=options))[0]
    if not single.truncated:
        scores = [alternative.score for alternative in single.alternatives]
        assert scores == sorted(scores, reverse=True)


def test_a_target_that_would_leave_the_models_positions_is_truncated_instead(tokenizer):
    translator = Translator(loaded(tokenizer, max_positions=24))
    options = GenerationConfig(beam_size=2, max_length_ratio=10, max_length_offset=1000)
    translations = translator.translate(ENGLISH, TranslationOptions(generation=options, alignment="links"))
    assert all(translation.text for translation in translations)
    n_positions = [23 * len(translation.sentences) for translation in translations]
    assert all(t.n_target_tokens <= n for t, n in zip(translations, n_positions, strict=True))
    assert any(translation.truncated for translation in translations)
    assert any(translation.repaired for translation in translations)


def test_the_models_positions_limit_only_the_sentences_that_would_outgrow_them(tokenizer):
    translator = Translator(loaded(tokenizer, max_positions=24))
    options = GenerationConfig(beam_size=1, max_length_ratio=1.0, max_length_offset=12, repair_loops=False)
    texts = ["It is.", "the cat, the dog and the sea"]
    n_source = [len(tokenizer.encode(text)) for text in texts]
    assert n_source[0] + 12 < 23 < n_source[1] + 12
    together = translator.translate(texts, TranslationOptions(generation=options))
    assert [translation.truncated for translation in together] == [True, True]
    assert [translation.n_target_tokens for translation in together] == [n_source[0] + 12, 23]


def test_nan_in_the_weights_surfaces(tokenizer):
    config = tiny_config(tokenizer)
    model = tiny_model(config)
    next(iter(model.parameters()))[10:].fill_(float("nan"))
    with pytest.raises(NumericalError):
        Translator(loaded(tokenizer, model)).translate(ENGLISH[:2])


# n best of several sentences, by exhaustive search


@given(data=st.data())
def test_n_best_of_several_sentences_are_the_best_combinations(data):
    text = "A. B.\nC."
    segments = tuple(split(text, "en"))
    candidates = []
    for index in range(len(segments)):
        ranks = data.draw(st.lists(st.integers(-50, -1), min_size=1, max_size=4, unique=True))
        ranks = sorted(ranks, reverse=True)
        candidates.append(
            [Candidate(f"{index}{n}", (), -1.0, rank, finished=True) for n, rank in enumerate(ranks)]
        )
    document = Document(text, segments, repaired=False)
    plan = Plan(document, (), (), DEFAULTS, GenerationConfig(n_best=5))
    translation = finish(plan, [FinishedSentence(tuple(sentence)) for sentence in candidates])
    totals = sorted((sum(c.rank for c in chosen) for chosen in product(*candidates)), reverse=True)
    ranks = {c.text: c.rank for sentence in candidates for c in sentence}
    found = [sum(ranks[name] for name in a.text.split()) for a in translation.alternatives]
    assert found == totals[:5]
    assert translation.alternatives[0].text == translation.text


def test_candidates_of_the_same_text_are_one_alternative_and_unfinished_ones_come_last():
    candidates = [
        Candidate("a", (), -1.0, -1.0, finished=True),
        Candidate("a", (), -2.0, -2.0, finished=True),
        Candidate("b", (), -3.0, -3.0, finished=True),
        Candidate("c", (), -0.5, -0.5, finished=False),
    ]
    document = Document("x", tuple(split("x", "en")), repaired=False)
    plan = Plan(document, (), (), DEFAULTS, GenerationConfig(n_best=4))
    translation = finish(plan, [FinishedSentence(tuple(candidates))])
    assert [alternative.text for alternative in translation.alternatives] == ["a", "b", "c"]
    assert translation.sentences[0].alternatives == translation.alternatives


def test_a_sentence_has_its_own_alternatives_where_some_are_asked_for():
    document = Document("A.\nB.", tuple(split("A.\nB.", "en")), repaired=False)
    sentences = [
        FinishedSentence(
            tuple(Candidate(f"{name}{n}", (), -1.0 - n, -1.0 - n, finished=True) for n in range(3))
        )
        for name in "ab"
    ]
    for n_best, texts in ((2, [["a0", "a1"], ["b0", "b1"]]), (1, [[], []])):
        plan = Plan(document, (), (), DEFAULTS, GenerationConfig(n_best=n_best))
        found = finish(plan, sentences).sentences
        assert [[one.text for one in sentence.alternatives] for sentence in found] == texts


# bad input, and loading


def test_a_lone_surrogate_is_refused_by_text_and_position_without_the_text(copier):
    with pytest.raises(InputError, match=r"^character 6 .*U\+DFFF") as caught:
        copier.translate(["secret\udfff"])
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match=r"^text 2: character 0 "):
        copier.translate(["fine", "\ud83d!"])


def test_a_language_that_the_model_does_not_know_is_refused(copier):
    for languages in ({"source": "de"}, {"target": "en"}, {"source": "fr", "target": "en"}):
        with pytest.raises(UnsupportedLanguageError, match="tiny translates en to fr, not"):
            copier.translate(["Hello."], TranslationOptions(**languages))
    assert copier.translate(["A dog."], TranslationOptions(source="en", target="fr"))[0].text == "A dog."


@pytest.mark.parametrize(("texts", "message"), [("Hello.", "not one text"), (["a", 3], "text 2 is int")])
def test_what_is_no_list_of_texts_is_refused(copier, texts, message):
    with pytest.raises(InputError, match=message):
        copier.translate(texts)


def test_a_model_without_attention_translates_but_does_not_align(tokenizer):
    model_config = RnnConfig(vocab_size=tokenizer.vocab_size, d_embedding=8, d_hidden=8, attention="none")
    config = tiny_config(tokenizer).model_copy(update={"model": model_config})
    model = build_model(model_config).eval()
    translator = Translator(LoadedModel(config, model, tokenizer, GREEDY, Path("x")))
    assert len(translator.translate(ENGLISH[:2])) == 2
    with pytest.raises(ConfigError, match="no attention"):
        translator.translate(
            ENGLISH[:2],
            TranslationOptions(
                alignment="links", generation=GREEDY.model_copy(update={"repair_loops": False})
            ),
        )


def test_given_pairs_are_aligned_over_white_space_tokens_or_words(copier):
    pairs = [("it 's here.", "it 's here."), ("", "vide"), ("One. Two.", "One. Two.")]
    given, blank, several = copier.align(pairs)
    assert [token.text for token in given.source_tokens] == ["it", "'s", "here."]
    assert [(link.source, link.target) for link in given.links] == [(0, 0), (1, 1), (2, 2)]
    assert blank.links == ()
    assert len(several.links) == 2
    assert [token.text for token in copier.align(pairs, whitespace=False)[0].target_tokens] == [
        "it",
        "'",
        "s",
        "here",
        ".",
    ]


def test_bad_pairs_are_refused_by_number(tokenizer, translator):
    with pytest.raises(InputError, match="sentence pair 2: character 1 "):
        translator.align([("a", "b"), ("a", "b\ud800")])
    short = Translator(loaded(tokenizer, max_positions=16))
    with pytest.raises(TextTooLongError, match=r"sentence pair 2 has \d+ tokens.* at most 15"):
        short.align([("a", "b"), (ENGLISH[0], "b")])


def test_a_saved_model_folder_translates_like_the_model_in_memory(tmp_path, tokenizer, tokenizer_file):
    model = save_tiny_model(tmp_path / "model", tokenizer_file)
    from_disk = Translator.load(tmp_path / "model", device="cpu")
    in_memory = Translator(loaded(tokenizer, model))
    assert from_disk.generation == in_memory.generation
    for first, second in zip(from_disk.translate(ENGLISH), in_memory.translate(ENGLISH), strict=True):
        close(first, second)


def test_loading_reports_a_bad_folder_and_a_bad_device(tmp_path, tokenizer_file):
    with pytest.raises(ModelFolderError, match="nowhere: neither a model folder"):
        Translator.load(tmp_path / "nowhere")
    save_tiny_model(tmp_path / "model", tokenizer_file)
    for device in ("gpu", "cuda:99"):
        with pytest.raises(ConfigError, match=f"device '{device}' is not available"):
            Translator.load(tmp_path / "model", device=device)


def test_options_reach_the_search(translator):
    short = GenerationConfig(beam_size=1, max_length_ratio=0.01, max_length_offset=2)
    assert (
        max(t.n_target_tokens for t in translator.translate(ENGLISH, TranslationOptions(generation=short)))
        == 3
    )


def test_a_unigram_tokenizer_works_as_well():
    tokenizer = Tokenizer(train_tokenizer("unigram", 330))
    copier = Translator(loaded(tokenizer, CopyModel(tokenizer.vocab_size)))
    text = "\n".join(SENTENCES)
    translation = copier.translate([text], TranslationOptions(alignment="links", generation=GREEDY))[0]
    assert translation.text == text
    assert all((link.source == link.target) for link in translation.links)


def test_given_pairs_are_aligned_by_the_layer_and_heads_asked_for(translator):
    pair = [("The dog sees a cat.", "Le chien voit un chat.")]
    heads = [translator.align(pair, attention=AlignmentConfig(heads=(head,)))[0].matrix for head in (0, 1)]
    assert heads[0] != heads[1]
    assert translator.align(pair)[0].matrix not in heads  # all heads by default
    with pytest.raises(ConfigError, match="head 7"):
        translator.align(pair, attention=AlignmentConfig(heads=(7,)))


def test_the_layer_and_heads_asked_for_change_the_alignment_and_nothing_else(translator):
    short = GenerationConfig(beam_size=1, max_length_ratio=0.1, max_length_offset=4)  # no room for loops

    def soft(attention):
        options = TranslationOptions(alignment="soft", generation=short, attention=attention)
        (found,) = translator.translate([SENTENCES[0]], options)
        return found.text, found.sentences[0].attention

    text, averaged = soft(None)
    chosen = [soft(AlignmentConfig(heads=(head,))) for head in (0, 1)]
    assert {text} == {found for found, _ in chosen}
    assert chosen[0][1] != chosen[1][1]
    for row, *own in zip(averaged, chosen[0][1], chosen[1][1], strict=True):
        for share, *of_heads in zip(row, *own, strict=True):
            assert min(of_heads) - 1e-5 <= share <= max(of_heads) + 1e-5, "an average of the heads"
    with pytest.raises(ConfigError, match="head 7"):
        soft(AlignmentConfig(heads=(7,)))


def test_fast_is_greedy_and_balanced_is_what_the_folder_says(translator):
    def texts(options):
        return [one.text for one in translator.translate(ENGLISH, options)]

    fast = texts(TranslationOptions(quality="fast"))
    balanced = texts(TranslationOptions(quality="balanced"))

    assert fast == texts(TranslationOptions(generation=translator.generation.model_copy(update=GREEDY_ONLY)))
    assert balanced == texts(DEFAULTS)
    assert fast != balanced, "else this shows nothing"


def test_best_without_a_model_of_the_other_direction_is_refused(translator):
    with pytest.raises(ConfigError, match="quality best reads translations back with a model from fr to en"):
        translator.translate(["One."], TranslationOptions(quality="best"))


def test_fast_finds_one_translation(translator):
    several = translator.generation.model_copy(update={"n_best": 2})
    with pytest.raises(ConfigError, match="quality fast finds one translation, and n_best 2"):
        translator.translate(["One."], TranslationOptions(quality="fast", generation=several))
