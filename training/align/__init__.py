"""The link scorer: statistical links to learn from, its training, its rule.

Imports ``nmt`` and ``training.data``.
"""
