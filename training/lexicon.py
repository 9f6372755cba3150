"""A lexicon of single words from parallel text: lines that teach a model what one word alone means.

Running text rarely shows a word alone, so a model trained on it translates "Afternoon" badly. Three steps:

    1. IBM Model 1 (Brown et al. 1993) in both directions over the short sentences of the corpora; a word is
       linked to another where each is the other's best in its sentence
    2. for each link, the French word and the unlinked ones around it, up to three ("pomme de terre"), are a
       candidate; articles and pronouns at its ends are stripped by not counting such candidates
    3. a word and a candidate that are each other's best by Dice's coefficient (2 together / (one + other))
       are an entry, in the case that each usually has within a sentence

Sentences of one length on each side are one array, so that no loop runs over words.

Dimension key: N sentences of one shape, S source words and T target words of each, the empty word first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nmt.words import words

Ints = npt.NDArray[np.int32]
Shape = tuple[int, int]

ITERATIONS = 5
MAX_CANDIDATE_WORDS = 3
CELLS_AT_ONCE = 1 << 22
EMPTY = 0
"""Id of the empty word, and of every word too rare for the lexicon."""
WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
LEADS = frozenset(("de", "d'", "du", "à", "au", "aux", "en", "plus"))
"""French words that may begin an entry but not be one: "au revoir", "d'accord", "plus âgé"."""
FUNCTION_WORDS = frozenset(
    word
    for line in (
        "le la les l' un une des ce c' cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos",
        "leurs je j' tu il elle on nous vous ils elles se s' me m' te t' lui leur y qui que dont où et ou ne",
        "n' pas est a ont sont été être avoir par pour dans sur avec sans",
    )
    for word in line.split()
)
"""French words that neither begin nor end an entry: what stands there belongs to the sentence."""
JOINED_PRONOUN = re.compile(r".-(?:je|tu|t|ils?|elles?|on|nous|vous|moi|toi|les?|la|lui|leur|y|en|ce|ci|là)$")
"""A verb with its pronoun: not a word that could be an entry."""
NEVER_ALONE = MappingProxyType(
    {"parce": "parce que", "tandis": "tandis que", "plaît": "s'il vous plaît", "plait": "s'il vous plaît"}
)
"""Words that say something only with others that are function words."""
TIE = 1e-9
LOWER_SHARE = 0.25
"""From this share of its places on, a word is written in lower case."""


@dataclass(frozen=True)
class Entry:
    """A word and its translation, how often they were linked, and Dice's coefficient, 0 to 1."""

    source: str
    target: str
    count: int
    dice: float


class Vocabulary:
    """The words of one language that occur ``least`` times or more, lower-cased, numbered from 1."""

    def __init__(self, sentences: Iterable[Sequence[str]], least: int) -> None:
        counts: Counter[str] = Counter()
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            for position, word in enumerate(sentence):
                counts[word.lower()] += 1
                if position:  # the first word's capital says nothing
                    forms[word.lower()][word] += 1
        kept = [word for word, count in counts.items() if count >= least and _is_plain(word)]
        self.ids = {word: number for number, word in enumerate(kept, start=1)}
        self.texts = ["", *(_usual_form(word, forms[word]) for word in kept)]

    def __len__(self) -> int:
        return len(self.texts)

    def mark(self, *groups: Iterable[str]) -> npt.NDArray[np.bool_]:
        """True at the ids of the words in ``groups`` and of the empty word."""
        marks = np.zeros(len(self), dtype=bool)
        marks[[EMPTY, *(self.ids[word] for group in groups for word in group if word in self.ids)]] = True
        return marks

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """Ids, ``EMPTY`` for a word that is too rare."""
        return [self.ids.get(word.lower(), EMPTY) for word in sentence]


def _is_plain(word: str) -> bool:
    """A word of letters, perhaps elided; no verb with its pronoun."""
    if word != "rendez-vous" and JOINED_PRONOUN.search(word):
        return False
    return WORD.fullmatch(word.removesuffix("'")) is not None


def _usual_form(word: str, forms: Counter[str]) -> str:
    """Its most frequent form within sentences; in lower case if that is not rare."""
    if forms[word] >= LOWER_SHARE * forms.total():
        return word
    return forms.most_common(1)[0][0]


def split_words(text: str) -> list[str]:
    """Words and marks, with one kind of apostrophe and one "que"."""
    return ["que" if token.text == "qu'" else token.text for token in words(text.replace("\u2019", "'"))]


def lexicon(
    pairs: Iterable[tuple[str, str]], *, least: int = 5, max_words: int = 16, min_dice: float = 0.3
) -> Iterator[Entry]:
    """The entries of a parallel text, in the order in which their source words first come.

    Args:
        pairs: sentences; those with more than ``max_words`` words and marks on a side are left out.
        least: how often both words occur, and how often they must be linked.
        max_words: longest sentence.
        min_dice: least coefficient of an entry.
    """
    split = ((split_words(source), split_words(target)) for source, target in pairs)
    short = [pair for pair in split if 0 < len(pair[0]) <= max_words and 0 < len(pair[1]) <= max_words]
    source, target = (Vocabulary((pair[side] for pair in short), least) for side in (0, 1))
    groups = _group((source.encode(one), target.encode(other)) for one, other in short)
    del short
    if not groups:
        return
    links = _link(groups, len(target))
    stops = _Stops(target.mark(FUNCTION_WORDS), target.mark(FUNCTION_WORDS, LEADS), target.mark(LEADS))
    yield from _entries(groups, links, source, target, stops, least, min_dice)


class _Stops(NamedTuple):
    """True at the ids that do not begin an entry, that do not end one, and that had better not begin one."""

    first: npt.NDArray[np.bool_]
    last: npt.NDArray[np.bool_]
    lead: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Group:
    """All sentence pairs of one shape."""

    source_NS: Ints
    target_NT: Ints

    def keys_NTS(self, n_targets: int) -> npt.NDArray[np.int64]:
        """One number for each pair of a source and a target word."""
        return self.source_NS[:, None, :].astype(np.int64) * n_targets + self.target_NT[:, :, None]


def _group(encoded: Iterable[tuple[list[int], list[int]]]) -> list[_Group]:
    """Sort sentences by their shape; every sentence begins with the empty word."""
    shapes: defaultdict[Shape, tuple[list[list[int]], list[list[int]]]] = defaultdict(lambda: ([], []))
    for source, target in encoded:
        sources, targets = shapes[len(source), len(target)]
        sources.append([EMPTY, *source])
        targets.append([EMPTY, *target])
    groups = []
    for shape in sorted(shapes):
        rows = CELLS_AT_ONCE // ((shape[0] + 1) * (shape[1] + 1))
        source_all, target_all = (np.array(side, dtype=np.int32) for side in shapes[shape])
        groups += [
            _Group(source_all[at : at + rows], target_all[at : at + rows])
            for at in range(0, len(source_all), rows)
        ]
    return groups


def _link(groups: Sequence[_Group], n_targets: int) -> list[Ints]:
    """For each group links_NT: position of the source word that a target word is linked to, 0 for none."""
    pairs = np.unique(np.concatenate([np.unique(group.keys_NTS(n_targets)) for group in groups]))
    cells = [np.searchsorted(pairs, group.keys_NTS(n_targets)).astype(np.int32) for group in groups]
    owner = {"source": pairs // n_targets, "target": pairs % n_targets}
    given_source = np.ones(len(pairs))  # p(target word | source word)
    given_target = np.ones(len(pairs))
    for _ in range(ITERATIONS):
        given_source = _reestimate(cells, given_source, owner["source"], over=2)
        given_target = _reestimate(cells, given_target, owner["target"], over=1)
    both = np.sqrt(given_source * given_target)
    return [_mutual_best(both[cells_NTS], group) for cells_NTS, group in zip(cells, groups, strict=True)]


def _reestimate(
    cells: Sequence[Ints], probability: npt.NDArray[np.float64], owner: npt.NDArray[np.int64], over: int
) -> npt.NDArray[np.float64]:
    """One round of expectation maximisation: who, along axis ``over``, wrote each word of the other side."""
    counts = np.zeros_like(probability)
    for cells_NTS in cells:
        share_NTS = probability[cells_NTS]
        share_NTS /= share_NTS.sum(axis=over, keepdims=True)
        np.add.at(counts, cells_NTS.ravel(), share_NTS.ravel())
    return np.asarray(counts / np.bincount(owner, weights=counts)[owner])


def _mutual_best(score_NTS: npt.NDArray[np.float64], group: _Group) -> Ints:
    best_of_target_NT = score_NTS.argmax(axis=2)
    best_of_source_NS = score_NTS.argmax(axis=1)
    returned_NT = np.take_along_axis(best_of_source_NS, best_of_target_NT, axis=1)
    mutual_NT = returned_NT == np.arange(group.target_NT.shape[1])
    known_NT = np.take_along_axis(group.source_NS, best_of_target_NT, axis=1) != EMPTY
    return np.where(mutual_NT & known_NT & (group.target_NT != EMPTY), best_of_target_NT, 0).astype(np.int32)


def _entries(
    groups: Sequence[_Group],
    links: Sequence[Ints],
    source: Vocabulary,
    target: Vocabulary,
    stops: _Stops,
    least: int,
    min_dice: float,
) -> Iterator[Entry]:
    """Count candidates, and choose those that are each other's best with a source word."""
    windows = [
        _windows(group, links_NT, len(target), stops) for group, links_NT in zip(groups, links, strict=True)
    ]
    of_all, from_words, all_candidates = (
        np.concatenate([part[which] for part in windows]) for which in range(3)
    )
    del windows
    candidates, sizes = np.unique(all_candidates, return_counts=True)
    together, counts = np.unique(
        from_words.astype(np.int64) * len(candidates) + np.searchsorted(candidates, of_all),
        return_counts=True,
    )
    together, counts = together[counts >= least], counts[counts >= least]
    word, candidate = together // len(candidates), together % len(candidates)
    occurrences = np.bincount(np.concatenate([group.source_NS.ravel() for group in groups]))
    dice = 2 * counts / (occurrences[word] + sizes[candidate])
    # Of equals the one that does not begin with a preposition, then the shorter.
    n_words = 1 + sum(candidates >= len(target) ** size for size in range(1, MAX_CANDIDATE_WORDS))
    handicap = TIE * (n_words + MAX_CANDIDATE_WORDS * stops.lead[candidates % len(target)])
    score = dice - handicap[candidate]
    best_of_word, best_of_candidate = np.zeros(len(source)), np.zeros(len(candidates))
    np.maximum.at(best_of_word, word, score)
    np.maximum.at(best_of_candidate, candidate, score)
    mutual = (dice >= min_dice) & (score == best_of_word[word]) & (score == best_of_candidate[candidate])
    taken: set[int] = set()
    for index in np.flatnonzero(mutual):
        entry = Entry(
            source.texts[word[index]],
            _text(int(candidates[candidate[index]]), target),
            int(counts[index]),
            float(dice[index]),
        )
        if word[index] not in taken and _is_word(entry):
            taken.add(int(word[index]))
            yield entry


def _is_word(entry: Entry) -> bool:
    """No contraction ("don't"), name in code or abbreviation of one side alone."""
    if "'" in entry.source:
        return False
    inner = [text[1:] != text[1:].lower() for text in (entry.source, entry.target)]
    return not any(inner) or (entry.source.isupper() and entry.source == entry.target)


def _windows(
    group: _Group, links_NT: Ints, n_targets: int, stops: _Stops
) -> tuple[npt.NDArray[np.int64], Ints, npt.NDArray[np.int64]]:
    """Candidates of one group: those with a link, the source word of each, and all there are."""
    linked, from_words, everything = [], [], []
    for size in range(1, min(MAX_CANDIDATE_WORDS, group.target_NT.shape[1] - 1) + 1):
        last = group.target_NT.shape[1] - size
        positions = [slice(1 + shift, 1 + shift + last) for shift in range(size)]
        key_NW = sum(
            group.target_NT[:, at].astype(np.int64) * n_targets**shift for shift, at in enumerate(positions)
        )
        fits_NW = ~(
            stops.first[group.target_NT[:, positions[0]]] | stops.last[group.target_NT[:, positions[-1]]]
        )
        fits_NW &= np.all([group.target_NT[:, at] != EMPTY for at in positions], axis=0)
        links = np.stack([links_NT[:, at] for at in positions])
        one_NW = fits_NW & ((links > 0).sum(axis=0) == 1)
        words_NW = np.take_along_axis(group.source_NS, links.max(axis=0), axis=1)
        linked.append(np.asarray(key_NW)[one_NW])
        from_words.append(words_NW[one_NW])
        everything.append(np.asarray(key_NW)[fits_NW])
    return np.concatenate(linked), np.concatenate(from_words), np.concatenate(everything)


def _text(key: int, target: Vocabulary) -> str:
    """The words of a candidate; an elided one stands before the next without a space."""
    text = ""
    while key:
        key, number = divmod(key, len(target))
        text += target.texts[number] + ("" if target.texts[number].endswith("'") else " ")
    text = text.strip()
    return NEVER_ALONE.get(text, text)


def lines(entries: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """Training lines of each entry: as within a sentence, and with a capital."""
    for entry in entries:
        yield entry.source, entry.target
        capital = entry.source[0].upper() + entry.source[1:], entry.target[0].upper() + entry.target[1:]
        if capital != (entry.source, entry.target):
            yield capital
