"""``nmt keys`` and ``nmt db``: what is done to the database from a terminal, while the server runs or not."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from nmt.errors import ConfigError
from service.database.database import Database
from service.database.records import Key, KeyLimits
from service.settings import load_settings


@contextmanager
def _database(*, prepared: bool = True) -> Iterator[Database]:
    database = Database(load_settings())
    try:
        if prepared:
            database.prepare()
        yield database
    finally:
        database.close()


def create(
    name: str,
    *,
    days: float | None,
    requests_per_minute: int,
    characters_per_minute: int,
    characters_per_month: int,
) -> None:
    """Make a key and print it, alone, on standard output; 0 is no limit."""
    with _database() as database:
        try:
            expires_at = None if days is None else database.transactions.now() + timedelta(days=days)
        except OverflowError:
            raise ConfigError(
                f"--days {days:g} is too long; leave it out for a key that does not expire"
            ) from None
        limits = _limits(requests_per_minute, characters_per_minute, characters_per_month)
        key, shown = database.keys.create(name, limits, expires_at)
    print(shown)
    print(
        f"key {key.id} of {key.name}: keep it now, it is not stored and cannot be shown again",
        file=sys.stderr,
    )


def show(*, as_json: bool) -> None:
    """Print all keys with this month's usage, oldest first; never their secrets."""
    with _database() as database:
        now = database.transactions.now()
        rows = [_describe(key, database, now) for key in database.keys.all()]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    form = "{:<12}  {:<8}  {:<10}  {:<10}  {:>10}  {:>11}  {:>12}  {:>12}  {}"
    print(
        form.format(
            "ID", "STATE", "CREATED", "EXPIRES", "REQ/MIN", "CHARS/MIN", "CHARS/MONTH", "THIS MONTH", "NAME"
        )
    )
    for row in rows:
        limits = [row[name] if row[name] is not None else "-" for name in KeyLimits.__dataclass_fields__]
        used = row["characters_this_month"]
        print(
            form.format(
                row["id"],
                row["state"],
                row["created_at"][:10],
                (row["expires_at"] or "-")[:10],
                *limits,
                used,
                row["name"],
            )
        )


def revoke(key_id: str) -> None:
    """Revoke a key for good, from its next request on."""
    with _database() as database:
        key = database.keys.revoke(key_id)
    print(f"key {key.id} of {key.name} is revoked", file=sys.stderr)


def limit(
    key_id: str,
    *,
    requests_per_minute: int | None,
    characters_per_minute: int | None,
    characters_per_month: int | None,
) -> None:
    """Change a key's limits, from its next request on; None leaves one as it is, 0 is no limit."""
    with _database() as database:
        new = asdict(database.keys.get(key_id).limits)
        for name, value in (
            ("requests_per_minute", requests_per_minute),
            ("characters_per_minute", characters_per_minute),
            ("characters_per_month", characters_per_month),
        ):
            if value is not None:
                new[name] = value or None
        key = database.keys.set_limits(key_id, KeyLimits(**new))
    shown = ", ".join(f"{name} {value or 'no limit'}" for name, value in asdict(key.limits).items())
    print(f"key {key.id} of {key.name}: {shown}", file=sys.stderr)


def upgrade() -> None:
    """Bring the database's tables to this version."""
    with _database(prepared=False) as database:
        version = database.upgrade()
    print(f"the database is at version {version}", file=sys.stderr)


def _limits(*values: int) -> KeyLimits:
    return KeyLimits(*(value or None for value in values))


def _describe(key: Key, database: Database, now: datetime) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "state": key.state(now),
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "expires_at": key.expires_at and key.expires_at.isoformat(timespec="seconds"),
        "revoked_at": key.revoked_at and key.revoked_at.isoformat(timespec="seconds"),
        **asdict(key.limits),
        "characters_this_month": sum(day.characters for day in database.usage.this_month(key.id)),
    }
