"""The variants that ``scripts.ideas`` trains: each idea of the lectures, its paper, its file, its recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.ideas_corpora import SEPARATOR, made
from training.recipe import Recipe, load_recipe

SEEDS = (1, 2)
LINKS = "links.tsv"

CORPUS = ("tokenizer.vocab_size=6000",)
ALIKE = (
    *CORPUS,
    "training.max_updates=900",
    "training.batch_tokens=1024",
    "training.warmup_updates=100",
    "training.schedule=constant",
    "training.cooldown=0.6",
    "training.validate_every=450",
    "training.save_every=45",
    "training.keep_checkpoints=5",
    "training.average_last=5",
)
"""Of every run, after the recipe's own: minutes of one core, less than two passes over the captions."""
MUON = ("training.optimizer=muon", "training.learning_rate=0.004")
ENCODER_DECODER = (
    "model.d_model=128",
    "model.d_ff=256",
    "model.n_encoder_layers=3",
    "model.n_decoder_layers=3",
)
TUNED = (
    *ENCODER_DECODER,
    "training.max_updates=100",
    "training.warmup_updates=10",
    "training.learning_rate=0.00005",
    "training.validate_every=50",
    "training.save_every=50",
)
"""Of what goes on from a translator by its own samples, each update of which takes ten times as long."""
SIZES = {
    "multi30k_transformer": (*ENCODER_DECODER, "model.dropout=0.1", *MUON),
    "multi30k_decoder_only": (
        "model.d_model=128",
        "model.d_ff=256",
        "model.n_layers=7",
        "model.dropout=0.1",
        *MUON,
    ),
    "multi30k_rnn_attention": (
        "model.d_embedding=128",
        "model.d_hidden=192",
        "model.dropout=0.2",
        "training.learning_rate=0.003",
    ),
    # At ten times this rate, the one of minimum risk, greedy BLEU on val falls from 40 to 35.
    "multi30k_dpo": (*TUNED, "training.learning_rate=0.000005"),
    "multi30k_minimum_risk": TUNED,
}
"""Of every run with a recipe. In so few passes nothing is learnt by heart: little dropout, a high rate."""
TRANSFORMER, DECODER_ONLY, RNN, DPO, MINIMUM_RISK = SIZES


class Idea(NamedTuple):
    """A variant, and what to read about it."""

    name: str
    paper: str
    files: tuple[str, ...]
    recipe: str
    changes: tuple[str, ...] = ()
    begins_with: str | None = None
    """The name of a variant from whose weights this one goes on: pre-training, or a translator to tune."""
    corpus: str | None = None
    """One of ``scripts.ideas_corpora``; None: Multi30k as it is."""
    compared_with: str | None = None
    """The name of its base; None: the Transformer, or the RNN with attention."""

    @property
    def is_pretraining(self) -> bool:
        """Whether it does not translate yet."""
        return any(change.startswith("training.objective=") for change in self.changes)

    @property
    def is_tuning(self) -> bool:
        """Whether it goes on from a translator, for fewer updates."""
        return self.recipe in (DPO, MINIMUM_RISK)

    @property
    def base(self) -> str:
        """The name of the variant that it is compared with."""
        if self.compared_with is not None:
            return self.compared_with
        return "RNN with attention" if self.recipe == RNN else "Transformer"

    def settings(self, seed: int, overrides: Sequence[str], work: Path) -> Recipe:
        """What it is trained by."""
        changes = [change.replace("WORK", str(work)) for change in self.changes]
        alike = CORPUS if self.is_tuning else ALIKE
        own = [*SIZES[self.recipe], *alike, *changes, f"training.seed={seed}", *overrides]
        settings = load_recipe(self.recipe, own)
        if self.corpus is None or settings.data.dir is None:
            return settings
        # captions with hidden words are all different, and may be without letters
        own += [f"data.dir={made(self.corpus, settings.data.dir, work)}", "data.cleaning.max_symbol_share=1"]
        return load_recipe(self.recipe, own)


NAMES = "captions with names"
SYMBOL = f'tokenizer.user_defined_symbols=["{SEPARATOR}"]'
TAUGHT = f"training.attention_links=WORK/{LINKS}"
IDEAS = (
    Idea("Transformer", "Vaswani et al. 2017", ("nmt/models/transformer.py",), TRANSFORMER),
    Idea("RNN with attention", "Bahdanau et al. 2015", ("nmt/models/rnn.py",), RNN),
    Idea(
        "RNN without attention",
        "Sutskever et al. 2014",
        ("nmt/models/rnn.py",),
        RNN,
        ("model.attention=none",),
    ),
    *(
        Idea(f"positions: {name}", paper, (file,), TRANSFORMER, (f"model.positions={key}",))
        for name, key, paper, file in (
            ("none", "none", "Vaswani et al. 2017, section 3.5", "nmt/layers/positional_encoding.py"),
            ("learned", "learned", "Gehring et al. 2017, section 3.1", "nmt/layers/positional_encoding.py"),
            ("rotary", "rotary", "Su et al. 2021, section 3.2", "nmt/layers/rotary.py"),
            ("ALiBi", "alibi", "Press et al. 2022, section 3", "nmt/layers/alibi.py"),
        )
    ),
    Idea(
        "supervised attention",
        "Garg et al. 2019, section 4.2",
        ("training/supervision.py",),
        TRANSFORMER,
        (TAUGHT, "alignment.layer=1", "alignment.heads=[0]"),
    ),
    Idea(
        "supervised attention (RNN)",
        "Mi et al. 2016, section 3",
        ("training/supervision.py",),
        RNN,
        (TAUGHT,),
    ),
    Idea(NAMES, "", (), TRANSFORMER, corpus="named", compared_with=NAMES),
    Idea(f"{NAMES} (RNN)", "", (), RNN, corpus="named", compared_with=f"{NAMES} (RNN)"),
    *(
        Idea(
            f"{name}{kind}",
            paper,
            (file,),
            recipe,
            (f"model.pointer={key}",),
            corpus="named",
            compared_with=f"{NAMES}{kind}",
        )
        for name, key, paper, file in (
            ("copying with a gate", "source", "See et al. 2017, section 2.2", "nmt/models/copying.py"),
            (
                "pointing into the written",
                "written",
                "Merity et al. 2016, section 2.3",
                "nmt/models/pointing.py",
            ),
        )
        for kind, recipe in (("", TRANSFORMER), (" (RNN)", RNN))
    ),
    *(
        Idea(name, paper, (file,), RNN, (change,))
        for name, change, paper, file in (
            (
                "last attention as input",
                "model.coverage=last_attention",
                "Cohn et al. 2016, section 3.1",
                "nmt/layers/last_attention.py",
            ),
            (
                "neural coverage",
                "model.coverage=neural",
                "Tu et al. 2016, section 4.1.2",
                "nmt/layers/coverage.py",
            ),
            (
                "hard attention",
                "model.attention=hard",
                "Xu et al. 2015, section 4.1",
                "nmt/layers/hard_attention.py",
            ),
            (
                "monotonic attention",
                "model.attention=monotonic",
                "Raffel et al. 2017; Yu et al. 2016",
                "nmt/layers/monotonic_attention.py",
            ),
        )
    ),
    Idea("decoder only", "Radford et al. 2018, section 3.1", ("nmt/models/decoder_only.py",), DECODER_ONLY),
    Idea(
        "masked words, pre-training",
        "Devlin et al. 2019, section 3.1",
        ("training/pretraining.py",),
        TRANSFORMER,
        ("training.objective=masked_words", "training.label_smoothing=0"),
    ),
    Idea(
        "encoder pre-trained by masked words",
        "Devlin et al. 2019",
        ("training/pretraining.py",),
        TRANSFORMER,
        begins_with="masked words, pre-training",
    ),
    Idea(
        "language model, pre-training",
        "Radford et al. 2018, section 3.1",
        ("training/pretraining.py",),
        DECODER_ONLY,
        ("training.objective=language_model", "training.label_smoothing=0"),
    ),
    Idea(
        "decoder only, pre-trained as a language model",
        "Radford et al. 2018, section 3.2",
        ("training/pretraining.py",),
        DECODER_ONLY,
        begins_with="language model, pre-training",
        compared_with="decoder only",
    ),
    Idea(
        "preferences of its own samples (DPO)",
        "Rafailov et al. 2023, section 4",
        ("training/preferences.py", "training/candidates.py"),
        DPO,
        begins_with="Transformer",
    ),
    Idea(
        "minimum risk",
        "Shen et al. 2016, section 3",
        ("training/minimum_risk.py", "training/candidates.py"),
        MINIMUM_RISK,
        begins_with="Transformer",
    ),
    Idea(
        "one source, words hidden",
        "",
        (),
        TRANSFORMER,
        corpus="masked",
        compared_with="one source, words hidden",
    ),
    *(
        Idea(
            f"two sources, {kind}",
            paper,
            ("nmt/layers/hierarchical_attention.py",),
            TRANSFORMER,
            (f"model.sources={kind}", SYMBOL),
            corpus="two_sources",
            compared_with="one source, words hidden",
        )
        for kind, paper in (
            ("flat", "Zoph and Knight 2016; Libovický and Helcl 2017, section 3.1"),
            ("hierarchical", "Libovický and Helcl 2017, section 3.2"),
        )
    ),
    Idea(
        "without the sentence before",
        "",
        (),
        TRANSFORMER,
        corpus="someone",
        compared_with="without the sentence before",
    ),
    Idea(
        "document encoder",
        "Yang et al. 2016; Miculicich et al. 2018, section 3",
        ("nmt/layers/document_context.py",),
        TRANSFORMER,
        ("model.sources=document", SYMBOL),
        corpus="document",
        compared_with="without the sentence before",
    ),
)
BY_NAME = {idea.name: idea for idea in IDEAS}
