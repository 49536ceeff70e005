"""The benchmark screen."""
