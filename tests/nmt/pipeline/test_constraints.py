"""What survives translation: doubles that copy and lose things, and a tiny model that learnt placeholders."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.batch import Batch
from nmt.config import GenerationConfig
from nmt.errors import InputError
from nmt.models.build import build_model
from nmt.models.interface import Step
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.prepare import NAMES, Preparer
from nmt.pipeline.restore import restore
from nmt.pipeline.result import Candidate
from nmt.spans import Span
from nmt.text.glossary import Glossary, Term
from nmt.text.placeholders import PLACEHOLDERS, REGISTER, RESERVED
from nmt.tokenizer import Piece, Tokenizer
from nmt.translator import Translator
from tests.nmt.conftest import tiny_config, train_tokenizer
from tests.nmt.test_translator import CopyModel, loaded
from training.loss import label_smoothed_cross_entropy

GREEDY = GenerationConfig(beam_size=1)
BEAM = GenerationConfig(beam_size=3)
LITERALS = [
    "https://x.org/a?b=1",
    "a@b.org",
    "{name}",
    "%(n)d",
    "/etc/hosts",
    "@me",
    "🇫🇷",
    "foo()",
    "2.0.1",
    "→",
]
PLAIN = ["I see", "the cat", "in the park", "and", "the dog", "at home", "near the sea", "today"]


@pytest.fixture(scope="module")
def reserved_tokenizer() -> Tokenizer:
    return Tokenizer(train_tokenizer(vocab_size=400, user_defined_symbols=list(RESERVED)))


@pytest.fixture(scope="module", params=["placeholders", "names", "none"])
def copier(request, reserved_tokenizer, tokenizer):
    """A model that copies, with a vocabulary of each kind; "names" has placeholders as pieces."""
    if request.param == "placeholders":
        chosen = reserved_tokenizer
    elif request.param == "names":
        names = [f"\u2581{name}" for name in NAMES[:3]]
        chosen = Tokenizer(train_tokenizer(vocab_size=390, user_defined_symbols=names))
    else:
        chosen = tokenizer
    translator = Translator(loaded(chosen, CopyModel(chosen.vocab_size)))
    assert len(translator.preparer.placeholders) == {"placeholders": 10, "names": 3, "none": 0}[request.param]
    return translator


def problems(translation):
    """Flags, but for the one that a copy deserves."""
    return [flag.kind for flag in translation.flags if flag.kind != "untranslated"]


# a model that copies: what goes in comes out


@pytest.mark.parametrize(
    "text",
    [
        "I see https://x.org/a. The cat is at home.",
        "- the cat and {name}\n- the dog\n\n1. at home\n2) in the park",
        "WHERE IS THE CAT?",
        "THE CAT SEES {name} AND a@b.org!",
        "the cat is here",
        "i see the dog at home",
        "Where is the dog??? At home!!! In the park...",
        "  I see\tthe cat   and the dog  ",
        "🇫🇷 I see the cat 😀 👍🏽",
        "He said Привет мир to the cat → home.",
        "“The cat” is ‘here’ – at home",
        "x² + y² = z²",
        "{name}",
        "{a} {b}{c}, {d}; {e} the cat {f} {g}. {h} and {i}/{j} {k} the dog {l} at home {m}",
        "I see ⟦0⟧ and ⟦vous⟧ at home.",
        "Tom and Paris see {name}.",
        "The cat has 3 dogs and 3.5 cats in 1998.",
        "the cat ({name}), the dog[{x}] and m² of x{n} y",
        "Call foo(), then --help.\n```\n",
        '<b>The cat</b> is <x id="1"/> here &nbsp; today.',
    ],
)
@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_model_that_copies_gives_everything_back(copier, text, options):
    translation = copier.translate([text], TranslationOptions(generation=options, alignment="links"))[0]
    plain = str.maketrans("“”‘’–", "\"\"''-")
    written = translation.text.replace("« ", "“").replace(" »", "”")
    assert written.translate(plain) == text.translate(plain)
    assert not {"literal_lost", "number_mismatch"} & {flag.kind for flag in translation.flags}
    for source, target in translation.kept:
        assert text[source.start : source.end] == translation.text[target.start : target.end]
    for tokens, whole in ((translation.source_tokens, text), (translation.target_tokens, translation.text)):
        assert all(whole[token.start : token.end] == token.text for token in tokens)


@settings(max_examples=25, deadline=None)
@given(
    parts=st.lists(st.sampled_from([*LITERALS, *PLAIN]), min_size=1, max_size=9),
    ending=st.sampled_from([".", "", "!", "!!!", "..."]),
    between=st.sampled_from([" ", ", "]),
)
def test_any_mixture_of_words_and_literals_comes_back(copier, parts, ending, between):
    text = between.join(parts) + ending
    translation = copier.translate([text], TranslationOptions(generation=GREEDY, alignment="links"))[0]
    assert translation.text == text
    kept = [text[source.start : source.end] for source, _ in translation.kept]
    assert all(any(part in span for span in kept) for part in parts if part in LITERALS)
    linked = {(link.source, link.target) for link in translation.links}
    assert linked == {(index, index) for index in range(len(translation.source_tokens))}


def test_spans_to_keep_are_copied_and_linked(copier):
    text = "I see the cat in the park."
    keep = [Span(6, 13)]
    translation = copier.translate([text, "at home"], TranslationOptions(alignment="links"), keep=[keep, []])[
        0
    ]
    assert translation.text == text
    assert translation.kept == ((Span(6, 13), Span(6, 13)),)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([], "0 lists of spans to keep for 1 texts"),
        ([[Span(0, 3), Span(2, 4)]], "from 2 to 4 is empty, overlaps"),
        ([[Span(2, 2)]], "from 2 to 2 is empty"),
        ([[Span(0, 9)]], "leaves the text of 7 characters"),
    ],
)
def test_spans_that_cannot_be_kept_are_refused(copier, keep, message):
    with pytest.raises(InputError, match=message):
        copier.translate(["at home"], keep=keep)


def test_a_text_is_never_cut_inside_what_is_copied(copier):
    text = "I see `the cat. The dog. Where?` at home. " + "https://x.org/" + "a/" * 100 + "b and the dog"
    translation = copier.translate([text], TranslationOptions(generation=GREEDY))[0]
    assert translation.text == text
    kept = [text[source.start : source.end] for source, _ in translation.kept]
    assert kept == ["`the cat. The dog. Where?`", "https://x.org/" + "a/" * 100 + "b"]


def test_a_headline_becomes_a_sentence(copier):
    assert copier.translate(["The Cat And The Dog Are At Home"])[0].text == "The cat and the dog are at home"


def test_the_word_before_a_name_is_elided_and_offsets_follow(reserved_tokenizer):
    translator = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size)))
    text = "parc de Ouagadoulou"  # more words of French would be left as they are
    translation = translator.translate([text], TranslationOptions(alignment="links", generation=GREEDY))[0]
    assert translation.text == "parc d'Ouagadoulou"
    assert translation.kept == ((Span(8, 19), Span(7, 18)),)
    assert [token.text for token in translation.target_tokens] == ["parc", "d'", "Ouagadoulou"]


def test_parts_keep_the_white_space_between_them(tokenizer):
    translator = Translator(loaded(tokenizer, CopyModel(tokenizer.vocab_size)))
    text = "I see\u00a0{name}  at home\u2003foo()."
    assert translator.translate([text], TranslationOptions(generation=GREEDY))[0].text == text


def test_a_stand_in_that_grew_into_another_word_is_none(reserved_tokenizer):
    preparer = Preparer(Tokenizer(train_tokenizer(vocab_size=390, user_defined_symbols=["\u2581Tom"])))
    text = "I see {name}."
    sentence = preparer.prepare(text, preparer.literals(text), (), TranslationOptions())
    assert sentence.model_input.text == "I see Tom."
    placeholder = preparer.placeholders[0].id
    for written, kept in (("Tom voit.", 1), ("Tome voit.", 0)):
        pieces = (Piece(placeholder, "\u2581Tom", 0, 3), Piece(9, "x", 3, len(written)))
        restored = restore(
            sentence, sentence.model_input, Candidate(written, pieces, -1.0, -1.0, finished=True)
        )
        assert len(restored.kept) == kept


def test_what_is_copied_on_purpose_makes_no_copy_of_a_sentence(reserved_tokenizer):
    judge = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size))).judge
    source, target = "see one_two_three.py at four_five.py", "voir one_two_three.py à four_five.py"
    kept = ((Span(4, 20), Span(5, 21)), (Span(24, 36), Span(24, 36)))
    candidate = Candidate(target, (), -1.0, -1.0, finished=True)
    assert "untranslated" in judge.verdict(source, 9, candidate, None).flags
    assert "untranslated" not in judge.verdict(source, 9, replace(candidate, kept=kept), None).flags


# a model that loses things


class LossyModel(CopyModel):
    """Copies, but one token instead of another."""

    def __init__(self, vocab_size, instead):
        super().__init__(vocab_size)
        self.instead = instead

    def step(self, state, tokens_N):
        ids = state.ids.clone()
        for lost, written in self.instead.items():
            ids[ids == lost] = written
        step, _ = super().step(dataclasses.replace(state, ids=ids), tokens_N)
        return Step(step.log_probs_NV, step.attention_NS), dataclasses.replace(state, n_read=state.n_read + 1)


def test_a_number_that_the_model_changes_is_copied_in_a_second_search(reserved_tokenizer):
    digits = {
        reserved_tokenizer.encode(f"a{digit}")[-1]: reserved_tokenizer.encode("a1")[-1]
        for digit in "234567890"
    }
    translator = Translator(loaded(reserved_tokenizer, LossyModel(reserved_tokenizer.vocab_size, digits)))
    translation = translator.translate(
        ["The cat has 34 dogs in 1998."], TranslationOptions(generation=GREEDY)
    )[0]
    assert translation.text == "The cat has 34 dogs in 1998."
    assert [(s.start, s.end) for s, _ in translation.kept] == [(12, 14), (23, 27)]
    assert problems(translation) == []


def test_terms_are_written_exactly_inflected_where_allowed_and_reported(copier):
    glossary = Glossary.of(
        [
            Term("cat", "minou"),
            Term("dogs", "dog", inflect=True),
            Term("Acme", "Acme"),
            Term("at home", "chez soi"),
        ]
    )
    text = "The cat sees dogs and Acme AT HOME."
    translation = copier.translate([text], TranslationOptions(glossary=glossary, generation=GREEDY))[0]
    applied = {
        text[term.source.start : term.source.end]: (
            translation.text[term.target.start : term.target.end],
            term.how,
        )
        for term in translation.terms
    }
    if not copier.preparer.placeholders:
        assert "term_missed" in {flag.kind for flag in translation.flags}
        assert applied["dogs"] == ("dogs", "inflected")
        return
    assert translation.text == "The minou sees dogs and Acme CHEZ SOI."
    assert applied == {
        "cat": ("minou", "enforced"),
        "dogs": ("dogs", "inflected"),
        "Acme": ("Acme", "enforced"),
        "AT HOME": ("CHEZ SOI", "enforced"),
    }
    assert problems(translation) == []


def test_a_term_at_the_start_takes_the_capital_of_the_sentence(reserved_tokenizer):
    translator = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size)))
    glossary = Glossary.of([Term("cats", "minous")])
    assert (
        translator.translate(["Cats are here."], TranslationOptions(glossary=glossary))[0].text
        == "Minous are here."
    )


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("iMinous", "iMinous are here."),
        ("eBay Minous", "eBay Minous are here."),
        ("minous Chats", "Minous Chats are here."),
        ("Minous", "Minous are here."),
        ("npm", "Npm are here."),
    ],
)
def test_a_term_with_capitals_of_its_own_keeps_them_at_the_start(reserved_tokenizer, target, written):
    translator = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size)))
    glossary = Glossary.of([Term("cats", target)])
    assert translator.translate(["Cats are here."], TranslationOptions(glossary=glossary))[0].text == written


@pytest.mark.parametrize(("text", "copied"), [("The cats are here.", "cats"), ("Cats are here.", "Cats")])
def test_a_term_that_the_model_writes_without_its_capitals_is_asked_for(reserved_tokenizer, text, copied):
    translator = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size)))
    glossary = Glossary.of([Term("cats", "CaTs")])
    translation = translator.translate([text], TranslationOptions(glossary=glossary))[0]
    assert translation.text == text.replace(copied, "CaTs")
    assert problems(translation) == []


def test_formality_is_asked_for_with_a_piece_or_flagged(reserved_tokenizer, tokenizer, monkeypatch):
    translator = Translator(loaded(reserved_tokenizer, CopyModel(reserved_tokenizer.vocab_size)))
    (plan,) = translator.plan(["The cat is here."], TranslationOptions(formality="formal"))
    assert plan.sentences[0].model_input.text == f"{REGISTER['formal']} The cat is here."
    pieces = translator.preparer.source_pieces(plan.sentences[0].model_input)
    assert [piece.start for piece in pieces[:2]] == [0, 0]
    without = Translator(loaded(tokenizer, CopyModel(tokenizer.vocab_size)))
    translation = without.translate(["The cat is here."], TranslationOptions(formality="informal"))[0]
    assert problems(translation) == ["register_unavailable"]
    assert problems(without.translate(["The cat is here."])[0]) == []


def test_french_typography_leaves_what_is_copied_alone(copier):
    text = 'The cat: "here"; is {a:b} {x!} 10 000 cats? Where is it!'
    translation = copier.translate([text], TranslationOptions(french_typography=True, generation=GREEDY))[0]
    assert translation.text == (
        "The cat\u00a0: «\u00a0here\u00a0»\u202f; is {a:b} {x!} 10\u202f000 cats\u202f? Where is it\u202f!"
    )


# a tiny model that learnt to reverse its sentence, placeholders among the words


@pytest.fixture(scope="module")
def reverser(reserved_tokenizer):
    words = ["the", "cat", "dog", "park", "sea", "home", "is", "see"]
    torch.manual_seed(1)
    rng = random.Random(1)
    config = tiny_config(
        reserved_tokenizer,
        d_model=32,
        d_ff=64,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        dropout=0.0,
    )
    model = build_model(config.model).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004, betas=(0.9, 0.98))
    encode = reserved_tokenizer.encode
    n_updates = 320
    for update in range(n_updates):
        pairs = []
        for _ in range(32):
            chosen = [
                *rng.sample(words, rng.randint(1, 3)),
                *rng.sample(PLACEHOLDERS, rng.randint(0, 3)),
            ]
            rng.shuffle(chosen)
            pairs.append(chosen)
        batch = Batch.from_ids(
            [encode(" ".join(pair) + ".") for pair in pairs],
            [encode(" ".join(pair[::-1]) + ".") for pair in pairs],
            special=reserved_tokenizer.special,
        )
        hidden_BTD, _ = model.decode(batch)
        loss = label_smoothed_cross_entropy(
            hidden_BTD, model.output.weight_VD, batch.target_out_BT, batch.target_mask_BT, 0.0
        )
        (loss.smoothed / loss.n_tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = 0.004 * min(1, (update + 1) / 30, 2 * (1 - update / n_updates))
        optimizer.step()
        optimizer.zero_grad()
    trained = loaded(reserved_tokenizer, model.eval().requires_grad_(False))
    return Translator(dataclasses.replace(trained, config=config))


@pytest.mark.exhaustive
def test_a_model_that_learnt_with_placeholders_puts_literals_where_it_learnt(reverser):
    rng = random.Random(2)
    texts = []
    for _ in range(60):
        chosen = [*rng.sample(["cat", "dog", "park", "sea", "home"], 2), *rng.sample(LITERALS[:5], 2)]
        rng.shuffle(chosen)
        if (
            not {chosen[0], chosen[1]} <= set(LITERALS)
            and not {chosen[1], chosen[2]} <= set(LITERALS)
            and not {chosen[2], chosen[3]} <= set(LITERALS)
        ):
            texts.append(" ".join(chosen))
    translations = reverser.translate(texts, TranslationOptions(generation=BEAM, alignment="links"))
    right = 0
    for text, translation in zip(texts, translations, strict=True):
        assert all(translation.text.count(literal) == 1 for literal in text.split() if literal in LITERALS)
        assert not any(flag.kind == "literal_lost" for flag in translation.flags)
        right += translation.text.split() == text.split()[::-1]
    assert len(texts) > 15
    assert right >= 0.8 * len(texts)


def test_days_and_months_are_no_names_to_copy(reserved_tokenizer):
    preparer = Preparer(reserved_tokenizer)

    def names(text: str) -> list[str]:
        return [entry.text for entry in preparer.prepare(text, [], [], DEFAULTS).copied if entry.is_name]

    assert names("we saw Wojciechowskyz there") == ["Wojciechowskyz"]
    assert names("we went there on Wednesday and in August, as on all Saturdays") == []


@pytest.mark.parametrize(
    "text", ["The c\u00adat is here.", "The ca\u200bt is here.", "\ufeffThe cat is here."]
)
def test_invisible_characters_are_not_read(reserved_tokenizer, text):
    preparer = Preparer(reserved_tokenizer)
    sentence = preparer.prepare(text, preparer.literals(text), (), DEFAULTS)
    assert sentence.model_input.text == "The cat is here."
    pieces = preparer.source_pieces(sentence.model_input)
    assert pieces[-1].end == len(text)
