"""The annex: everything that a reader may want to check."""
