"""Text without a model: sentences, words, numbers, literals, case, typography, language, glossaries.

Imports no torch and nothing of ours but ``nmt.errors``, ``nmt.config`` and ``nmt.spans``. A new rule about
the writing of texts is a module here.
"""
