"""``nmt attention``: what the heads of a model do, as a record, a page and plots.

Imports ``nmt.explore``, which measures, and ``training.evaluation``.
"""
