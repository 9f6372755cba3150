"""From corpora to shards: read, clean, deduplicate, learn sub-words, encode, pack.

Imports ``nmt`` and ``training.noise``. Another source of pairs goes into ``corpus``, another rule of
cleaning into ``clean``.
"""
