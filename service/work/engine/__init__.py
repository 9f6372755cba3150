"""Engines: they compute translations in a process or a thread apart from the one that answers requests."""
