"""Folders that look like models that ship, as far as their languages go."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.config import ModelFolderConfig, TransformerConfig


def ships(monkeypatch: pytest.MonkeyPatch, place: Path, **languages: tuple[str, str]) -> None:
    """Let models of these names ship, each with its source and target language."""
    monkeypatch.setattr("nmt.model_folder.registry.PRETRAINED", place)
    for name, (source, target) in languages.items():
        config = ModelFolderConfig(
            name=name,
            model=TransformerConfig(vocab_size=8),
            library_version="0.0.0",
            source_language=source,
            target_language=target,
        )
        (place / name).mkdir(parents=True)
        (place / name / "config.json").write_text(config.model_dump_json())
