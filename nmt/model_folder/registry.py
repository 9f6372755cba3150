"""Which model folder is meant: a path, the name of a model that ships with the package, or a direction."""

from __future__ import annotations

import json
import re
from pathlib import Path

from nmt.config import ModelFolderConfig, parse
from nmt.errors import ModelFolderError
from nmt.model_folder.vocabulary import pair_among, pairs_of

PRETRAINED = Path(__file__).parents[1] / "pretrained"
"""Model folders that ship with the package."""
CONFIG = "config.json"
_PAIR = re.compile(r"(?P<model>.+)@(?P<source>[A-Za-z][\w-]*):(?P<target>[A-Za-z][\w-]*)")


def shipped_models() -> list[str]:
    """Names of the models that ship, the default one first."""
    return sorted(path.name for path in PRETRAINED.glob("*") if path.is_dir())


def resolve_model(
    path_or_name: str | Path | None = None, *, source: str | None = None, target: str | None = None
) -> Path:
    """The model folder meant.

    Args:
        path_or_name: a path, or the name of a model that ships; None: the first that ships and translates so.
        source: ISO 639-1 code of the language to translate from; None: any.
        target: of the language to translate to; None: any.

    Raises:
        ModelFolderError: there is none, or it translates between other languages; the message lists those
            that ship.
    """
    names = shipped_models()
    folder: Path | None = None
    if path_or_name is not None:
        folder = Path(path_or_name).expanduser()
        if not folder.is_dir():
            if str(path_or_name) not in names:
                raise ModelFolderError(
                    f"{path_or_name}: neither a model folder nor a model that ships (those are: "
                    f"{', '.join(names) or 'none'})"
                )
            folder = PRETRAINED / str(path_or_name)
    elif not names:
        raise ModelFolderError(f"no model ships in {PRETRAINED}; name a model folder, or train one")
    if source is None and target is None:
        return folder or PRETRAINED / names[0]
    folders = [PRETRAINED / name for name in names] if folder is None else [folder]
    configs = [config_of(one) for one in folders]
    for one, config in zip(folders, configs, strict=True):
        if pair_among(pairs_of(config), source, target) is not None:
            return one
    found = ", ".join(f"{one.name} ({_listed(config)})" for one, config in zip(folders, configs, strict=True))
    asked = f"from {source or 'any language'} to {target or 'any language'}"
    which = "the model does not translate" if path_or_name is not None else "no model that ships translates"
    raise ModelFolderError(f"{which} {asked}: there is {found}")


def split_pair(named: str) -> tuple[str, str | None, str | None]:
    """A model and the pair that is meant of its languages.

    >>> split_pair("models/nllb@de:pt-BR"), split_pair("general")
    (('models/nllb', 'de', 'pt-BR'), ('general', None, None))
    """
    match = _PAIR.fullmatch(named)
    return (match["model"], match["source"], match["target"]) if match else (named, None, None)


def languages_of(folder: Path, source: str | None = None, target: str | None = None) -> tuple[str, str]:
    """The pair of a model folder that is meant, or its own; errors as ``config_of``."""
    config = config_of(folder)
    pairs = pairs_of(config)
    return pair_among(pairs, source, target) or pairs[0]


def _listed(config: ModelFolderConfig) -> str:
    named = config.language_pieces
    if named is None:
        return f"{config.source_language} to {config.target_language}"
    return f"{', '.join(named.source)} to {', '.join(named.target)}"


def config_of(folder: Path) -> ModelFolderConfig:
    """A model folder's configuration; no weight is loaded.

    Raises:
        ModelFolderError: it has no configuration that can be read.
        ConfigError: what is wrong in the configuration.
    """
    try:
        values = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        raise ModelFolderError(f"{folder / CONFIG}: cannot be read as JSON") from None
    return parse(ModelFolderConfig, values, where=str(folder / CONFIG))
