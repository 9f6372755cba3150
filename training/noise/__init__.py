"""Noise augmentation: what the corpora are too tidy to teach.

Imports ``nmt.text``. Another kind of noise is a function of ``copying`` or ``writing`` and a row in
``augment``.
"""
