"""Scores, their significance, calibration, and the reports that show them.

Imports ``nmt`` and ``training.provenance``. Another measure goes into ``scoring``.
"""
