"""Fixtures of the database's tests."""

from tests.service.conftest import _own_settings  # noqa: F401 - it applies by itself
from tests.service.database.conftest import postgres  # noqa: F401
