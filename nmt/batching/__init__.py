"""Requests that join and leave a running batch, fairly shared, as the service needs it.

Imports ``translator`` and what lies below it. ``events`` is what the service reads.
"""
