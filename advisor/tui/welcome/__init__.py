"""The welcome screen."""
