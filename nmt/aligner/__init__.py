"""A small module that aligns words from the states of a frozen translation model."""
