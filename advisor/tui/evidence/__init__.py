"""The evidence screen."""
