"""Dependencies that heads find, on parses written by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nmt.errors import DataError
from nmt.explore import dependencies
from nmt.explore.dependencies import _relation, dependency_accuracy, read_conllu
from nmt.explore.heads import Head
from nmt.explore.maps import AttentionMaps
from nmt.models.transformer import Transformer
from nmt.tokenizer import Tokenizer

SENTENCE = """\
# text = The man doesn't eat.
1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tman\tman\tNOUN\t_\t_\t5\tnsubj\t_\t_
3-4\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdoes\tdo\tAUX\t_\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\t_\t_\t5\tadvmod:neg\t_\t_
5\teat\teat\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_

"""
CONTRACTED = "# text = du pain\n1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pud.conllu"
    path.write_text(SENTENCE + CONTRACTED + SENTENCE, encoding="utf-8")
    return path


def test_words_have_spans_and_arcs_leave_out_root_and_punctuation(file: Path) -> None:
    parses = read_conllu(file, 10)
    assert len(parses) == 2, "words that do not stand in the text leave their sentence out"
    assert [parses[0].text[start:end] for start, end in parses[0].spans] == [
        "The",
        "man",
        "does",
        "n't",
        "eat",
        ".",
    ]
    assert parses[0].arcs == ((0, 1, "det"), (1, 4, "nsubj"), (2, 4, "aux"), (3, 4, "advmod"))
    assert len(read_conllu(file, 1)) == 1


def test_a_head_that_looks_at_the_verb_finds_what_depends_on_it(
    model: Transformer, tokenizer: Tokenizer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependencies, "LEAST_CASES", 1)
    pieces = tokenizer.encode_pieces("The man doesn't eat.")
    verb = [index for index, piece in enumerate(pieces) if piece.start < 19 and piece.end > 16]
    even = torch.full((1, 2, len(pieces) + 1, len(pieces) + 1), 0.01)
    looking = even.clone()
    looking[0, 1, :, verb] = 0.5
    looking[0, 1].diagonal().add_(0.9)  # a word itself is no answer
    maps = AttentionMaps((even, looking), (), (), (), torch.empty(0))
    monkeypatch.setattr(dependencies, "attention_maps", lambda *_: maps)
    found = {
        entry.name: entry
        for entry in dependency_accuracy(model, tokenizer, tokenizer.special, read_conllu(file, 9))
    }
    subject = found["nsubj: dependent to head"]
    assert (subject.n_cases, subject.best_head, subject.accuracy) == (1, ("encoder", 1, 1), 1.0)
    assert (subject.offset, subject.baseline) == (3, 1.0)
    assert "nsubj: head to dependent" not in found, "no head finds it"
    parse = read_conllu(file, 1)[0]
    halves = [replace(parse, arcs=((1, 4, "x"),)), replace(parse, arcs=((0, 4, "x"),))]
    (other,) = dependency_accuracy(model, tokenizer, tokenizer.special, halves)
    assert (other.offset, other.baseline, other.accuracy) == (3, 0.0, 1.0), "the second is measured"


def test_the_head_and_the_offset_are_chosen_on_other_sentences_than_they_are_measured_on() -> None:
    lucky, other = Head("encoder", 0, 0), Head("encoder", 0, 1)
    found = _relation("x", Counter({2: 3, 1: 1}), Counter({lucky: 3}), Counter({1: 4}), Counter({other: 4}))
    assert (found.n_cases, found.best_head, found.accuracy) == (4, lucky, 0.0)
    assert (found.offset, found.baseline) == (2, 0.0)
    nothing = _relation("x", Counter({1: 2}), Counter(), Counter({1: 2}), Counter({other: 1}))
    assert nothing is None, "no head found anything"


def test_rare_relations_are_left_out(model: Transformer, tokenizer: Tokenizer, file: Path) -> None:
    assert dependency_accuracy(model, tokenizer, tokenizer.special, read_conllu(file, 9)) == []


def test_another_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu"
    path.write_text("1\tno parse\n\n")
    with pytest.raises(DataError, match=r"text\.conllu: no sentence with its"):
        read_conllu(path, 5)
    with pytest.raises(DataError, match="no readable CoNLL-U"):
        read_conllu(tmp_path / "absent", 5)
