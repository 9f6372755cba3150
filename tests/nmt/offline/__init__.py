"""Tests of ``nmt.offline``."""
