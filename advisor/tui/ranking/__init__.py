"""The ranking screen."""
