"""Tests of what is in deploy/ and of the image's lock."""
