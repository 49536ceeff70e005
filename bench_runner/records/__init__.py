"""Measurements as records: what one holds, how files of them are written, read and checked."""
