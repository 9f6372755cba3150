"""Corpora, loss, schedule, loop and evaluation: everything that makes a model. Imports nmt."""
