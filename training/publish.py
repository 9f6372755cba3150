"""From a run to a model folder: the best weights so far, with a card that says what they were trained on."""

from __future__ import annotations

import shutil
from pathlib import Path

from safetensors import SafetensorError

import nmt
from nmt.config import ModelFolderConfig
from nmt.errors import DiskFullError, ModelFolderError
from nmt.model_folder.checkpoint import save_model_folder, tokenizer_files
from nmt.models.build import Model
from nmt.tokenizer import Tokenizer
from training.data.shards import PreparedCorpus
from training.data.tokenizers import config_in
from training.disk import TOLD, is_full
from training.recipe import Recipe
from training.state import TrainingState
from training.validation import Validation


def restore_interrupted(folder: Path) -> None:
    """Put back the former model where a run was killed between moving it away and placing the new one."""
    for former in folder.parent.glob(f".{folder.name}.old-*"):
        if not folder.exists():
            former.rename(folder)
    for left in (*folder.parent.glob(f".{folder.name}.old-*"), *folder.parent.glob(f".{folder.name}.new-*")):
        shutil.rmtree(left)


def publish(
    folder: Path,
    recipe: Recipe,
    corpus: PreparedCorpus,
    tokenizer: Tokenizer,
    model: Model,
    state: TrainingState,
    validation: Validation,
) -> None:
    """Write ``folder``; an earlier model there stands until the new one is complete.

    Raises:
        DiskFullError: there is no room for it.
        ModelFolderError: it cannot be written for another reason.
        NumericalError: a weight is NaN or infinite.
    """
    begun = config_in(corpus.folder)  # of an imported model
    config = ModelFolderConfig(
        name=recipe.name,
        language_pieces=None if begun is None else begun.language_pieces,
        source_language=corpus.source_language,
        target_language=corpus.target_language,
        model=recipe.model_config_for(tokenizer.vocab_size),
        special_ids=tokenizer.special,
        alignment=recipe.alignment,
        max_source_tokens=recipe.data.cleaning.max_tokens,
        library_version=nmt.__version__,
    )
    scores = {
        "dev": {
            "bleu": None if validation.bleu is None else round(validation.bleu, 2),
            "signature": validation.signature,
            "perplexity": round(validation.perplexity, 4),
            "update": state.update,
        }
    }
    try:
        save_model_folder(
            folder,
            config=config,
            model=model,
            **tokenizer_files(corpus.folder),
            generation=recipe.generation,
            card=_card(recipe, model, state, validation),
            scores=scores,
        )
    except (ModelFolderError, SafetensorError) as error:
        if is_full(error.__cause__ or error):
            raise DiskFullError(
                f"{folder}: {TOLD}; what was there stands: make room, then --resume"
            ) from None
        raise


def _card(recipe: Recipe, model: Model, state: TrainingState, validation: Validation) -> str:
    measured = f"{validation.told()} on its development set"
    if validation.bleu is None:
        measured = (
            f"Pre-trained ({recipe.training.objective}): {measured}. It does not translate yet: "
            "nmt train RECIPE --init-from this folder"
        )
    else:
        measured += f" ({validation.signature}), measured while training"
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    sources = "\n".join(f"- {source.name}" for source in recipe.data.train)
    return f"""# {recipe.name}

{recipe.data.source_language} to {recipe.data.target_language}, {recipe.model.architecture}, \
{n_parameters / 1e6:.1f} M parameters.

Trained on:

{sources}

{state.update} updates, {state.target_tokens / 1e6:.1f} M target tokens, {state.elapsed_s / 3600:.2f} hours.
{measured}.
"""
