"""Comparing models: the report folder with real tiny models, and what the page says of a clear difference."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from nmt.config import GenerationConfig, ModelFolderConfig, RnnConfig, TransformerConfig
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import save_model_folder
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from nmt.translator import Translator
from tests.nmt.conftest import SENTENCES, train_tokenizer
from tests.stub_translator import StubTranslator
from training.evaluation.compare import compare
from training.evaluation.plots import attention_heat_map, save_png
from training.evaluation.report import slug

ENGLISH, FRENCH = SENTENCES[::2], SENTENCES[1::2]
MODELS = {
    "transformer": TransformerConfig(
        vocab_size=380, d_model=16, d_ff=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1
    ),
    "rnn-attention": RnnConfig(vocab_size=380, d_embedding=16, d_hidden=16, attention="additive"),
    "rnn-plain": RnnConfig(vocab_size=380, d_embedding=16, d_hidden=16, attention="none"),
}


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def save(run: Path, name: str, tokenizer_file: Path) -> str:
    """An untrained model in its run folder, with a log beside it."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.load(tokenizer_file)
    model = MODELS[name].model_copy(update={"vocab_size": tokenizer.vocab_size})
    save_model_folder(
        run / "model",
        config=ModelFolderConfig(name=name, model=model, special_ids=tokenizer.special, library_version="0"),
        model=build_model(model),
        tokenizer_file=tokenizer_file,
        generation=GenerationConfig(beam_size=2, max_length_ratio=0.5, max_length_offset=3),
        card="# none\n",
        scores={},
    )
    events = [
        {"event": "train", "update": n, "nll": 5 - n / 10, "tokens_per_second": 900.0, "elapsed_s": 60.0 * n}
        for n in range(1, 11)
    ]
    events.append({"event": "validation", "update": 10, "perplexity": 9.0, "bleu": 3.0, "elapsed_s": 700.0})
    write(run / "log.jsonl", [json.dumps(event) for event in events])
    return str(run / "model")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on three untrained models and two test sets."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "tokenizer.model").write_bytes(train_tokenizer())
    models = [save(folder / "runs" / name, name, folder / "tokenizer.model") for name in MODELS]
    sources = [write(folder / "first.en", ENGLISH), write(folder / "second.en", ENGLISH[:4])]
    references = [write(folder / "first.fr", FRENCH), write(folder / "second.fr", FRENCH[:4])]
    compare(
        models, sources, references, folder / "report", lowercase_tokenized=True, samples=100, device="cpu"
    )
    return folder / "report"


class Page(HTMLParser):
    """Collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.images: list[dict[str, str]] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.links += [values[name] for name in ("href", "src") if name in values]
        if tag == "img":
            self.images.append(values)
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data.strip())


def test_report_folder_holds_page_record_plots_and_hypotheses(report: Path) -> None:
    names = {path.relative_to(report).as_posix() for path in report.rglob("*") if path.is_file()}

    assert {"index.html", "report.json"} <= names
    for model in MODELS:
        lines = (report / "hypotheses" / "first" / f"{model}.txt").read_text(encoding="utf-8").split("\n")
        assert len(lines) == len(ENGLISH) + 1
    pngs = {name for name in names if name.endswith(".png")}
    assert {name.removesuffix("png") + "json" for name in pngs} <= names, "data behind every plot"
    assert "plots/training_curves.png" in pngs
    assert "plots/bleu_by_length_all-test-sets-together.png" in pngs
    assert all((report / name).read_bytes().startswith(b"\x89PNG") for name in pngs)


def test_record_holds_every_pair_scale_and_checksum(report: Path) -> None:
    record = json.loads((report / "report.json").read_text(encoding="utf-8"))

    assert [model["name"] for model in record["models"]] == list(MODELS)
    assert record["models"][0]["training"] == {"updates": 10, "elapsed_s": 700.0, "tokens_per_second": 900.0}
    assert {"command", "commit", "versions", "machine"} <= record.keys()
    assert record["bootstrap"]["samples"] == 100
    first, second = record["test_sets"]
    assert (first["name"], first["sentences"], second["sentences"]) == ("first", 10, 4)
    tested = {
        (item["baseline"], item["system"], item["metric"], item["scale"]) for item in first["significance"]
    }
    assert len(tested) == 3 * 3
    assert ("rnn-attention", "rnn-plain", "BLEU", "lowercase-tokenized") in tested
    assert all(bucket["sentences"] for bucket in record["length_buckets"]["first"]["transformer"])


def test_attention_is_drawn_for_models_that_have_one_and_only_those(report: Path) -> None:
    drawn = {path.name.split("_line_")[0] for path in (report / "plots").glob("attention_*.png")}

    assert drawn == {"attention_transformer", "attention_rnn-attention"}
    data = json.loads(
        next((report / "plots").glob("attention_transformer*.json")).read_text(encoding="utf-8")
    )
    example = data["data"]
    assert len(example["attention"]) == len(example["target_tokens"])
    for row in example["attention"]:
        assert len(row) == len(example["source_tokens"])
        assert sum(row) == pytest.approx(1, abs=0.01)


def test_page_is_well_formed_and_needs_nothing_from_outside(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page(text)

    assert page.open == []
    assert all(
        link.startswith(("#", "data:image/png;base64,")) or link == "report.json" for link in page.links
    )
    assert "<script" not in text
    assert "@import" not in text
    assert page.images
    assert all(len(image["alt"]) > 20 for image in page.images)
    assert {"Models", "Scores", "Training", "BLEU by source length", "Attention"} <= set(page.headings)


def test_the_literature_scale_has_a_column_of_its_own(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")

    assert "another\nscale" in text
    assert len(re.findall(r'<td class="literature">', text)) == len(MODELS) * 2


def test_no_folder_of_this_machine_is_in_the_report(report: Path) -> None:
    for path in (*report.rglob("*.json"), *report.rglob("*.html")):
        assert str(report.parent) not in path.read_text(encoding="utf-8")


def test_text_of_models_is_escaped_in_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_stubs(tmp_path, monkeypatch, lambda text: "<script>alert(1)</script>", str.upper)

    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def compare_stubs(folder: Path, monkeypatch: pytest.MonkeyPatch, *rules: object, names: str = "ab") -> None:
    """Compare two stubs on 24 sentences that should be shouted."""
    (folder / "tokenizer.model").write_bytes(train_tokenizer())
    paths = [save(folder / name, "rnn-plain", folder / "tokenizer.model") for name in ("a", "b")]
    stubs = iter([StubTranslator(rule, name=name) for rule, name in zip(rules, names, strict=True)])
    monkeypatch.setattr(Translator, "load", lambda *_, **__: next(stubs))
    lines = [f"le train numéro {n} part de la gare de Lyon" for n in range(24)]
    source = write(folder / "x.en", lines)
    reference = write(folder / "x.fr", [line.upper() for line in lines])
    compare(paths, [source], [reference], folder / "report", samples=100)


def test_a_clear_difference_is_bold_in_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_stubs(tmp_path, monkeypatch, lambda text: text.upper().replace("GARE", "X"), str.upper)

    record = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    [bleu, chrf] = record["test_sets"][0]["significance"]
    assert (bleu["metric"], chrf["metric"]) == ("BLEU", "chrF2")
    assert bleu["p_value"] < 0.05
    assert bleu["difference"] > 0
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert f"<strong>{bleu['p_value']:.4f}</strong>" in text


def test_equal_models_are_not_bold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_stubs(tmp_path, monkeypatch, str.upper, str.upper)

    assert "<strong>0" not in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_models_of_one_name_are_refused_before_anything_is_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="models named a, a: a report needs distinct names"):
        compare_stubs(tmp_path, monkeypatch, str.upper, str.upper, names="aa")


def test_one_model_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1 model to compare"):
        compare(["a"], [tmp_path], [tmp_path], tmp_path)


@pytest.mark.parametrize(
    ("name", "safe"), [("a b/c", "a-b-c"), ("été-2", "été-2"), ("../..", "..-.."), ("//", "unnamed")]
)
def test_names_become_safe_file_names(name: str, safe: str) -> None:
    assert slug(name) == safe


def test_a_heat_map_draws_words_of_any_script_and_money(tmp_path: Path) -> None:
    words = ["costs", "$5$", "\x0f", "値段", "$\\alpha"]
    figure = attention_heat_map("title", words, words[:2], [[0.2] * 5] * 2)
    save_png(figure, tmp_path / "map.png")

    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == words
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
