"""``nmt keys`` and ``nmt db``, as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmt import cli
from service.database.database import Database
from service.settings import Settings


class Terminal:
    """Runs ``nmt``; keeps what the last run printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        self.out, self.err = self._capsys.readouterr()
        return int(ended.value.code or 0)


@pytest.fixture
def nmt(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("PASSERELLE_DATABASE_URL", f"sqlite:///{tmp_path / 'keys.sqlite3'}")
    return Terminal(capsys)


def listed(nmt: Terminal) -> list[dict[str, object]]:
    assert nmt("keys", "list", "--json") == 0
    rows: list[dict[str, object]] = json.loads(nmt.out)
    return rows


def test_a_key_is_printed_once_and_opens(nmt: Terminal) -> None:
    assert nmt("keys", "create", "team seven", "--days", "2", "--characters-per-month", "1000") == 0
    shown = nmt.out.strip()
    assert "cannot be shown again" in nmt.err
    assert shown not in nmt.err

    database = Database(Settings())
    key = database.keys.find(shown)
    database.usage.reserve(key.id, 12)  # type: ignore[union-attr]
    database.close()
    (row,) = listed(nmt)
    assert row["name"] == "team seven"
    assert (row["requests_per_minute"], row["characters_per_minute"]) == (600, 300_000), (
        "limits are on by default"
    )
    assert (row["characters_per_month"], row["characters_this_month"], row["state"]) == (1000, 12, "active")
    assert row["expires_at"]
    assert nmt("keys", "list") == 0
    assert nmt.out.splitlines()[1].endswith(" team seven")
    assert shown.split("_", 2)[2] not in nmt.out, "a secret may itself have underscores"


def test_limits_change_one_by_one_and_0_is_none(nmt: Terminal) -> None:
    nmt("keys", "create", "team")
    key_id = str(listed(nmt)[0]["id"])

    assert nmt("keys", "limits", key_id, "--requests-per-minute", "5", "--characters-per-minute", "0") == 0

    (row,) = listed(nmt)
    assert (row["requests_per_minute"], row["characters_per_minute"]) == (5, None)
    assert row["characters_per_month"] is None
    assert nmt("keys", "limits", key_id, "--characters-per-month", "7") == 0
    (row,) = listed(nmt)
    assert (row["requests_per_minute"], row["characters_per_month"]) == (5, 7)


def test_a_revoked_key_stays_in_the_list(nmt: Terminal) -> None:
    nmt("keys", "create", "team")
    key_id = str(listed(nmt)[0]["id"])

    assert nmt("keys", "revoke", key_id) == 0

    assert listed(nmt)[0]["state"] == "revoked"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("keys",), "Missing command"),
        (("keys", "create"), "Missing argument"),
        (("keys", "create", " "), "name: it has 0 characters"),
        (("keys", "create", "x", "--days", "0"), "which is past"),
        (("keys", "create", "x", "--days", "1e300"), "--days 1e+300 is too long"),
        (("keys", "create", "x", "--requests-per-minute", "-1"), "--requests-per-minute"),
        (("keys", "revoke", "nothing"), "no key with this id"),
        (("keys", "limits", "nothing"), "no key with this id"),
        (("db",), "Missing command"),
    ],
)
def test_what_cannot_be_done_is_one_line(nmt: Terminal, arguments: tuple[str, ...], said: str) -> None:
    assert nmt(*arguments) == 2
    assert said in nmt.err
    assert nmt.err.count("\n") == 1
    assert nmt.out == ""


def test_the_database_is_upgraded(nmt: Terminal) -> None:
    assert nmt("db", "upgrade") == 0
    assert nmt.err.startswith("the database is at version ")
