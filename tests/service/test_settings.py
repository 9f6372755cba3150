"""Settings from the environment and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.errors import ConfigError
from service.settings import load_settings


def test_a_secret_in_a_file_is_read_without_its_line_end_and_a_variable_goes_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "passerelle_database_url").write_text("postgresql://u:CANARY@db/p\n")
    monkeypatch.setenv("PASSERELLE_SECRETS_DIR", str(tmp_path))
    monkeypatch.delenv("PASSERELLE_DATABASE_URL")

    settings = load_settings()

    assert settings.database_url.get_secret_value() == "postgresql://u:CANARY@db/p"
    assert "CANARY" not in repr(settings)
    monkeypatch.setenv("PASSERELLE_DATABASE_URL", "sqlite://")
    assert load_settings().database_url.get_secret_value() == "sqlite://"


def test_a_missing_folder_of_secrets_is_an_error_and_not_an_open_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSERELLE_SECRETS_DIR", str(tmp_path / "none"))

    with pytest.raises(ConfigError, match="PASSERELLE_SECRETS_DIR"):
        load_settings()
