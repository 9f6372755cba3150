"""One module for each group of addresses, each with a ``router``."""
