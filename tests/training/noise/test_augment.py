"""Noise: every kind leaves a right pair, the same seed the same pairs, and probability 0 all as it was."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from nmt.errors import ConfigError
from nmt.text.placeholders import PLACEHOLDERS, REGISTER, RESERVED
from nmt.tokenizer import Tokenizer
from testbed.corpora import PAIRS, RECIPE, write_toy
from training.data.prepare import prepare
from training.data.shards import PreparedCorpus
from training.data.subwords import train_subwords
from training.noise import copying, writing
from training.noise.augment import KINDS, MAX_JOINED_WORDS, ORDER, Noiser, join
from training.recipe import NoiseConfig, TokenizerConfig, load_recipe

SILENT = NoiseConfig(**dict.fromkeys(ORDER, 0.0))
PLACEHOLDER = re.compile("|".join(PLACEHOLDERS))

SENTENCES = [
    ("Mary has 24 cats.", "Mary a 24 chats."),
    ("Did you see Paris in 1998, John?", "Avez-vous vu Paris en 1998, John ?"),
    ("I don't know where Ahmed Khan lives!", "Je ne sais pas où habite Ahmed Khan !"),
    ("Write to jo@example.org, or see http://example.org/a.", "Écris à jo@example.org, ou va sur http://example.org/a."),
    ("The function strlen() returns max_size.", "La fonction strlen() renvoie max_size."),
    ("Nothing is shared here…", "Ici, rien de commun…"),
    ("Yes.", "Oui."),
]  # fmt: skip


def only(**probabilities: float) -> NoiseConfig:
    return SILENT.model_copy(update=probabilities)


def disturb(config: NoiseConfig, pairs=SENTENCES * 20, seed: int = 1, name: str = "corpus", copies: int = 1):
    return list(Noiser(config, seed, name).stream((i, pair, copies) for i, pair in enumerate(pairs)))


def test_without_any_probability_every_copy_is_the_pair_itself():
    assert disturb(SILENT, copies=2) == [pair for pair in SENTENCES * 20 for _ in range(2)]


def test_the_same_seed_corpus_index_and_copy_give_the_same_pair_and_others_another():
    config = NoiseConfig(typo=1.0, emoji=1.0)
    assert disturb(config) == disturb(config)
    for other in (disturb(config, seed=2), disturb(config, name="other")):
        assert sum(a != b for a, b in zip(disturb(config), other, strict=True)) > 100
    first, second = disturb(config, copies=2)[::2], disturb(config, copies=2)[1::2]
    assert first != second
    assert first == disturb(config)


def test_a_pair_is_disturbed_alike_whatever_stands_before_it():
    config = NoiseConfig(join=0.0)
    later = [(index, pair, 1) for index, pair in enumerate(SENTENCES * 20)][50:]
    assert list(Noiser(config, 1, "corpus").stream(later)) == disturb(config)[50:]


@pytest.mark.parametrize("kind", ORDER)
def test_each_kind_alone_disturbs_counts_and_shows_samples(kind: str):
    noiser = Noiser(only(**{kind: 1.0}), 1, "corpus")
    pairs = SENTENCES * 3
    out = list(noiser.stream((index, pair, 1) for index, pair in enumerate(pairs)))
    report = noiser.describe()
    assert report["pairs"] == len(out) == len(pairs)
    assert report["changed"] == sum(a != b for a, b in zip(out, pairs, strict=True)) > 0
    assert report["kinds"][kind]["pairs"] == report["changed"]
    assert report["kinds"][kind]["samples"] == [a for a, b in zip(out, pairs, strict=True) if a != b][:2]
    assert all(report["kinds"][other]["pairs"] == 0 for other in ORDER if other != kind)
    assert all(source.strip() and target.strip() for source, target in out)


@pytest.mark.parametrize("kind", ["typo", "lower", "title", "spaces", "formality"])
def test_what_a_reader_would_forgive_leaves_the_target_alone(kind: str):
    out = disturb(only(**{kind: 1.0}))
    assert [target for _, target in out] == [target for _, target in SENTENCES * 20]


def test_a_probability_is_a_share_of_the_pairs_it_applies_to():
    noiser = Noiser(only(bare=0.25, upper=0.1, lower=0.2), 1, "corpus")
    list(noiser.stream((index, ("A cat.", "Un chat."), 1) for index in range(4000)))
    assert noiser.counts["bare"] == pytest.approx(1000, abs=100)
    assert noiser.counts["upper"] == pytest.approx(400, abs=70)
    assert noiser.counts["lower"] == pytest.approx(800, abs=90)


def test_the_cases_exclude_each_other():
    noiser = Noiser(only(upper=0.3, lower=0.3, title=0.4), 1, "corpus")
    pairs = [("a Dog sees It.", "Un chien le voit.")] * 300
    list(noiser.stream((index, pair, 1) for index, pair in enumerate(pairs)))
    assert sum(noiser.counts[kind] for kind in ("upper", "lower", "title")) == 300


def test_placeholders_are_the_same_on_both_sides_each_once():
    for source, target in disturb(only(placeholder=1.0)):
        found = Counter(PLACEHOLDER.findall(source))
        assert found == Counter(PLACEHOLDER.findall(target))
        assert set(found.values()) <= {1}
        assert len(found) <= copying.MAX_PLACEHOLDERS


@pytest.mark.parametrize(
    "pair",
    [
        ("Nothing is shared here…", "Ici, rien de commun…"),
        ("In London it rains.", "À Londres il pleut."),
        ("Paris is big.", "Paris est grand."),  # at the sentence's start it may be any word
        ("It costs 1,500 euros.", "Cela coûte 1 500 euros."),
        ("It costs 3.25 euros.", "Cela coûte 3,25 euros."),
        ("Come at 8:30 or at 30.", "Viens à 8 h 30 ou à 30 heures."),
        ("On 12/05/2004 we left.", "Nous sommes partis le 05.12.2004."),
        ("The 20th of May.", "Le 20 mai."),
        ("I saw Tom and Tom.", "J'ai vu Tom."),
        ("The Rhine-Rhone line.", "La ligne Rhine."),
        ("WE SAW PARIS.", "NOUS AVONS VU PARIS."),
        ("I saw Tom again.", "Tom, j'ai revu Tom."),
        ("Its name is Rhine.", "Il s'appelle Rhineland."),
        ("Its name is Rhineland.", "Il s'appelle Rhine-Sud."),
    ],
)
def test_a_pair_without_a_string_that_both_sides_share_once_is_left_alone(pair: tuple[str, str]):
    for seed in range(5):
        rng = random.Random(seed)
        assert copying.replace_by_placeholders(*pair, rng) is None
        assert copying.replace_by_literal(*pair, rng) is None
        assert copying.replace_number(*pair, rng) is None


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("Did you see Paris in 1998, John?", "As-tu vu Paris en 1998, John ?"), {"Paris", "1998", "John"}),
        (("Ask Ahmed Khan's son.", "Demande au fils d'Ahmed Khan."), {"Ahmed", "Khan", "Ahmed Khan"}),
        (("See www.a.fr/x?y=1.", "Voir www.a.fr/x?y=1."), {"www.a.fr/x?y=1"}),
        (("Mail j.o@a.fr.", "Écris à j.o@a.fr."), {"j.o@a.fr"}),
        (("Use strlen() or max_size.", "Utilisez strlen() ou max_size."), {"strlen()", "max_size"}),
        (('It says "hello you".', "Il dit « hello you »."), {"hello you"}),
        (("Mr Barroso spoke.", "M. Barroso a parlé."), {"Barroso"}),
    ],
)
def test_shared_strings_are_found(pair: tuple[str, str], expected: set[str]):
    shared = copying.shared_strings(*pair)
    texts = [{pair[side][slice(*spans[side])] for spans in shared} for side in (0, 1)]
    assert texts[0] == texts[1] == expected


def test_what_overlaps_is_replaced_once_and_all_else_stays_in_its_place():
    pair = "So Ahmed Khan, Bo Li and 1998 met.", "Or Ahmed Khan, Bo Li et 1998 se sont vus."
    forms = {re.sub(r"Ahmed|Khan|Bo|Li|1998", "X", side).replace("X X", "X") for side in pair}
    for seed in range(100):
        replaced = copying.replace_by_placeholders(*pair, random.Random(seed))
        assert replaced is not None
        assert len(PLACEHOLDER.findall(replaced[0])) == len(PLACEHOLDER.findall(replaced[1]))
        plain = {re.sub(rf"{PLACEHOLDER.pattern}|Ahmed|Khan|Bo|Li|1998", "X", side) for side in replaced}
        assert {side.replace("X X", "X") for side in plain} == forms


def test_a_name_or_number_inside_an_address_is_no_string_of_its_own():
    pair = "Go to http://x.org/Paris/1998 now.", "Va sur http://x.org/Paris/1998."
    shared = copying.shared_strings(*pair)
    assert {pair[0][slice(*spans[0])] for spans in shared} == {"http://x.org/Paris/1998"}
    assert copying.replace_by_literal(*pair, random.Random(1)) is None


def test_numbers_change_alike_on_both_sides_and_keep_their_shape():
    for seed in range(50):
        pair = "5 of 24 in 1998, and 1 of 007.", "5 sur 24 en 1998, et 1 sur 007."
        source, target = copying.replace_number(*pair, random.Random(seed)) or pair
        numbers = re.findall(r"\d+", source)
        assert numbers == re.findall(r"\d+", target)
        assert [len(number) for number in numbers] == [1, 2, 4, 1, 3]
        assert numbers[0] in "23456789"
        assert numbers[3] == "1"
        assert numbers[4].startswith("0")
        assert numbers[1] != "24"


def test_a_literal_stands_on_both_sides_and_nothing_else_changes():
    for seed in range(200):
        source, target = copying.replace_by_literal("Is Paris big?", "Et Paris ?", random.Random(seed)) or (
            "",
            "",
        )
        literal = source.removeprefix("Is ").removesuffix(" big?")
        assert literal
        assert (source, target) == (f"Is {literal} big?", f"Et {literal} ?")
        assert " " not in literal


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("Yes.", "Oui."), ("Yes", "Oui")),
        (("Really?!", "Vraiment ?!"), ("Really", "Vraiment")),
        (("Well...", "Eh bien…"), ("Well", "Eh bien")),
        (("A list:", "Une liste :"), None),
        (("Yes.", "Oui"), None),
        (("...", "..."), None),
    ],
)
def test_final_punctuation_goes_from_both_sides_or_from_none(pair, expected):
    assert writing.bare(*pair, random.Random(1)) == expected


def test_capitals_and_emoji_are_on_both_sides():
    assert writing.upper("Is it?", "Où ça ?", random.Random(1)) == ("IS IT?", "OÙ ÇA ?")
    for seed in range(50):
        source, target = writing.emoji("Yes", "Oui", random.Random(seed)) or ("", "")
        assert source.replace("Yes", "") == target.replace("Oui", "")
        assert set(source) & set(writing.EMOJI)


def test_lower_and_title_case_leave_addresses_and_code_as_they_are():
    pair = "See http://A.org/X and PHP_Eol or {User} in Paris.", "Voir"
    lowered = writing.lower(*pair, random.Random(1))
    assert lowered == ("see http://A.org/X and PHP_Eol or {User} in paris.", "Voir")
    titled = writing.title("see php_eol it's fine", "Voir", random.Random(1))
    assert titled == ("See php_eol It's Fine", "Voir")
    assert writing.title("a " * 11 + "b", "x", random.Random(1)) is None


def test_typos_spare_names_short_words_and_addresses():
    pair = "Ask Barroso of www.example.com for a very nice cake", "Demande à Barroso"
    for seed in range(100):
        source, _ = writing.typo(*pair, random.Random(seed)) or pair
        words = source.split()
        assert words[:6] == ["Ask", "Barroso", "of", "www.example.com", "for", "a"]
        assert sum(a != b for a, b in zip(words, pair[0].split(), strict=True)) == 1


def test_a_misspelt_word_differs_by_one_slip_and_keeps_its_first_letter():
    for seed in range(300):
        wrong = writing.misspell("keyboard", random.Random(seed))
        assert wrong != "keyboard"
        assert wrong[0] == "k"
        assert abs(len(wrong) - 8) <= 1


def test_apostrophes_are_left_out_like_people_do():
    found = {writing.typo("I don't, he's", "x", random.Random(seed)) for seed in range(20)}
    assert ("I dont, hes", "x") in found


def test_the_space_after_a_comma_doubles_or_goes_but_never_inside_a_number():
    found = {writing.spaces("Yes, 1, 2", "x", random.Random(seed)) for seed in range(20)}
    assert found == {None}
    found = {writing.spaces("Yes, sir", "x", random.Random(seed)) for seed in range(20)}
    assert found == {("Yes,  sir", "x"), ("Yes,sir", "x")}


def test_marks_stand_on_both_sides_and_french_quotes_have_their_spaces():
    found = {writing.marks("Go", "Va", random.Random(seed)) for seed in range(300)}
    assert {("- Go", "- Va"), ("(Go)", "(Va)"), ('"Go"', "« Va »"), ("a) Go", "a) Va")} <= found
    assert writing.marks('Say "go"', "Dis « va »", random.Random(1)) is None


@pytest.mark.parametrize(
    ("target", "register"),
    [
        ("Où allez-vous ?", "formal"),
        ("C'est votre livre.", "formal"),
        ("OÙ ALLEZ-VOUS ?", "formal"),
        ("Tu vois ?", "informal"),
        ("Je t’aime.", "informal"),
        ("Va-t'en.", "informal"),
        ("Ce sont tes livres.", "informal"),
        ("A-t-il faim ?", None),
        ("Il a un rendez-vous.", None),
        ("Le ton monte.", None),
        ("Vous et ton ami.", None),
        ("Vous et toi.", None),
        ("Il dort.", None),
    ],
)
def test_the_register_is_read_off_the_french(target: str, register: str | None):
    expected = (f"{REGISTER[register]} Text.", target) if register else None
    assert writing.formality("Text.", target, random.Random(1)) == expected


def test_only_whole_sentences_are_joined_and_never_a_pair_with_its_own_copy():
    pairs = [("One.", "Un."), ("Two.", "Deux."), ("Three", "Trois"), ("Four.", "Quatre.")]
    out = disturb(only(join=1.0), pairs, copies=2)
    assert set(out[:2]) <= {("One. Two.", "Un. Deux."), ("One. Two. Three", "Un. Deux. Trois")}
    assert out[2:4] == [("Two. Three", "Deux. Trois")] * 2 or out[3] == ("Two. Three", "Deux. Trois")
    assert out[4:] == [("Three", "Trois")] * 2 + [("Four.", "Quatre.")] * 2
    long = ("word " * 40 + "end.", "mot.")
    assert join(long, [long]) is None
    assert len(long[0].split()) < MAX_JOINED_WORDS


def test_many_kinds_together_still_keep_numbers_and_placeholders_equal():
    config = NoiseConfig(**dict.fromkeys(ORDER, 0.3))
    for source, target in disturb(config, SENTENCES * 100):
        assert Counter(PLACEHOLDER.findall(source)) == Counter(PLACEHOLDER.findall(target))
        assert Counter(re.findall(r"\d", source)) == Counter(re.findall(r"\d", target))


def test_every_kind_has_a_probability_in_the_recipe():
    assert set(NoiseConfig.model_fields) == {"join", *KINDS}


KEPT = {
    "everyday": "51ba264d36a821bf35ce76f92482cabcc3316596e29697fb12719db8a8910b42",
    "multi30k_transformer": "5e220b5ab1ccef27f2f07cb943759afc024b7bbff4ca972bad0290e1408516a3",
    "toy": "0bf149ebaa108037eb1f96fd4e7435bf94a314f6556b2a3b299c17c0114c5473",
}
"""Checksums of before there was noise: corpora prepared then still serve."""


@pytest.mark.parametrize("name", KEPT)
def test_a_recipe_without_noise_keeps_its_corpus(name: str):
    recipe = load_recipe(name)
    assert recipe.corpus_hash() == KEPT[name]
    assert "noise" not in recipe.corpus_identity()["data"]


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    pairs = [(f"{s} Number {n}.", f"{t} Nombre {n}.") for n, (s, t) in enumerate(PAIRS[:60], start=10)]
    file = write_toy(tmp_path / "corpus", pairs)
    pieces = ", ".join(f'"{piece}"' for piece in RESERVED)
    text = RECIPE.replace("vocab_size = 320", f"vocab_size = 350\nuser_defined_symbols = [{pieces}]")
    file.write_text(text.replace("[tokenizer]", "[data.noise]\n\n[tokenizer]"), encoding="utf-8")
    return str(file)


def test_noise_changes_the_corpus_but_neither_its_size_nor_its_vocabulary(recipe: str, tmp_path: Path):
    loud = ["data.noise.placeholder=1.0", "data.noise.typo=0.5", "data.noise.literal=0.0"]
    noisy = PreparedCorpus.open(prepare(recipe, tmp_path / "noisy", loud))
    quiet = PreparedCorpus.open(
        prepare(recipe, tmp_path / "quiet", [f"data.noise.{kind}=0.0" for kind in ORDER])
    )
    assert noisy.tokenizer_file.read_bytes() == quiet.tokenizer_file.read_bytes()
    assert noisy.recipe_hash != quiet.recipe_hash
    split = noisy.split("train")
    assert len(split) == len(quiet.split("train")) == 60
    tokenizer = Tokenizer.load(noisy.tokenizer_file)
    pieces = {tokenizer.encode_pieces(piece)[-1].id for piece in PLACEHOLDERS}
    for index in range(60):
        assert pieces & set(split.source(index).tolist())
        assert pieces & set(split.target(index).tolist())
    (source,) = noisy.report["train"]["sources"]
    assert source["noise"]["kinds"]["placeholder"]["pairs"] == 60
    assert (source["kept"], source["written"]) == (60, 60)
    dev = [side.split("dev").source_text(0) for side in (noisy, quiet)]
    assert dev[0] == dev[1]


def test_noise_twice_gives_the_same_bytes(recipe: str, tmp_path: Path):
    first, second = (prepare(recipe, tmp_path / name, []) for name in ("a", "b"))
    for file in first.iterdir():
        if file.is_file():
            assert file.read_bytes() == (second / file.name).read_bytes(), file.name


def test_noise_whose_pieces_the_vocabulary_lacks_is_refused(recipe: str):
    with pytest.raises(ConfigError, match=r"add them to tokenizer\.user_defined_symbols"):
        load_recipe(recipe, ["tokenizer.user_defined_symbols=[]"])
    with pytest.raises(ConfigError, match=r"data\.noise writes ⟦vous⟧, ⟦tu⟧:"):
        load_recipe(recipe, ["data.noise.placeholder=0", "tokenizer.user_defined_symbols=[]"])
    with pytest.raises(ConfigError, match="their sum is at most 1"):
        load_recipe(recipe, ["data.noise.upper=0.9", "data.noise.lower=0.9"])
    with pytest.raises(ConfigError, match="did you mean 'typo'"):
        load_recipe(recipe, ["data.noise.typos=0.9"])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize(
    "text", ["voir ⟦0⟧, merci", "⟦0⟧", "⟦vous⟧ See you.", "d'⟦3⟧", "(⟦9⟧)", "a⟦2⟧b", "⟦0⟧⟦1⟧", "« ⟦2⟧ »."]
)
def test_a_reserved_piece_is_one_piece_with_its_span_and_comes_back_exactly(kind: str, text: str):
    tokenizer = TOKENIZERS.setdefault(kind, _train(kind))
    pieces = tokenizer.encode_pieces(text)
    decoded, back = tokenizer.decode_pieces([piece.id for piece in pieces])
    assert decoded == text
    wanted = [match.span() for match in re.finditer(r"⟦\w+⟧", text)]
    for found in (pieces, back):
        assert [(piece.start, piece.end) for piece in found if piece.text in RESERVED] == wanted


TOKENIZERS: dict[str, Tokenizer] = {}


def _train(kind: str) -> Tokenizer:
    config = TokenizerConfig(type=kind, vocab_size=335, user_defined_symbols=RESERVED)
    sentences = [*(side for pair in PAIRS for side in pair), "voir, merci. « (See you) »"] * 2
    return Tokenizer(train_subwords(sentences, len(sentences), config))
