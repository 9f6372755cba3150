"""Alembic's folder: one step for each change of the tables."""
