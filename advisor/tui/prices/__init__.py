"""The prices screen."""
