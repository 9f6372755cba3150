"""Faster ways to be a StepDecoder; chosen once, at load."""
