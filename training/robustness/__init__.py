"""``nmt robustness``: how a model bears what people send.

Imports ``training.noise`` and ``training.evaluation``. Another behaviour is a row in ``cases``.
"""
