"""From which language, where the command line does not say: told by the text, as the server does."""

from __future__ import annotations

from nmt.commands.lines import note
from nmt.model_folder.registry import config_of, resolve_model, shipped_models
from nmt.text.language import among


def source_of(text: str) -> str | None:
    """The source language of the model that ships and reads ``text``; None: the default model reads it.

    Says on standard error what it chose if that is not the default, or nobody reads the text for sure.
    """
    models = [config_of(resolve_model(name)) for name in shipped_models()]
    if len({model.source_language for model in models}) < 2:
        return None
    read = among(text, [model.source_language for model in models])
    chosen = next((model for model in models if model.source_language == read), None)
    if chosen is None or chosen == models[0]:
        return None
    note(
        f"the text is taken for '{chosen.source_language}' and translated to '{chosen.target_language}' "
        f"({chosen.name}); to decide yourself: --from {models[0].source_language}"
    )
    return chosen.source_language
