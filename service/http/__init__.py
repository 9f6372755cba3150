"""HTTP itself: connection, middleware, problems, logs, metrics, traces.

Imports ``service.settings``, ``service.schemas`` and ``service.database``; nothing of routes or work.
"""
