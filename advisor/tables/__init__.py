"""Rows as text, and text that is safe to show: aligned columns, CSV, JSON and Markdown."""
