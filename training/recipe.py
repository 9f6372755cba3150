"""A recipe: everything that decides what a model is trained on and how, in one commented TOML file.

    [data]        where the pairs come from; [data.cleaning] which of them are refused, [data.noise] how
                  they are disturbed
    [tokenizer]   the sub-word vocabulary
    [model]       the architecture, without ``vocab_size``, which the tokenizer decides
    [training]    loss, schedule, batches, limits
    [generation]  how translations are searched for;  [alignment] where word links come from

``extends = "NAME"`` begins with another recipe and changes what is given; a [model] that names its
architecture replaces the other's.

A recipe names corpora on the Hugging Face hub; ``--set data.dir=FOLDER`` reads local copies instead (see
``Source``). The sections that decide the prepared corpus have a checksum of their own, ``corpus_hash``, which
knows nothing of folders: a corpus prepared from local files serves the recipe as it stands.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from nmt.config import (
    AlignmentConfig,
    DecoderOnlyConfig,
    GenerationConfig,
    ModelConfig,
    RnnConfig,
    StrictModel,
    TransformerConfig,
    apply_overrides,
    parse,
    read_toml,
)
from nmt.errors import ConfigError
from nmt.text.placeholders import PLACEHOLDERS, REGISTER

RECIPES = Path(__file__).parent / "recipes"
CORPORA = Path(__file__).parent / "corpora"
Kind = Literal["hub", "text", "tsv", "jsonl", "parquet"]
TUNING = ("dpo", "minimum_risk")
"""Objectives that tune a translator by what it samples."""
LOCAL_SUFFIXES: Mapping[str, Kind] = {".tsv": "tsv", ".jsonl": "jsonl", ".parquet": "parquet"}


class Source(StrictModel):
    """One corpus of sentence pairs.

    ``kind`` says where it is read from. A ``hub`` source may also name the ``path`` of a local copy, which is
    read instead of the hub as soon as ``data.dir`` is set; the copy's kind is told by its suffix (``.tsv``,
    ``.jsonl``, ``.parquet``), and without one of these it is parallel text. Text may be ``.gz`` or ``.xz``.
    """

    kind: Kind
    name: str = ""
    """Its name in the report; by default the hub name or the path."""
    hub: str | None = None
    """Name of a hub data set, or a folder in that form."""
    config: str | None = None
    """The hub data set's configuration, often a language pair."""
    revision: str | None = None
    """The hub commit: pins the very bytes."""
    split: str = "train"
    streaming: bool = True
    """Read a hub data set as it arrives, without keeping a copy; false downloads it whole into the cache."""
    path: str | None = None
    """Local file, relative to ``data.dir``, or to the recipe file without one. Parallel text: the name that
    comes before ``.en`` and ``.fr`` (and ``.gz`` or ``.xz``). TSV: ``*`` in the name takes all that match."""
    source_field: str = "translation.en"
    """Where the English sentence is in a record; a dot leads into a nested record. In a TSV file without
    header, a column number from 0. Parallel text needs none."""
    target_field: str = "translation.fr"
    header: bool = False
    """TSV: the first line names the columns."""
    weight: float = Field(1.0, gt=0, le=100)
    """How often each pair is written: 2 writes all twice, 0.5 a random half."""
    optional: bool = False
    """Go without it where its local file is missing; the report says so."""
    ships: bool = False
    """``path`` is in the corpora that ship with the library, ``training/corpora``, not in ``data.dir``."""
    cap: int | None = Field(None, gt=0)
    """At most so many pairs, a random choice among those that cleaning left; applied before ``weight``."""

    @model_validator(mode="before")
    @classmethod
    def _name(cls, values: Any) -> Any:  # noqa: ANN401 - not validated yet
        if not isinstance(values, Mapping) or values.get("name"):
            return values
        where = [values.get(key) for key in ("hub", "config")] if values.get("hub") else [values.get("path")]
        return {**values, "name": "/".join(str(part) for part in where if part)}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.kind == "hub" and not self.hub:
            raise ValueError("kind 'hub' needs the name of the data set in 'hub'")
        if (self.kind != "hub" or self.ships) and not self.path:
            raise ValueError(f"kind '{self.kind}' needs a 'path'")
        return self


class CleaningConfig(StrictModel):
    """Which training pairs are refused (``training.data.clean``); other splits are left alone."""

    max_words: int = Field(100, gt=0)
    max_characters: int = Field(800, gt=0)
    max_length_ratio: float = Field(2.5, gt=1)
    """Longer side / shorter side in characters, each counted with 10 more so that short pairs pass."""
    max_symbol_share: float = Field(0.7, gt=0, le=1)
    """Share of a side's characters, white space apart, that may be neither letters nor marks.
    "It's 8:30." has 0.67."""
    identical_min_words: int = Field(3, gt=0)
    """A pair with the same text on both sides is refused from so many words on: "Paris." is a translation."""
    drop_duplicates: bool = True
    drop_overlap: bool = True
    """Refuse pairs whose source sentence is in a dev or test set."""
    max_tokens: int = Field(256, gt=0)
    """Sub-word tokens of a side."""
    max_digit_share: float | None = Field(None, gt=0, le=1)
    """Share of a side's characters, white space apart, that may be digits. This and what follows is for
    corpora gathered by machine; None asks nothing."""
    max_length_deviation: float | None = Field(None, gt=0)
    """Standard deviations (Gale and Church 1993) between the target's length and what the source's lets
    expect: stricter than ``max_length_ratio`` for long pairs."""
    expected_length_ratio: float | None = Field(None, gt=0)
    """Target characters for each source character, for ``max_length_deviation``: 1 by default; 1.13 from
    English to French."""
    language_certainty: float | None = Field(None, gt=0, le=1)
    """Refuse a pair of which a side of five words or more is, so surely, in a language other than its own."""


class NoiseConfig(StrictModel):
    """How probable each kind of noise (``training.noise.augment``) is for a pair to which it applies."""

    join: float = Field(0.04, ge=0, le=1)
    """One to two of the pairs that follow are joined to this one."""
    bare: float = Field(0.08, ge=0, le=1)
    """Neither side ends in final punctuation."""
    upper: float = Field(0.02, ge=0, le=1)
    """Both sides in capitals."""
    lower: float = Field(0.03, ge=0, le=1)
    """The source in lower case; so the target learns to set capitals."""
    title: float = Field(0.01, ge=0, le=1)
    """The source in Title Case, up to ten words."""
    typo: float = Field(0.04, ge=0, le=1)
    spaces: float = Field(0.01, ge=0, le=1)
    """Two spaces after a comma of the source, or none."""
    number: float = Field(0.3, ge=0, le=1)
    """Numbers that both sides share become others."""
    literal: float = Field(0.1, ge=0, le=1)
    """A name or number that both sides share becomes a URL, a variable, a path or the like."""
    placeholder: float = Field(0.35, ge=0, le=1)
    """Up to three strings that both sides share become pieces of ``nmt.text.placeholders.PLACEHOLDERS``."""
    emoji: float = Field(0.02, ge=0, le=1)
    marks: float = Field(0.02, ge=0, le=1)
    """List marks, parentheses or quotes around both sides."""
    formality: float = Field(0.3, ge=0, le=1)
    """A piece of ``placeholders.REGISTER`` before the source says how the target addresses people."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.upper + self.lower + self.title > 1:
            raise ValueError("'upper', 'lower' and 'title' exclude each other: their sum is at most 1")
        return self


class DataConfig(StrictModel):
    """Corpora for training, development and test."""

    source_language: str = "en"
    target_language: str = "fr"
    dir: Path | None = None
    """Folder of local copies; sources that name a ``path`` are read from there instead of the hub."""
    train: tuple[Source, ...] = Field(min_length=1)
    dev: tuple[Source, ...] = Field(min_length=1)
    """Validation pairs, in this order."""
    tests: tuple[Source, ...] = ()
    """Test sets: kept out of training by ``cleaning.drop_overlap``, copied beside the corpus for scoring."""
    cleaning: CleaningConfig = CleaningConfig()
    share: float = Field(1.0, gt=0, le=1)
    """Every source's ``weight`` is multiplied by it: for a run that is over before it has read all."""
    seed: int = 1
    """Decides the random choices of ``cap``, ``weight``, ``share`` and ``noise``."""
    noise: NoiseConfig | None = None
    """``[data.noise]``: disturb the training pairs; the vocabulary is learnt from the undisturbed text."""

    @field_validator("train", "dev", "tests", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:  # noqa: ANN401 - not validated yet
        return [value] if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [source.name for source in self.tests]
        for name in names:
            if not name.replace("_", "").replace("-", "").isalnum():
                raise ValueError(f"test set '{name}' needs a 'name' of letters, digits, - and _")
        if len(set(names)) < len(names):
            raise ValueError(f"test sets need different names, these are {', '.join(names)}")
        return self


class TokenizerConfig(StrictModel):
    """One SentencePiece vocabulary for both languages, with byte fallback: no text is outside of it."""

    type: Literal["bpe", "unigram"] = "bpe"
    vocab_size: int = Field(8000, ge=300, le=300_000)
    """Pieces, 4 special ones and the 256 bytes included."""
    character_coverage: float = Field(0.9999, gt=0.9, le=1)
    """Characters rarer than this leaves are written as bytes."""
    normalization: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"] = "nmt_nfkc"
    """SentencePiece's own, applied at every encoding: it also makes ligatures and full-width forms plain."""
    split_digits: bool = True
    """Numbers are spelled digit by digit, so that any number can be copied."""
    user_defined_symbols: tuple[str, ...] = ()
    """Strings that are always one piece."""
    max_sentences: int = Field(2_000_000, gt=0)
    """Sentences, of both languages together, that the vocabulary is learnt from; a random choice if more."""
    seed: int = 1
    given: str | None = None
    """SHA-256 of a ready SentencePiece model, which is used as it is: ``nmt train --init-from`` sets it."""


class TuningConfig(StrictModel):
    """Of ``training.objective`` dpo and minimum_risk: translations that the model samples, and their use."""

    samples: int = Field(8, ge=2, le=64)
    """Drawn for each sentence."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of the tokens drawn from (Holtzman et al. 2020); 1 is the model's own distribution."""
    measure: Literal["chrf", "bleu"] = "chrf"
    """Of a whole sentence against its reference."""
    beta: float = Field(0.1, gt=0)
    """dpo: how dear it is to leave the model begun with."""
    sharpness: float = Field(0.005, gt=0)
    """minimum_risk: alpha of Shen et al. 2016, who take 0.005."""
    with_references: bool = True
    """minimum_risk: the reference is one of the candidates."""
    likelihood: float = Field(0.0, ge=0)
    """minimum_risk: weight of the references' negative log-likelihood, added to the risk."""


class TrainingConfig(StrictModel):
    """Loss, optimizer, schedule, batches and limits."""

    seed: int = 1
    objective: Literal["translation", "masked_words", "language_model", "dpo", "minimum_risk"] = "translation"
    """masked_words and language_model are pre-training (``training.pretraining``); ``--init-from`` goes on
    from it. dpo and minimum_risk tune a translator (``training.preferences``, ``training.minimum_risk``)."""
    tuning: TuningConfig = TuningConfig()
    max_updates: int = Field(gt=0)
    max_epochs: int | None = Field(None, gt=0)
    """Passes over the corpus; ``max_updates`` holds as well. None sets no limit."""
    max_minutes: float | None = Field(None, gt=0)
    """Wall clock; None sets no limit."""
    batch_tokens: int = Field(4096, gt=0)
    """Tokens of a batch, padding included, on its longer side."""
    accumulate: int = Field(1, ge=1)
    """Batches whose gradients are added up for one update."""
    learning_rate: float = Field(gt=0)
    """The highest of the schedule."""
    warmup_updates: int = Field(0, ge=0)
    schedule: Literal["inverse_sqrt", "noam", "linear", "cosine", "constant"] = "inverse_sqrt"
    cooldown: float = Field(0.0, ge=0, le=1)
    """Last part of the run in which the schedule's rate falls to nothing in a straight line (Hu et al. 2024);
    the run's length is ``max_updates``, or ``max_minutes`` if that is over sooner."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """muon: for the matrices between hidden layers, and AdamW for the rest (docs/decisions/014)."""
    muon_momentum: float = Field(0.95, ge=0, lt=1)
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = Field(1e-9, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    clip_norm: float = Field(1.0, ge=0)
    """Gradients of a larger norm are scaled down to it; 0 never."""
    label_smoothing: float = Field(0.1, ge=0, lt=1)
    r_drop: float = Field(0.0, ge=0)
    """Alpha of R-Drop (Liang et al. 2021; 5 in the paper): every batch is read twice, and the two predictions
    are drawn together. For small corpora; an update takes twice the time."""
    attention_links: str | None = None
    """Links of the training pairs, as ``nmt align-links`` writes them: supervised attention
    (``training.supervision``). ``[alignment]`` names the layer and the head that learn them."""
    attention_weight: float = Field(0.05, gt=0)
    """How much they count beside the words."""
    validate_every: int = Field(500, gt=0)
    validation_pairs: int | None = Field(None, gt=0)
    """Score at most so many pairs of the development set, evenly spaced; None: all."""
    patience: int = Field(0, ge=0)
    """Stop after so many validations without a better BLEU; 0 never."""
    keep_checkpoints: int = Field(10, ge=1)
    save_every: int = Field(500, gt=0)
    average_last: int = Field(10, ge=1)
    """Checkpoints whose weights are averaged into the model folder; 1 takes the best alone."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Precision of matrix products; weights are float32. auto: bf16 where the device has units for it."""
    compile: bool = False
    sharded: bool = False
    """Share weights, gradients and moments out among the processes of ``torchrun``: for a model that does not
    fit on one device. False: each has a copy."""
    subword_sampling: float = Field(0.0, ge=0, le=1)
    """Alpha of sub-word regularisation on the training side; 0 uses the one best segmentation."""
    validation_beam_size: int = Field(1, ge=1, le=64)
    log_every: int = Field(50, gt=0)

    @property
    def readings(self) -> int:
        """How often the model reads a batch in an update."""
        return 2 if self.r_drop else 1

    @model_validator(mode="after")
    def _check_sharding(self) -> Self:
        if self.sharded and self.optimizer == "muon":
            raise ValueError("'sharded' cuts the matrices that 'muon' takes whole: set optimizer to adamw")
        return self

    @model_validator(mode="after")
    def _check_links(self) -> Self:
        if self.attention_links is not None and (self.subword_sampling or self.r_drop):
            raise ValueError(
                "'attention_links' are of one segmentation, read once: set subword_sampling and r_drop to 0"
            )
        return self

    @field_validator("betas")
    @classmethod
    def _check_betas(cls, betas: tuple[float, float]) -> tuple[float, float]:
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError("each must be at least 0 and below 1")
        return betas


class Recipe(StrictModel):
    """Everything that decides what a model is trained on and how."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    adapts: bool = False
    """It begins with a model, which ``nmt train --init-from`` names, and is nothing without."""
    data: DataConfig
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig
    training: TrainingConfig
    generation: GenerationConfig = GenerationConfig()
    alignment: AlignmentConfig = AlignmentConfig()

    @model_validator(mode="after")
    def _pieces_of_the_noise(self) -> Self:
        """Marks of noise must be single pieces: spelled out, they would teach nothing."""
        noise = self.data.noise
        if noise is None:
            return self
        needed = [*PLACEHOLDERS] if noise.placeholder else []
        needed += REGISTER.values() if noise.formality else ()
        absent = [piece for piece in needed if piece not in self.tokenizer.user_defined_symbols]
        if absent:
            raise ValueError(
                f"data.noise writes {', '.join(absent)}: add them to tokenizer.user_defined_symbols, "
                "or set data.noise.placeholder and data.noise.formality to 0"
            )
        return self

    @model_validator(mode="after")
    def _what_a_variant_excludes(self) -> Self:
        """A loss that a variant changes is of one kind."""
        model = self.model
        pointer = "none" if isinstance(model, DecoderOnlyConfig) else model.pointer
        attention = model.attention if isinstance(model, RnnConfig) else "dot"
        symbols = self.tokenizer.user_defined_symbols
        if isinstance(model, TransformerConfig) and model.sources != "one" and not symbols:
            raise ValueError(
                f"model.sources {model.sources} needs a separator: "
                "name it first in tokenizer.user_defined_symbols"
            )
        objective = self.training.objective
        if objective == "masked_words" and (model.architecture != "transformer" or pointer != "none"):
            raise ValueError(
                "training.objective masked_words is of a transformer's encoder, with pointer none"
            )
        if objective == "language_model" and model.architecture != "decoder_only":
            raise ValueError("training.objective language_model is of model.architecture decoder_only")
        if objective != "translation" and (self.training.r_drop or self.training.attention_links):
            what = "tuning" if objective in TUNING else "pre-training"
            raise ValueError(f"{what} has no training.r_drop and no training.attention_links")
        if objective in TUNING:
            self._check_tuning(attention)
        if self.training.r_drop and (pointer != "none" or attention == "hard"):
            raise ValueError(
                "training.r_drop compares two softmaxes: set it to 0 for a pointer or hard attention"
            )
        if self.training.attention_links is None:
            return self
        if pointer != "none" or attention in ("none", "hard"):
            raise ValueError("training.attention_links needs soft attention and pointer none")
        if not isinstance(model, RnnConfig) and len(self.alignment.heads or ()) != 1:
            raise ValueError("training.attention_links teaches one head: name it in alignment.heads, as [0]")
        return self

    def _check_tuning(self, attention: str) -> None:
        """Whole translations are sampled from a model that is there, in one process."""
        objective = self.training.objective
        if not self.adapts:
            raise ValueError(
                f"training.objective {objective} tunes a translator: set adapts to true, "
                "and name the translator with --init-from"
            )
        if attention == "hard":
            raise ValueError(f"training.objective {objective} needs soft attention, this is hard")
        if self.training.sharded:
            raise ValueError(
                f"training.objective {objective} samples in one process: set training.sharded to false"
            )

    @model_validator(mode="before")
    @classmethod
    def _vocabulary_of_the_tokenizer(cls, values: Any) -> Any:  # noqa: ANN401 - not validated yet
        """Fill ``model.vocab_size``, and the default architecture, which a union needs to be told."""
        if not isinstance(values, Mapping) or not isinstance(values.get("model"), Mapping):
            return values
        tokenizer = values.get("tokenizer")
        default = TokenizerConfig().vocab_size
        size = tokenizer.get("vocab_size", default) if isinstance(tokenizer, Mapping) else default
        if values["model"].get("vocab_size", size) != size:
            raise ValueError("model.vocab_size is that of the tokenizer: set tokenizer.vocab_size")
        model = {"architecture": "transformer", **values["model"], "vocab_size": size}
        return {**values, "model": model}

    def model_config_for(self, vocab_size: int) -> ModelConfig:
        """The model's configuration with the size that the tokenizer really has."""
        return self.model.model_copy(update={"vocab_size": vocab_size})

    def beginning_with(self, config: ModelConfig, tokenizer_sha256: str) -> Recipe:
        """This recipe for the weights and sub-words of a ready model: its architecture, our dropout.

        Raises:
            ConfigError: the model is of the other kind.
        """
        if type(config) is not type(self.model):
            raise ConfigError(
                f"{self.name}: model.architecture is {self.model.architecture}, but --init-from names a "
                f"{config.architecture}; choose another model or recipe"
            )
        most = self.data.cleaning.max_tokens
        if isinstance(config, TransformerConfig):
            most = min(most, config.positions_left - 1)  # EOS has a position too
        cleaning = self.data.cleaning.model_copy(update={"max_tokens": most})
        ours = self.model.model_dump()
        dropout = {key: ours[key] for key in ours if key.endswith("dropout")}
        given = {"given": tokenizer_sha256, "vocab_size": config.vocab_size}
        return self.model_copy(
            update={
                "model": config.model_copy(update=dropout),
                "data": self.data.model_copy(update={"cleaning": cleaning}),
                "tokenizer": self.tokenizer.model_copy(update=given),
            }
        )

    def corpus_identity(self) -> dict[str, Any]:
        """Settings that decide the prepared corpus, apart from the corpora's bytes and folders."""
        tokenizer = self.tokenizer.model_dump(mode="json")
        given = tokenizer.pop("given")
        sources: dict[str, Any] = {"__all__": {"path", "streaming", "optional", "ships"}}
        left_out: dict[str, Any] = {"dir": True, "train": sources, "dev": sources, "tests": sources}
        # What came later is left out where it is not used: recipes without it keep the checksum they had.
        if self.data.noise is None:
            left_out["noise"] = True
        if self.data.share == 1:
            left_out["share"] = True
        cleaning = self.data.cleaning
        left_out["cleaning"] = {key for key in type(cleaning).model_fields if getattr(cleaning, key) is None}
        return {
            "data": self.data.model_dump(mode="json", exclude=left_out),
            "tokenizer": tokenizer if given is None else {"given": given},
        }

    def corpus_hash(self) -> str:
        """SHA-256 of ``corpus_identity``."""
        return hashlib.sha256(json.dumps(self.corpus_identity(), sort_keys=True).encode()).hexdigest()


def load_recipe(path_or_name: str, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe: a TOML file, or the name of one that ships; ``overrides`` are ``dotted.key=value``.

    Raises:
        ConfigError: there is no such recipe, or a key or value is wrong; an unknown key names the nearest.
    """
    file = _find(path_or_name)
    values = {"name": file.stem, **apply_overrides(_read(file), overrides)}
    recipe = parse(Recipe, values, where=str(path_or_name))
    if recipe.data.dir is not None:
        return recipe
    folder = file.resolve().parent
    sources = {
        key: tuple(_beside(folder, source) for source in getattr(recipe.data, key))
        for key in ("train", "dev", "tests")
    }
    return recipe.model_copy(update={"data": recipe.data.model_copy(update=sources)})


def _read(file: Path, extending: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A recipe's values, after those of the one it extends."""
    values = read_toml(file)
    base = values.pop("extends", None)
    if base is None:
        return values
    near = file.parent / f"{base}.toml"
    other = near if near.is_file() else _find(str(base))
    if other.resolve() in (*extending, file.resolve()):
        raise ConfigError(f"{file}: 'extends' leads back to {other.name}; break the circle")
    return _merged(_read(other, (*extending, file.resolve())), values)


def _merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in change.items():
        there = merged.get(key)
        if isinstance(there, Mapping) and isinstance(value, Mapping) and "architecture" not in value:
            merged[key] = _merged(there, value)
        else:
            merged[key] = value
    return merged


def _beside(folder: Path, source: Source) -> Source:
    """A local source's path, relative to the recipe's folder, made absolute."""
    if source.kind == "hub" or source.ships or source.path is None:
        return source
    return source.model_copy(update={"path": str(folder / source.path)})


def _find(path_or_name: str) -> Path:
    path = Path(path_or_name).expanduser()
    if path.is_file():
        return path
    shipped = {recipe.stem: recipe for recipe in sorted(RECIPES.glob("*.toml"))}
    if path_or_name in shipped:
        return shipped[path_or_name]
    near = difflib.get_close_matches(path.stem, shipped, n=1, cutoff=0.6)
    hint = f"did you mean '{near[0]}'?" if near else f"recipes that ship: {', '.join(shipped)}"
    raise ConfigError(f"{path_or_name}: neither a file nor a recipe that ships; {hint}")
