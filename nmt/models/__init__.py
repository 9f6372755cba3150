"""Architectures, and the interface that search, training and alignment know them by."""
