"""Which models other runtimes are given; of the others it is said by name what they lack."""

from __future__ import annotations

from nmt.config import TransformerConfig
from nmt.errors import ConfigError
from nmt.model_folder.opened import AnyModel
from nmt.models.transformer import Transformer


def exportable(loaded: AnyModel, runtime: str) -> tuple[TransformerConfig, Transformer]:
    """The configuration and the model, for ``runtime``.

    Raises:
        ConfigError: the model is no Transformer, or one with more than an export holds.
    """
    config, name = loaded.config.model, loaded.config.name
    if not isinstance(config, TransformerConfig):
        raise ConfigError(
            f"model {name}: the export to {runtime} knows no {config.architecture}; export a Transformer"
        )
    if config.beyond_exports is not None:
        raise ConfigError(
            f"model {name}: the export to {runtime} does not know {config.beyond_exports}; "
            "translate with engine eager"
        )
    assert isinstance(loaded.model, Transformer)
    return config, loaded.model
