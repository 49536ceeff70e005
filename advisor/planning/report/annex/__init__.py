"""The annex: everything that somebody may want to check."""
