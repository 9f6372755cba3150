"""Computation: a scheduler and an engine process for each direction.

Imports ``nmt.batching`` and the metrics of ``service.http``. Another kind of work is a message of
``engine.messages``.
"""
