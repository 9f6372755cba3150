"""The way of one sentence: prepare, plan, search, restore, judge, finish.

Imports ``text``, ``alignment`` and the types of ``search``; it asks a model by requests (``requests``) and
never calls one. A new check of a translation is a flag in ``flags``, asked for in ``quality``.
"""
