"""``nmt learn``: demonstrations of the lectures' ideas, a module for each and a page of plots."""
