"""Keys: random, shown once, stored as a hash, compared in constant time.

A key is ``psr_ID_SECRET``: ID finds the row, SECRET is 256 random bits. Because it is random and that long,
one SHA-256 is enough to store it: nobody can try 2**256 secrets, so the slow, salted hashes that protect
guessable passwords would only cost every request time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime

from sqlalchemy import bindparam, select

from nmt.errors import InputError
from service.database.models import KeyRow
from service.database.names import check_name
from service.database.records import Key, KeyLimits
from service.database.transactions import Transactions

PREFIX = "psr"
_FORM = re.compile(rf"{PREFIX}_(?P<id>[0-9a-f]{{12}})_(?P<secret>[A-Za-z0-9_-]{{43}})", re.ASCII)
LONGEST_NAME = 200


def hash_secret(secret: str) -> str:
    """SHA-256 of a random secret, in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


_KEY = select(KeyRow).where(KeyRow.id == bindparam("id"))
_NO_HASH = hash_secret(secrets.token_urlsafe(32))


class Keys:
    """The keys of this service. All methods block; see ``Database.run``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def create(
        self, name: str, limits: KeyLimits | None = None, expires_at: datetime | None = None
    ) -> tuple[Key, str]:
        """A new key, and the only copy of its text.

        Raises:
            InputError: the name cannot be one, or the key would be expired already.
        """
        now = self._transactions.now()
        name = check_name("name", name, LONGEST_NAME)
        if expires_at is not None and expires_at <= now:
            raise InputError(
                f"the key would expire at {expires_at:%Y-%m-%d %H:%M} UTC, which is past; choose later"
            )
        limits = limits or KeyLimits()
        identifier, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = KeyRow(
            id=identifier,
            name=name,
            secret_hash=hash_secret(secret),
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
        )
        _set_limits(row, limits)
        with self._transactions.writing() as session:
            session.add(row)
        return _key(row), f"{PREFIX}_{identifier}_{secret}"

    def find(self, presented: str) -> Key | None:
        """The key that somebody presents, also if expired or revoked: see ``Key.state``. None: there is none.

        How long this takes does not depend on how much of the secret is right.
        """
        form = _FORM.fullmatch(presented)
        if form is None:
            return None
        with self._transactions.reading() as session:
            row = session.scalar(_KEY, {"id": form["id"]})
        stored = _NO_HASH if row is None else row.secret_hash
        matches = hmac.compare_digest(hash_secret(form["secret"]), stored)
        return _key(row) if row is not None and matches else None

    def all(self) -> list[Key]:
        """All keys, oldest first."""
        with self._transactions.reading() as session:
            return [
                _key(row) for row in session.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.id))
            ]

    def any_active(self) -> bool:
        """Whether some key opens something now."""
        now = self._transactions.now()
        return any(key.state(now) == "active" for key in self.all())

    def revoke(self, key_id: str) -> Key:
        """The key opens nothing any more, from its next request on.

        Raises:
            InputError: there is no such key.
        """
        with self._transactions.writing() as session:
            row = _existing(session.get(KeyRow, key_id))
            row.revoked_at = row.revoked_at or self._transactions.now()
        return _key(row)

    def set_limits(self, key_id: str, limits: KeyLimits) -> Key:
        """Replace the key's limits, from its next request on.

        Raises:
            InputError: there is no such key.
        """
        with self._transactions.writing() as session:
            row = _existing(session.get(KeyRow, key_id))
            _set_limits(row, limits)
        return _key(row)

    def get(self, key_id: str) -> Key:
        """The key with this id.

        Raises:
            InputError: there is no such key.
        """
        with self._transactions.reading() as session:
            return _key(_existing(session.get(KeyRow, key_id)))


def _existing(row: KeyRow | None) -> KeyRow:
    if row is None:
        raise InputError("there is no key with this id; nmt keys list shows them all")
    return row


def _set_limits(row: KeyRow, limits: KeyLimits) -> None:
    row.requests_per_minute = limits.requests_per_minute
    row.characters_per_minute = limits.characters_per_minute
    row.characters_per_month = limits.characters_per_month


def _key(row: KeyRow) -> Key:
    return Key(
        id=row.id,
        name=row.name,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        limits=KeyLimits(row.requests_per_minute, row.characters_per_minute, row.characters_per_month),
    )
