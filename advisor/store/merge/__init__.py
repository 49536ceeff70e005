"""Rows from other people: files and stores that are merged, labs' records, and what is exported."""
