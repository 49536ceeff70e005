"""The answer to `advisor plan`."""
