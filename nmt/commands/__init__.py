"""Commands of ``nmt`` in modules of their own; ``nmt.cli`` registers them."""
