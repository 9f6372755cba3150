"""Attention at work: maps of every head, statistics over a corpus, pruning, words in context, coverage."""
